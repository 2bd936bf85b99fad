// Loading and calling, through the C interface, a compiled object written by hand.
#include "lib/Runtime/convbert-rt.h"

#include "test/unittests/Runtime/FakeModel.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

using namespace convbert::rt::test;

namespace {

struct Loaded {
  convbert_rt_model *model = nullptr;
  convbert_rt_status status;
  std::string error;

  Loaded(const std::string &description, int threads = 1) {
    char *message = nullptr;
    status = convbert_rt_load(description.c_str(), threads, &model, &message);
    error = message ? message : "";
    convbert_rt_string_free(message);
  }
  ~Loaded() { convbert_rt_free(model); }
};

/// Inputs and outputs of a call.  Absent inputs stay null.
struct Call {
  int64_t batch, length;
  std::vector<int64_t> ids, types, positions, lengths;
  std::vector<uint8_t> mask;
  std::vector<float> out;
  std::vector<int64_t> info;
  std::string error;

  Call(int64_t batch, int64_t length)
      : batch(batch), length(length), ids(batch * length > 0 ? batch * length : 1, 3), out(ids.size() * 4, -7),
        info(batch > 0 ? 2 * batch : 2) {}

  convbert_rt_status run(convbert_rt_model *model) {
    const void *inputs[] = {ids.empty() ? nullptr : ids.data(), mask.empty() ? nullptr : mask.data(),
                            types.empty() ? nullptr : types.data(), positions.empty() ? nullptr : positions.data()};
    void *outputs[] = {out.data(), info.data()};
    char *message = nullptr;
    convbert_rt_status status = convbert_rt_forward(model, batch, length, lengths.empty() ? nullptr : lengths.data(),
                                                    inputs, outputs, &message);
    error = message ? message : "";
    convbert_rt_string_free(message);
    return status;
  }
};

class ModelTest : public testing::Test {
protected:
  WeightFile weights;
  std::string description = describe(CONVBERT_FAKE_MODEL, weights.path);
};

} // namespace

TEST_F(ModelTest, ModelsOfOneCheckpointShareTheirWeights) {
  Loaded first(description), other(describe(CONVBERT_FAKE_MODEL, weights.path, /*biasOffset=*/12));
  ASSERT_TRUE(first.model && other.model) << first.error << other.error;
  auto load = [&](const convbert_rt_model *like) {
    convbert_rt_model *model = nullptr;
    EXPECT_EQ(convbert_rt_load_like(description.c_str(), 1, like, &model, nullptr), CONVBERT_RT_OK);
    return model;
  };
  convbert_rt_model *shared = load(first.model), *own = load(other.model), *alone = load(nullptr);
  EXPECT_EQ(convbert_rt_packed(shared), convbert_rt_packed(first.model));
  EXPECT_NE(convbert_rt_packed(own), convbert_rt_packed(other.model)); // its bias lies elsewhere in the file
  EXPECT_NE(convbert_rt_packed(alone), convbert_rt_packed(first.model));
  // The weights live as long as one model that reads them.
  convbert_rt_free(std::exchange(first.model, nullptr));
  Call before(1, 2), after(1, 2);
  ASSERT_EQ(before.run(alone), CONVBERT_RT_OK);
  ASSERT_EQ(after.run(shared), CONVBERT_RT_OK);
  EXPECT_EQ(before.out, after.out);
  for (convbert_rt_model *model : {shared, own, alone})
    convbert_rt_free(model);
}

TEST_F(ModelTest, ComputesWithDefaults) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  EXPECT_EQ(convbert_rt_packed_bytes(loaded.model), 176);
  EXPECT_EQ(convbert_rt_num_inputs(loaded.model), 4);
  EXPECT_EQ(convbert_rt_output_bytes(loaded.model, 0, 2, 3), 2 * 3 * 4 * 4);
  EXPECT_EQ(convbert_rt_output_bytes(loaded.model, 2, 2, 3), -1);
  Call call(2, 3);
  ASSERT_EQ(call.run(loaded.model), CONVBERT_RT_OK) << call.error;
  // table[3][1] + bias + 1000 * 1 + 100 * 0 + position
  EXPECT_EQ(call.out[1], 13.5f + 1000 + 0);
  EXPECT_EQ(call.out[(3 + 2) * 4 + 1], 13.5f + 1000 + 2);
  // Short sequences own eight rows; the workspace is aligned.
  EXPECT_EQ(call.info, (std::vector<int64_t>{0, 0, 8, 0}));
}

TEST_F(ModelTest, TakesEveryInput) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  Call call(1, 2);
  call.ids = {0, 9};
  call.mask = {1, 0};
  call.types = {0, 1};
  call.positions = {5, 19};
  ASSERT_EQ(call.run(loaded.model), CONVBERT_RT_OK) << call.error;
  EXPECT_EQ(call.out[0], 0.5f + 1000 + 5);
  EXPECT_EQ(call.out[7], 39.5f + 100 + 19);
}

TEST_F(ModelTest, RaggedRowsAreNeitherReadNorWritten) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  Call call(3, 12);
  call.lengths = {12, 1, 9};
  call.ids[12 + 1] = 777; // behind the second sequence
  ASSERT_EQ(call.run(loaded.model), CONVBERT_RT_OK) << call.error;
  EXPECT_EQ(call.info[0], 0);
  EXPECT_EQ(call.info[2], 12);
  EXPECT_EQ(call.info[4], 20);
  EXPECT_EQ(call.out[(12 + 1) * 4], -7);
}

