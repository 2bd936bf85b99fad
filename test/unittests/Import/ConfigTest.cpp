//===- ConfigTest.cpp - config.json -----------------------------===//

#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir::convbert;
using namespace mlir::convbert::test;
using llvm::json::Array;
using llvm::json::Object;

namespace {

llvm::Expected<Config> parse(std::initializer_list<std::pair<const char *, llvm::json::Value>> changes) {
  return parseConfig(tinyConfigText(changes), "config.json");
}

TEST(Config, HasTheLibrarysDefaults) {
  Config config = llvm::cantFail(parseConfig(R"({"model_type":"convbert"})", "config.json"));
  EXPECT_EQ(config.vocabSize, 30522);
  EXPECT_EQ(config.hiddenSize, 768);
  EXPECT_EQ(config.embeddingSize, 768);
  EXPECT_EQ(config.numLayers, 12);
  EXPECT_EQ(config.builtHeads(), 6);
  EXPECT_EQ(config.kernelSize, 9);
  EXPECT_EQ(config.intermediateSize, 3072);
  EXPECT_EQ(config.maxPositions, 512);
  EXPECT_EQ(config.typeVocabSize, 2);
  EXPECT_EQ(config.layerNormEps, 1e-12);
  EXPECT_EQ(config.activation, ActivationKind::Gelu);
  EXPECT_TRUE(config.tieWordEmbeddings);
  EXPECT_EQ(config.labelCount, 2);
  EXPECT_EQ(config.labelName(1), "LABEL_1");
  EXPECT_FALSE(config.labelsGiven);
  EXPECT_EQ(config.summary, PoolKind::Last);
  EXPECT_EQ(config.hiddenSize.describe(), "hidden_size 768 (the default; absent from config.json)");
}

TEST(Config, ReadsWhatDecidesTheNetwork) {
  Config config = tinyConfig({{"model_type", "conv_bert"},
                              {"hidden_act", "swish"},
                              {"id2label", Object{{"1", "yes"}, {"0", "no"}, {"2", "maybe"}}},
                              {"summary_type", "mean"},
                              {"summary_activation", "tanh"},
                              {"summary_use_proj", true},
                              {"pruned_heads", Object{}},
                              {"classifier_dropout", nullptr}});
  EXPECT_EQ(config.activation, ActivationKind::Silu);
  EXPECT_EQ(config.labels, (std::vector<std::string>{"no", "yes", "maybe"}));
  EXPECT_EQ(config.summary, PoolKind::Mean);
  EXPECT_EQ(config.summaryActivation, ActivationKind::Tanh);
  EXPECT_TRUE(config.summaryProjection);
  EXPECT_EQ(tinyConfig({{"summary_type", "cls_index"}}).summary, PoolKind::Last);
}

TEST(Config, SortsLabelsByIdNotByText) {
  Object labels;
  for (int i = 0; i < 12; ++i)
    labels[std::to_string(i)] = "l" + std::to_string(i);
  Config config = tinyConfig({{"id2label", std::move(labels)}});
  ASSERT_EQ(config.labels.size(), 12u);
  EXPECT_EQ(config.labels[2], "l2");
  EXPECT_EQ(config.labels[10], "l10");
}

TEST(Config, RefusesSizesOfOtherTypesAndRanges) {
  expectError(parse({{"hidden_size", -8}}), {"config.json", "hidden_size", "from 1", "-8"});
  expectError(parse({{"hidden_size", 0}}), {"hidden_size", "the number 0"});
  expectError(parse({{"hidden_size", 8.5}}), {"hidden_size", "integer", "8.5"});
  expectError(parse({{"hidden_size", "8"}}), {"hidden_size", "the string '8'"});
  expectError(parse({{"hidden_size", true}}), {"hidden_size", "integer", "true"});
  expectError(parse({{"hidden_size", nullptr}}), {"hidden_size", "integer", "null"});
  expectError(parse({{"hidden_size", Array{8}}}), {"hidden_size", "integer", "an array"});
  expectError(parse({{"vocab_size", 1000000000000}}), {"vocab_size", "1000000000000"});
  // No integer of 64 bits, and no undefined conversion to one.
  for (const char *size : {"9223372036854775808.", "1e19", "-1e300", "9223372036854775807"})
    expectError(parseConfig(std::string(R"({"model_type":"convbert","hidden_size":)") + size + "}", "config.json"),
                {"hidden_size", "an integer from 1"});
  expectError(parse({{"num_hidden_layers", -1}}), {"num_hidden_layers", "from 0", "-1"});
  expectError(parse({{"head_ratio", 0}}), {"head_ratio", "0"});
  expectError(parse({{"layer_norm_eps", -1.0}}), {"layer_norm_eps", "-1"});
  expectError(parse({{"layer_norm_eps", "1e-12"}}), {"layer_norm_eps", "the string '1e-12'"});
  expectError(parse({{"tie_word_embeddings", 1}}), {"tie_word_embeddings", "true or false"});
}

TEST(Config, RefusesSizesThatContradictEachOther) {
  expectError(parse({{"conv_kernel_size", 4}}), {"odd conv_kernel_size", "even", "4"});
  expectError(parse({{"hidden_size", 10}, {"num_attention_heads", 6}}),
              {"hidden_size 10", "multiple of 6", "3 attention heads", "num_attention_heads 6"});
  expectError(parse({{"num_groups", 3}}), {"hidden_size", "num_groups 3", "8"});
  expectError(parse({{"num_groups", 2}, {"intermediate_size", 37}}), {"intermediate_size", "num_groups 2", "37"});
  expectError(parse({{"num_labels", 3}, {"id2label", Object{{"0", "a"}}}}), {"num_labels", "id2label", "3 and 1"});
  expectError(parse({{"id2label", Object{{"0", "a"}, {"2", "b"}}}}), {"id2label", "id 1 is missing"});
}

TEST(Config, KnowsThreeFamilies) {
  Config bert =
      llvm::cantFail(parseConfig(R"({"model_type":"bert","embedding_size":3,"num_groups":7})", "config.json"));
  EXPECT_EQ(bert.family, ModelFamily::BERT);
  EXPECT_EQ(bert.embeddingSize, 768); // it has no such key
  EXPECT_EQ(bert.numGroups, 1);
  EXPECT_EQ(bert.builtHeads(), 12);
  Config electra = llvm::cantFail(parseConfig(R"({"architectures":["ElectraModel"]})", "config.json"));
  EXPECT_EQ(electra.family, ModelFamily::ELECTRA);
  EXPECT_EQ(electra.embeddingSize, 128);
  EXPECT_EQ(electra.hiddenSize, 256);
  EXPECT_EQ(electra.intermediateSize, 1024);
  EXPECT_EQ(electra.builtHeads(), 4);
  EXPECT_EQ(electra.summary, PoolKind::First);
  EXPECT_TRUE(electra.summaryProjection);
  EXPECT_EQ(electra.summaryActivation, ActivationKind::Gelu);
  Config none = llvm::cantFail(parseConfig(R"({"model_type":"electra","summary_activation":null})", "config.json"));
  EXPECT_EQ(none.summaryActivation, ActivationKind::Identity);
  expectError(parseConfig(R"({"model_type":"bert","hidden_size":10,"num_attention_heads":4})", "config.json"),
              {"hidden_size", "multiple of num_attention_heads 4", "10"});
  expectError(parseConfig(R"({"model_type":"electra","architectures":["BertModel"]})", "config.json"),
              {"model_type", "'bert'", "BertModel", "'electra'"});
  expectError(parseConfig(R"({"model_type":"roberta","architectures":["RobertaModel"]})", "config.json"),
              {"model_type", "supported", "'convbert'", "'bert'", "'electra'", "'roberta'"});
  expectError(parseConfig(R"({"architectures":["RobertaModel"]})", "config.json"),
              {"model_type", "'convbert'", "'bert'", "'electra'", "neither"});
}

TEST(Config, ReadsPrunedHeads) {
  Config config =
      tinyConfig({{kPrunedHeadsKey.data(), Object{{"0", Object{{"attention", Array{1}}, {"conv", Array{1, 0}}}}}}});
  ASSERT_EQ(config.prunedHeads.size(), 1u);
  EXPECT_EQ(config.prunedHeads[0].attention, (llvm::SmallVector<int64_t>{1}));
  EXPECT_EQ(config.prunedHeads[0].conv, (llvm::SmallVector<int64_t>{0, 1}));
  expectError(parse({{kPrunedHeadsKey.data(), Object{{"1", Object{}}}}}),
              {"convbert_pruned_heads", "layers below num_hidden_layers 1", "'1'"});
}

TEST(Config, RefusesOtherModelsAndFeatures) {
  expectError(parse({{"model_type", "bert"}}), {"model_type", "'convbert'", "'bert'"});
  expectError(parseConfig("{}", "config.json"), {"model_type"});
  expectError(parse({{"pruned_heads", Object{{"0", Array{1}}}}}), {"pruned_heads", "empty"});
  expectError(parse({{"position_embedding_type", "relative_key"}}), {"position_embedding_type", "relative_key"});
  expectError(parse({{"conv_type", "noconv"}}), {"conv_type", "noconv"});
  expectError(parse({{"is_decoder", true}}), {"is_decoder"});
  expectError(parse({{"add_cross_attention", true}}), {"add_cross_attention"});
  expectError(parse({{"hidden_act", "gelu_fancy"}}), {"hidden_act", "gelu_new", "gelu_fancy"});
  expectError(parse({{"hidden_act", Object{{"name", "gelu"}}}}), {"hidden_act", "an object"});
  expectError(parse({{"summary_type", "attn"}}), {"summary_type", "attn"});
  expectError(parse({{"architectures", "ConvBertModel"}}), {"architectures", "array"});
}

TEST(Config, RefusesTextThatIsNoStrictJSON) {
  std::string text = tinyConfigText();
  for (llvm::StringRef bad : {"", "{\"a\":1,}", "{'a':1}", "{} {}", "{\"a\":NaN}", "{\"a\":\"\xff\"}", "\xff\xfe{"})
    expectError(parseConfig(bad, "config.json"), {"config.json", "JSON"});
  expectError(parseConfig(text.substr(0, text.size() / 2), "config.json"), {"config.json", "JSON"});
  expectError(parseConfig("[" + text + "]", "config.json"), {"JSON object", "an array"});
  expectError(parseConfig("\xef\xbb\xbf" + text, "config.json"), {"byte order mark"});
  expectError(parseConfig(text.substr(0, text.size() - 1) + ",\"hidden_size\":16}", "config.json"),
              {"'hidden_size'", "more than once"});
  std::string deep = text.substr(0, text.size() - 1) + ",\"x\":" + std::string(20000, '[') + std::string(20000, ']');
  expectError(parseConfig(deep + "}", "config.json"), {"64 levels"});
  // Brackets and repeated keys inside strings, and equal keys in different objects, are no fault.
  std::string fine = text.substr(0, text.size() - 1) + R"(,"x":{"a":"[[{\"a\":1,\"a\":2}","b":{"a":1}}})";
  EXPECT_TRUE(bool(parseConfig(fine, "config.json")));
}

} // namespace
