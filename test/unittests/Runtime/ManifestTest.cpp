// Descriptions that the runtime must refuse, each with the member that is wrong.
#include "lib/Runtime/Manifest.h"
#include "lib/Runtime/Error.h"
#include "lib/Runtime/Inputs.h"

#include "test/unittests/Runtime/FakeModel.h"

#include <gtest/gtest.h>

using namespace convbert::rt;

/// The message for `valid` with the first `from` replaced by `to`.
static std::string refusal(const std::string &from, const std::string &to) {
  std::string text = test::describe("model.so", "weights");
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
  try {
    parseDescription(text);
  } catch (const Failure &failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(Manifest, Parses) {
  Description description = parseDescription(test::describe("model.so", "weights"));
  EXPECT_EQ(description.object, "model.so");
  EXPECT_EQ(description.manifest.minRowPitch, 8);
  ASSERT_EQ(description.weights.size(), 2u);
  EXPECT_EQ(description.weights[1].offset, 172);
  const ArrayInfo &output = description.manifest.outputs[0];
  EXPECT_EQ(output.shape, (std::vector<int64_t>{kBatch, kLength, 4}));
  EXPECT_EQ(output.bytes(3, 5), 3 * 5 * 4 * 4);
  EXPECT_EQ(output.bytes(int64_t(1) << 40, int64_t(1) << 40), -1);
}

TEST(Manifest, KnowsNoLimitsWithoutTables) {
  std::string text = test::describe("model.so", "weights");
  for (const char *table : {"\"vocab_size\": 10, ", "\"max_positions\": 20, ", "\"type_vocab_size\": 2,"}) {
    size_t at = text.find(table);
    ASSERT_NE(at, std::string::npos) << table;
    text.erase(at, std::string(table).size());
  }
  Manifest manifest = parseDescription(text).manifest;
  for (int64_t limit : {manifest.vocabSize, manifest.maxPositions, manifest.typeVocabSize})
    EXPECT_EQ(limit, INT64_MAX);
}

/// A description whose first output has `size` for its number of tokens.
static std::string withTokens(const std::string &size) {
  std::string text = test::describe("model.so", "weights"), shape = R"("shape": ["B", "T", 4])";
  size_t at = text.find(shape);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, shape.size(), R"("shape": ["B", )" + size + ", 4]");
}

TEST(Manifest, FollowsConvolutionsThatChangeTheLength) {
  // Three taps without zeros, then a stride of two.
  ArrayInfo output = parseDescription(withTokens(R"({"tokens": [[-3, 1], [-1, 2]]})")).manifest.outputs[0];
  EXPECT_EQ(output.bytes(1, 12), 5 * 4 * 4); // 12 -> 10 -> 5
  EXPECT_EQ(output.bytes(2, 3), 2 * 1 * 4 * 4);
  EXPECT_EQ(output.bytes(1, 2), 0);
}

TEST(Manifest, RefusesOtherSteps) {
  for (std::string step : {"[1]", "[1, 0]", "[1, 2, 3]", "[\"1\", 1]", "3"}) {
    try {
      parseDescription(withTokens(R"({"tokens": [)" + step + "]}"));
      FAIL() << "accepted " << step;
    } catch (const Failure &failure) {
      EXPECT_EQ(std::string(failure.what())
                    .find("description of the compiled model: requires pairs of numbers in "
                          "\"tokens\" of outputs[0], but found "),
                0u)
          << failure.what();
    }
  }
}

TEST(Manifest, VectorsHaveNoDefault) {
  Manifest manifest;
  manifest.inputs = {{"encoder_input", "float32", 4, {kBatch, kLength, 4}}, {"attention_mask", "bool", 1, {}}};
  const void *none[] = {nullptr, nullptr};
  try {
    checkInputs(manifest, {1, 2, nullptr}, none);
    FAIL() << "accepted";
  } catch (const InvalidArgument &failure) {
    EXPECT_STREQ(failure.what(), "encoder_input: requires an array, but found none");
  }
}

TEST(Manifest, RefusesWhatIsMissingOrWrong) {
  const std::string prefix = "description of the compiled model: ";
  EXPECT_EQ(refusal("{\"object\"", "\"object\""), prefix + "requires a JSON object, but found text that is no JSON");
  EXPECT_EQ(refusal("\"object\"", "\"objekt\""), prefix + "requires \"object\" in its top level, but found none");
  EXPECT_EQ(refusal("\"vocab_size\": 10", "\"vocab_size\": -1"),
            prefix + "requires a size >= 0 for \"vocab_size\" in \"manifest\", but found -1");
  EXPECT_EQ(refusal("\"dtype\": \"bool\"", "\"dtype\": \"int3\""),
            prefix + "requires a known \"dtype\" in inputs[1], but found \"int3\"");
  EXPECT_EQ(refusal("[\"B\", \"T\", 4]", "[\"B\", \"X\", 4]"),
            prefix + "requires sizes, \"B\" or \"T\" in the shape of outputs[0], but found \"X\"");
  EXPECT_EQ(refusal(",\n                   {\"name\": \"bias\", \"dtype\": \"float32\", \"shape\": [4]}", ""),
            prefix + "requires one entry of \"weights\" for each of the 1 parameters, but found 2");
  EXPECT_EQ(refusal("\"shape\": [10, 4]", "\"shape\": [10, 5]"),
            "parameter table: requires 200 bytes for its shape, but found 160 in weights");
}
