// Parameters in memory.
#include "lib/Runtime/convbert-rt.h"

#include "test/unittests/Runtime/FakeModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

using namespace convbert::rt::test;

namespace {

class ArraysTest : public testing::Test {
protected:
  void SetUp() override {
    for (int i = 0; i < 40; ++i)
      table[i] = static_cast<float>(i);
  }
  void TearDown() override {
    convbert_rt_free(model);
    convbert_rt_free(other);
  }

  static std::string take(char *message) {
    std::string error = message ? message : "";
    convbert_rt_string_free(message);
    return error;
  }

  std::string load(int32_t count = 2, const std::string &object = CONVBERT_FAKE_MODEL) {
    const void *arrays[] = {table, bias};
    char *message = nullptr;
    // The file of weights does not exist.
    convbert_rt_load_arrays(describe(object, "/nowhere").c_str(), arrays, bytes, count, 1, &model, &message);
    return take(message);
  }

  std::string packed(const convbert_rt_model *of) {
    return std::string(static_cast<const char *>(convbert_rt_packed(of)), convbert_rt_packed_bytes(of));
  }

  float table[40], bias[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  int64_t bytes[2] = {160, 16};
  convbert_rt_model *model = nullptr, *other = nullptr;
};

TEST_F(ArraysTest, PacksWhatAFileWould) {
  ASSERT_EQ(load(), "");
  WeightFile weights;
  char *message = nullptr;
  convbert_rt_load(describe(CONVBERT_FAKE_MODEL, weights.path).c_str(), 1, &other, &message);
  ASSERT_EQ(take(message), "");
  EXPECT_EQ(packed(model), packed(other));
}

TEST_F(ArraysTest, SharesCodeButNotParameters) {
  ASSERT_EQ(load(), "");
  std::string before = packed(model);
  std::fill(std::begin(bias), std::end(bias), 7.0f);
  EXPECT_EQ(packed(model), before); // arrays are read once
  const void *arrays[] = {table, bias};
  char *message = nullptr;
  EXPECT_EQ(convbert_rt_with_arrays(model, arrays, bytes, 2, &other, &message), CONVBERT_RT_OK);
  EXPECT_EQ(packed(model), before);
  EXPECT_NE(packed(other), before);
  // The first one may go.
  convbert_rt_free(model);
  model = nullptr;
  std::vector<int64_t> ids = {0, 1}, info(2);
  std::vector<float> out(8, -7);
  const void *inputs[] = {ids.data(), nullptr, nullptr, nullptr};
  void *outputs[] = {out.data(), info.data()};
  EXPECT_EQ(convbert_rt_forward(other, 1, 2, nullptr, inputs, outputs, nullptr), CONVBERT_RT_OK);
  EXPECT_EQ(std::count(out.begin(), out.end(), -7.0f), 0);
}

TEST_F(ArraysTest, RefusesOtherSizesAndNumbers) {
  bytes[1] = 12;
  EXPECT_EQ(load(), "parameter bias: requires 16 bytes for its shape, but found 12");
  EXPECT_EQ(load(1), "parameters: requires 2 arrays, but found 1");
  EXPECT_EQ(model, nullptr);
}

TEST_F(ArraysTest, ChecksIntegersAgainstTheirLimit) {
  std::string text = describe(CONVBERT_FAKE_MODEL, "/nowhere");
  std::string ids = R"("name": "input_ids", "dtype": "int64",)";
  text.replace(text.find(ids), ids.size(), ids + R"( "limit": 2,)");
  const void *arrays[] = {table, bias};
  char *message = nullptr;
  convbert_rt_load_arrays(text.c_str(), arrays, bytes, 2, 1, &model, &message);
  ASSERT_EQ(take(message), "");
  std::vector<int64_t> values = {1, 2}, info(2);
  std::vector<float> out(8);
  const void *inputs[] = {values.data(), nullptr, nullptr, nullptr};
  void *outputs[] = {out.data(), info.data()};
  EXPECT_EQ(convbert_rt_forward(model, 1, 2, nullptr, inputs, outputs, &message), CONVBERT_RT_INVALID_ARGUMENT);
  EXPECT_EQ(take(message), "input_ids: requires integers in [0, 2), but found 2 at [0, 1]");
}

} // namespace