TEST_F(ModelTest, RefusesBadBatches) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  auto refused = [&](int64_t batch, int64_t length, const std::function<void(Call &)> &change) {
    Call call(batch, length);
    change(call);
    EXPECT_EQ(call.run(loaded.model), CONVBERT_RT_INVALID_ARGUMENT);
    EXPECT_EQ(call.out[0], -7) << "a refused call must not write";
    return call.error;
  };
  auto nothing = [](Call &) {};
  EXPECT_EQ(refused(0, 3, nothing), "input_ids: requires at least 1 sequence, but found 0");
  EXPECT_EQ(refused(1, 0, nothing), "input_ids: requires at least 1 token a sequence, but found 0");
  EXPECT_EQ(refused(1, 21, nothing),
            "input_ids: requires at most 20 tokens a sequence (the model's positions), but found 21");
  EXPECT_EQ(refused(2, 3, [](Call &c) { c.ids[4] = 10; }),
            "input_ids: requires token ids in [0, 10), but found 10 at [1, 1]");
  EXPECT_EQ(refused(2, 3, [](Call &c) { c.ids[0] = -1; }),
            "input_ids: requires token ids in [0, 10), but found -1 at [0, 0]");
  EXPECT_EQ(refused(1, 2, [](Call &c) { c.types = {0, 2}; }),
            "token_type_ids: requires token types in [0, 2), but found 2 at [0, 1]");
  EXPECT_EQ(refused(1, 2, [](Call &c) { c.positions = {20, 0}; }),
            "position_ids: requires positions in [0, 20), but found 20 at [0, 0]");
  EXPECT_EQ(refused(1, 2, [](Call &c) { c.mask = {1, 2}; }),
            "attention_mask: requires bytes of 0 or 1, but found 2 at [0, 1]");
  EXPECT_EQ(refused(1, 2, [](Call &c) { c.lengths = {3}; }), "lengths: requires values in [1, 2], but found 3 at [0]");
  EXPECT_EQ(refused(1, 2, [](Call &c) { c.ids.clear(); }), "input_ids: requires an array, but found none");
}

TEST_F(ModelTest, RefusesOutputsInOtherMemory) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  std::vector<int64_t> memory(24);
  auto *bytes = reinterpret_cast<char *>(memory.data());
  // Two tokens: 16 bytes of ids, 32 of `out`, 16 of `info`.
  auto run = [&](int64_t ids, int64_t out, int64_t info) {
    const void *inputs[] = {bytes + ids, nullptr, nullptr, nullptr};
    void *outputs[] = {bytes + out, bytes + info};
    char *message = nullptr;
    convbert_rt_forward(loaded.model, 1, 2, nullptr, inputs, outputs, &message);
    std::string error = message ? message : "";
    convbert_rt_string_free(message);
    return error;
  };
  EXPECT_EQ(run(0, 16, 48), "");
  memory.assign(24, 0);
  EXPECT_EQ(run(32, 0, 48), "");
  memory.assign(24, 0);
  EXPECT_EQ(run(8, 16, 48), "output last_hidden_state: requires memory of its own, but found that of input input_ids");
  EXPECT_EQ(run(31, 0, 48), "output last_hidden_state: requires memory of its own, but found that of input input_ids");
  EXPECT_EQ(run(0, 16, 40), "output info: requires memory of its own, but found that of output last_hidden_state");
}

TEST_F(ModelTest, WorkspaceOnlyGrows) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  EXPECT_EQ(convbert_rt_workspace_bytes(loaded.model), 0);
  Call(20000, 20).run(loaded.model);
  int64_t held = convbert_rt_workspace_bytes(loaded.model);
  EXPECT_GE(held, 20000 * 20 * 16);
  Call(1, 1).run(loaded.model);
  EXPECT_EQ(convbert_rt_workspace_bytes(loaded.model), held);
}

TEST_F(ModelTest, ConcurrentCallsDoNotMeet) {
  Loaded loaded(description);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Call call(1 + i, 1 + repeat % 20);
        for (int64_t &id : call.ids)
          id = i;
        wrong[i] += call.run(loaded.model) != CONVBERT_RT_OK || call.out[0] != 4 * i + 0.5f + 1000 ||
                    call.info[2 * i] != i * std::max<int64_t>(8, call.length);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

TEST_F(ModelTest, ThreadsAreChecked) {
  EXPECT_EQ(Loaded(description, -1).error, "threads: requires 1 to 1024, or 0 for the available CPUs, but found -1");
  Loaded loaded(description, 0);
  ASSERT_EQ(loaded.status, CONVBERT_RT_OK) << loaded.error;
  EXPECT_EQ(convbert_rt_threads(loaded.model), convbert_rt_available_cpus());
}

TEST_F(ModelTest, RefusesObjectsAndWeights) {
  EXPECT_EQ(Loaded(describe(CONVBERT_FAKE_INCOMPLETE, weights.path)).error,
            "compiled object " CONVBERT_FAKE_INCOMPLETE
            ": requires the function _mlir_ciface_forward, but found none; compile the checkpoint again");
  EXPECT_EQ(Loaded(describe("/nowhere/model.so", weights.path)).error.rfind("compiled object cannot be loaded: ", 0),
            0u);
  EXPECT_EQ(Loaded(describe(CONVBERT_FAKE_MODEL, "/nowhere/weights")).error,
            "weight file /nowhere/weights cannot be opened: No such file or directory");
  EXPECT_EQ(Loaded(describe(CONVBERT_FAKE_MODEL, weights.path, 176)).error,
            "parameter bias: requires 16 bytes at offset 176 of " + weights.path +
                ", but found a file of 188 bytes; has it changed since it was compiled?");
}
