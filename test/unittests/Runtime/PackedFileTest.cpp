// Packed weights from a file, and what a fork does to the workspaces.
#include "lib/Runtime/WorkspacePool.h"
#include "lib/Runtime/convbert-rt.h"

#include "test/unittests/Runtime/FakeModel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace convbert::rt;
using namespace convbert::rt::test;

static convbert_rt_model *load(const std::string &description, std::string &error) {
  convbert_rt_model *model = nullptr;
  char *message = nullptr;
  convbert_rt_load(description.c_str(), 1, &model, &message);
  error = message ? message : "";
  convbert_rt_string_free(message);
  return model;
}

/// The description with a packed file instead of weights.
static std::string describePacked(const std::string &file) {
  std::string text = describe(CONVBERT_FAKE_MODEL, "unused");
  size_t at = text.find("\"weights\"");
  return text.substr(0, at) + "\"packed\": \"" + file + "\"}";
}

TEST(PackedFile, StandsForTheWeights) {
  WeightFile weights;
  std::string error, file = weights.path + ".packed";
  convbert_rt_model *first = load(describe(CONVBERT_FAKE_MODEL, weights.path), error);
  ASSERT_TRUE(first) << error;
  int64_t bytes = convbert_rt_packed_bytes(first);
  std::string content(static_cast<const char *>(convbert_rt_packed(first)), bytes);
  std::ofstream(file, std::ios::binary) << content;
  convbert_rt_model *second = load(describePacked(file), error);
  ASSERT_TRUE(second) << error;
  EXPECT_EQ(content, std::string(static_cast<const char *>(convbert_rt_packed(second)), bytes));

  std::vector<int64_t> ids = {3, 4};
  std::vector<float> out(2 * 8), again(2 * 8);
  std::vector<int64_t> info(2);
  const void *inputs[] = {ids.data(), nullptr, nullptr, nullptr};
  for (auto [model, result] : {std::pair(first, &out), std::pair(second, &again)}) {
    void *outputs[] = {result->data(), info.data()};
    EXPECT_EQ(convbert_rt_forward(model, 1, 2, nullptr, inputs, outputs, nullptr), CONVBERT_RT_OK);
  }
  EXPECT_EQ(out, again);
  // Shortened under a loaded model: an error, not a crash.
  ASSERT_EQ(truncate(file.c_str(), 0), 0);
  void *outputs[] = {out.data(), info.data()};
  char *message = nullptr;
  EXPECT_EQ(convbert_rt_forward(second, 1, 2, nullptr, inputs, outputs, &message), CONVBERT_RT_FAILURE);
  EXPECT_EQ(std::string(message), "weight file " + file + " was shortened while the model was in use; load it again");
  convbert_rt_string_free(message);
  convbert_rt_free(first);
  convbert_rt_free(second);

  std::ofstream(file, std::ios::binary) << content << "more";
  EXPECT_FALSE(load(describePacked(file), error));
  EXPECT_EQ(error, "weight file " + file + ": requires the 176 bytes that its compiled object reads, but found 180; " +
                       "compile the checkpoint again");
  std::remove(file.c_str());
  EXPECT_FALSE(load(describePacked(file), error));
  EXPECT_EQ(error, "weight file " + file + " cannot be opened: No such file or directory");
}

TEST(Fork, TheChildHasAllWorkspaces) {
  WorkspacePool pool(2);
  std::atomic<int> taken{0};
  std::atomic<bool> done{false};
  auto hold = [&] {
    WorkspacePool::Lease lease(pool);
    pool.reserve(*lease, 1 << 20);
    ++taken;
    while (!done)
      std::this_thread::yield();
  };
  std::thread one(hold), two(hold), waiting(hold); // the third finds none
  while (taken < 2)
    std::this_thread::yield();
  pid_t child = fork();
  if (child == 0) {
    alarm(20); // instead of hanging
    WorkspacePool::Lease first(pool), second(pool);
    _exit(pool.heldBytes() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(pool.heldBytes(), size_t(2) << 21);
  done = true;
  for (std::thread *thread : {&one, &two, &waiting})
    thread->join();
}

TEST(FMAPeak, IsMeasuredOrZero) {
  EXPECT_EQ(convbert_rt_fma_peak("sse2", 1, 0.01), 0);
  EXPECT_EQ(convbert_rt_fma_peak(nullptr, 1, 0.01), 0);
  EXPECT_EQ(convbert_rt_fma_peak("avx2", 0, 0.01), 0);
  EXPECT_GT(convbert_rt_fma_peak("generic", 1, 0.01), 0.5);
  EXPECT_EQ(convbert_rt_fma_peak("neon", 1, 0.01), 0);
  if (__builtin_cpu_supports("fma"))
    EXPECT_GT(convbert_rt_fma_peak("avx2", 2, 0.01), 0.5);
}
