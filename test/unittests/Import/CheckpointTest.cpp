//===- CheckpointTest.cpp - Names, shapes and geometry --------------------===//

#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir::convbert;
using namespace mlir::convbert::test;
using llvm::json::Array;
using llvm::json::Object;

namespace {

using Changes = std::initializer_list<std::pair<const char *, llvm::json::Value>>;

const std::string layer0 = "encoder.layer.0.";
const std::string query = layer0 + "attention.self.query.weight";

/// Resolves the tiny model after `edit` changed its tensors.
template <typename Edit>
llvm::Expected<Checkpoint> resolveEdited(Edit edit, Changes changes = {}, const std::string &prefix = "") {
  Config config = tinyConfig(changes);
  TensorSet tensors = bodyTensors(config, prefix);
  edit(tensors);
  return resolveCheckpoint(config, tensors.list());
}

llvm::Expected<Checkpoint> resolveBody(Changes changes) {
  return resolveEdited([](TensorSet &) {}, changes);
}

/// Replaces one tensor of the tiny model.
llvm::Expected<Checkpoint> resolveWith(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Changes changes = {}) {
  return resolveEdited([&](TensorSet &set) { set.add(name, shape); }, changes);
}

TEST(Geometry, ComesFromShapes) {
  Checkpoint checkpoint = llvm::cantFail(resolveBody({}));
  ASSERT_EQ(checkpoint.layers.size(), 1u);
  const LayerGeometry &g = checkpoint.layers[0].geometry;
  EXPECT_EQ(g.hidden, 8);
  EXPECT_EQ(g.heads.attention, 2);
  EXPECT_EQ(g.heads.conv, 2);
  EXPECT_EQ(g.heads.query, 2);
  EXPECT_TRUE(g.heads.queryHeads.empty());
  EXPECT_EQ(g.headSize, 2);
  EXPECT_EQ(g.taps, 3);
  EXPECT_EQ(g.intermediate, 12);
  EXPECT_EQ(g.groups, 1);
  EXPECT_EQ(checkpoint.layers[0].rule, HeadRule::All);
  EXPECT_EQ(checkpoint.parameters().size(), 28u);
}

TEST(Geometry, SaysWhoseRuleTheHeadsFollow) {
  struct {
    int heads, ratio, width;
    int64_t built, headSize;
    HeadRule rule;
  } cases[] = {
      {4, 4, 32, 1, 16, HeadRule::HalfWidth}, {6, 3, 24, 2, 6, HeadRule::HalfWidth},
      {2, 1, 16, 2, 4, HeadRule::HalfWidth},  {1, 2, 16, 1, 8, HeadRule::HalfWidth},
      {5, 2, 12, 2, 3, HeadRule::HalfWidth},  {6, 2, 30, 3, 5, HeadRule::All},
      {8, 2, 32, 4, 4, HeadRule::All},
  };
  for (const auto &c : cases) {
    Checkpoint checkpoint = llvm::cantFail(
        resolveBody({{"num_attention_heads", c.heads}, {"head_ratio", c.ratio}, {"hidden_size", c.width}}));
    EXPECT_EQ(checkpoint.layers[0].geometry.heads.attention, c.built);
    EXPECT_EQ(checkpoint.layers[0].geometry.headSize, c.headSize);
    EXPECT_EQ(checkpoint.layers[0].rule, c.rule);
  }
}

TEST(Geometry, AcceptsTheOriginalCodesWidths) {
  // n = 3, r = 2, D = 12: one head of width 4, and an output layer from 8 to 12.
  auto original = [](TensorSet &set) {
    for (const char *name : {"query", "key", "value", "conv_out_layer"})
      set.addPair(layer0 + "attention.self." + name, {4, 12});
    set.add(layer0 + "attention.self.key_conv_attn_layer.pointwise.weight", {4, 12, 1});
    set.add(layer0 + "attention.self.key_conv_attn_layer.bias", {4, 1});
    set.addPair(layer0 + "attention.self.conv_kernel_layer", {3, 4});
    set.addPair(layer0 + "attention.output.dense", {12, 8});
  };
  Checkpoint checkpoint = llvm::cantFail(
      resolveEdited(original, {{"num_attention_heads", 3}, {"hidden_size", 12}, {"embedding_size", 12}}));
  EXPECT_EQ(checkpoint.layers[0].geometry.headSize, 4);
  EXPECT_EQ(checkpoint.layers[0].rule, HeadRule::NominalHeads);
}

TEST(Geometry, TakesGroupsFromTheRank) {
  Checkpoint checkpoint = llvm::cantFail(resolveBody({{"num_groups", 2}}));
  EXPECT_EQ(checkpoint.layers[0].geometry.groups, 2);
  EXPECT_EQ(checkpoint.layers[0].geometry.intermediate, 12);
  EXPECT_EQ(llvm::cantFail(resolveBody({{"num_groups", 4}})).layers[0].geometry.groups, 4);
}

TEST(Geometry, NamesTheTensorThatIsOdd) {
  const std::string self = layer0 + "attention.self.";
  expectError(resolveWith(query, {8, 4}), {query, "[4, 8]", "[8, 4]"});
  expectError(resolveWith(query, {8, 8}), {query, "[4, 8]", "[8, 8]"});
  expectError(resolveWith(query, {0, 8}), {query, "[0, 8]"});
  expectError(resolveWith(self + "query.bias", {}), {self + "query.bias", "[4]", "[]"});
  expectError(resolveWith(self + "key_conv_attn_layer.depthwise.weight", {3, 8, 1}),
              {"depthwise", "[8, 1, 3]", "[3, 8, 1]"});
  expectError(resolveWith(self + "key_conv_attn_layer.depthwise.weight", {8, 8, 3}),
              {"depthwise", "[8, 1, 3]", "[8, 8, 3]"});
  expectError(resolveWith(self + "key_conv_attn_layer.depthwise.weight", {8, 1, 4}), {"depthwise", "odd", "4"});
  expectError(resolveWith(self + "conv_kernel_layer.weight", {5, 4}), {"conv_kernel_layer.weight", "3 taps", "[5, 4]"});
  expectError(resolveWith(layer0 + "attention.output.dense.weight", {8, 6}),
              {"attention.output.dense.weight", "[8, 8]", "[8, 6]"});
  expectError(resolveWith(layer0 + "intermediate.dense.weight", {3, 2, 4}),
              {"intermediate.dense.weight", "[12, 8]", "[3, 2, 4]"});
}

TEST(Geometry, QuotesConfigurationAndTensorWhereTheyDisagree) {
  TensorSet tensors = bodyTensors(tinyConfig());
  auto withConfig = [&](Changes changes) { return resolveCheckpoint(tinyConfig(changes), tensors.list()); };
  expectError(withConfig({{"conv_kernel_size", 5}}), {"config.json", "conv_kernel_size 5", "[8, 1, 3]", "requires 3"});
  expectError(withConfig({{"num_attention_heads", 8}}),
              {"num_attention_heads 8", "4 attention heads", "[6, 4]", "requires 2"});
  expectError(withConfig({{"intermediate_size", 16}}), {"intermediate_size 16", "[12, 8]", "requires 12"});
  expectError(withConfig({{"num_groups", 2}}), {"num_groups 2", "intermediate.dense.weight", "[12, 8]", "requires 1"});
  expectError(withConfig({{"hidden_size", 16}, {"embedding_size", 16}}), {"word_embeddings", "[11, 16]", "[11, 8]"});
  expectError(withConfig({{"hidden_size", 768}}),
              {"embeddings_project.weight", "missing", "embedding_size 8", "hidden_size 768"});
}

TEST(Checkpoint, AcceptsOldNamesPrefixesAndBuffers) {
  auto old = [](TensorSet &set) {
    set.remove("convbert.embeddings.LayerNorm.weight");
    set.remove("convbert.embeddings.LayerNorm.bias");
    set.add("convbert.embeddings.LayerNorm.gamma", {8});
    set.add("convbert.embeddings.LayerNorm.beta", {8});
    set.add("convbert.embeddings.position_ids", {1, 7}, "I64");
    set.addPair("convbert.embeddings_project", {8, 8});
  };
  Checkpoint checkpoint = llvm::cantFail(resolveEdited(old, {}, "convbert."));
  EXPECT_EQ(checkpoint.normWeight->name, "convbert.embeddings.LayerNorm.gamma");
  EXPECT_EQ(checkpoint.projectionWeight, nullptr);
  EXPECT_EQ(checkpoint.parameters().size(), 28u);
}

TEST(Checkpoint, RefusesMissingUnexpectedAndAmbiguousTensors) {
  expectError(resolveEdited([](TensorSet &set) { set.remove(query); }), {query, "missing"});
  expectError(resolveEdited([](TensorSet &set) { set.remove("embeddings.word_embeddings.weight"); }),
              {"embeddings.word_embeddings.weight", "missing"});
  TensorSet oneLayer = bodyTensors(tinyConfig());
  expectError(resolveCheckpoint(tinyConfig({{"num_hidden_layers", 1000000000}}), oneLayer.list()),
              {"encoder.layer.1.", "missing", "num_hidden_layers 1000000000"});
  TensorSet twoLayers = bodyTensors(tinyConfig({{"num_hidden_layers", 2}}));
  expectError(resolveCheckpoint(tinyConfig(), twoLayers.list()),
              {"encoder.layer.1.", "unexpected", "num_hidden_layers 1"});
  expectError(resolveWith(layer0 + "attention.self.extra.weight", {4, 4}), {"extra.weight", "[4, 4]", "unexpected"});
  expectError(resolveWith("convbert." + query, {4, 8}), {"both", "'" + query + "'", "'convbert." + query + "'"});
  expectError(resolveWith("embeddings.LayerNorm.gamma", {8}), {"both", "LayerNorm.gamma", "LayerNorm.weight"});
}

TEST(Checkpoint, RefusesOtherElementTypes) {
  for (llvm::StringRef dtype : {"I32", "F64", "F8_E4M3", "I64"})
    expectError(resolveEdited([&](TensorSet &set) { set.add(query, {4, 8}, dtype); }), {query, "F32", dtype});
}

TEST(Checkpoint, ChecksTablesAgainstTheConfiguration) {
  expectError(resolveWith("embeddings.word_embeddings.weight", {10, 8}),
              {"word", "[11, 8]", "vocab_size 11", "[10, 8]"});
  expectError(resolveWith("embeddings.position_embeddings.weight", {6, 8}), {"max_position_embeddings 7", "[6, 8]"});
  expectError(resolveWith("embeddings.LayerNorm.weight", {7}), {"embeddings.LayerNorm.weight", "[8]", "[7]"});
}

/// A body with the prefix and these head tensors.
llvm::Expected<Checkpoint> resolveHead(const char *architecture, Changes changes,
                                       std::initializer_list<std::pair<const char *, std::vector<int64_t>>> head) {
  Config config = tinyConfig(changes);
  config.architecture = architecture;
  TensorSet tensors = bodyTensors(config, "convbert.");
  for (const auto &[name, shape] : head)
    tensors.add(name, shape);
  return resolveCheckpoint(config, tensors.list());
}

TEST(Heads, DecideTheClassWithoutAnArchitecture) {
  auto classOf = [](std::initializer_list<std::pair<const char *, std::vector<int64_t>>> head) {
    return llvm::cantFail(resolveHead("", {}, head)).modelClass;
  };
  EXPECT_EQ(classOf({}), ModelClass::Model);
  EXPECT_EQ(classOf({{"classifier.weight", {2, 8}}, {"classifier.bias", {2}}}), ModelClass::TokenClassification);
  EXPECT_EQ(classOf({{"qa_outputs.weight", {2, 8}}, {"qa_outputs.bias", {2}}}), ModelClass::QuestionAnswering);
  EXPECT_EQ(classOf({{"classifier.dense.weight", {8, 8}},
                     {"classifier.dense.bias", {8}},
                     {"classifier.out_proj.weight", {2, 8}},
                     {"classifier.out_proj.bias", {2}}}),
            ModelClass::SequenceClassification);
  expectError(resolveHead("", {}, {{"classifier.weight", {1, 8}}, {"classifier.bias", {1}}}),
              {"architectures", "ConvBertForMultipleChoice", "classifier.weight"});
  expectError(resolveHead("ConvBertForSpeech", {}, {}), {"architectures", "ConvBertForMaskedLM", "ConvBertForSpeech"});
  expectError(resolveHead("ConvBertModel", {}, {{"qa_outputs.weight", {2, 8}}}), {"qa_outputs.weight", "unexpected"});
}

/// A body of BERT or ELECTRA: that of ConvBERT without convolution heads, and all heads in the attention.
TensorSet plainTensors(const Config &config) {
  std::string prefix = familyNames(config.family).prefix.str();
  TensorSet set = bodyTensors(config, prefix);
  int64_t d = config.hiddenSize;
  for (int64_t layer = 0; layer < config.numLayers; ++layer) {
    std::string p = prefix + "encoder.layer." + std::to_string(layer) + ".attention.", self = p + "self.";
    for (const char *name : {"query", "key", "value"})
      set.addPair(self + name, {d, d});
    set.addPair(p + "output.dense", {d, d});
    for (const char *name :
         {"key_conv_attn_layer.depthwise.weight", "key_conv_attn_layer.pointwise.weight", "key_conv_attn_layer.bias",
          "conv_kernel_layer.weight", "conv_kernel_layer.bias", "conv_out_layer.weight", "conv_out_layer.bias"})
      set.remove(self + name);
  }
  return set;
}

llvm::Expected<Checkpoint> resolvePlain(const char *type, const char *architecture,
                                        std::initializer_list<std::pair<const char *, std::vector<int64_t>>> head) {
  Array architectures;
  if (*architecture)
    architectures.push_back(architecture);
  Config config = tinyConfig({{"model_type", type}, {"architectures", std::move(architectures)}});
  TensorSet tensors = plainTensors(config);
  for (const auto &[name, shape] : head)
    tensors.add(name, shape);
  return resolveCheckpoint(config, tensors.list());
}

TEST(Families, HaveLayersWithoutConvolutionHeads) {
  for (const char *type : {"bert", "electra"}) {
    Checkpoint checkpoint = llvm::cantFail(resolvePlain(type, "", {}));
    const Checkpoint::Layer &layer = checkpoint.layers.front();
    EXPECT_EQ(layer.geometry.heads.attention, 4);
    EXPECT_EQ(layer.geometry.heads.conv, 0);
    EXPECT_EQ(layer.geometry.headSize, 2);
    EXPECT_EQ(layer.params[KernelWeight], nullptr);
    EXPECT_FALSE(layer.rule);
    EXPECT_EQ(checkpoint.modelClass, ModelClass::Model);
  }
  Config config = tinyConfig({{"model_type", "electra"}, {"architectures", Array{"ElectraModel"}}});
  TensorSet narrow = plainTensors(config);
  narrow.add("electra.encoder.layer.0.attention.self.key.weight", {6, 8});
  expectError(resolveCheckpoint(config, narrow.list()), {"key.weight", "[8, 8]", "[6, 8]"});
}

TEST(Families, AreNotMistakenForEachOther) {
  Config config = tinyConfig({{"model_type", "bert"}, {"architectures", Array()}});
  expectError(resolveCheckpoint(config, bodyTensors(config).list()),
              {"config.json", "model_type 'convbert'", "key_conv_attn_layer", "'bert'"});
  Config conv = tinyConfig();
  Config plain = tinyConfig({{"model_type", "electra"}, {"architectures", Array()}});
  expectError(resolveCheckpoint(conv, plainTensors(plain).list()), {"word_embeddings", "missing", "'convbert.'"});
}

TEST(Families, DecideTheClassOfBERTByItsHead) {
  using Head = std::initializer_list<std::pair<const char *, std::vector<int64_t>>>;
  Head lm = {{"cls.predictions.transform.dense.weight", {8, 8}},
             {"cls.predictions.transform.dense.bias", {8}},
             {"cls.predictions.transform.LayerNorm.gamma", {8}},
             {"cls.predictions.transform.LayerNorm.beta", {8}},
             {"cls.predictions.bias", {11}},
             {"cls.predictions.decoder.bias", {11}},
             {"bert.pooler.dense.weight", {8, 8}},
             {"bert.pooler.dense.bias", {8}}};
  Checkpoint masked = llvm::cantFail(resolvePlain("bert", "", lm));
  EXPECT_EQ(masked.modelClass, ModelClass::MaskedLM);
  EXPECT_EQ(masked.head[4], masked.word);
  EXPECT_EQ(masked.head[5]->name, "cls.predictions.decoder.bias");
  EXPECT_EQ(masked.ignored.size(), 3u);
  EXPECT_EQ(
      llvm::cantFail(resolvePlain("bert", "", {{"qa_outputs.weight", {2, 8}}, {"qa_outputs.bias", {2}}})).modelClass,
      ModelClass::QuestionAnswering);
  Head classifier = {{"classifier.weight", {2, 8}}, {"classifier.bias", {2}}};
  expectError(resolvePlain("bert", "", classifier), {"architectures", "BertForTokenClassification"});
  EXPECT_EQ(llvm::cantFail(resolvePlain("bert", "BertForTokenClassification", classifier)).head.size(), 2u);
  expectError(resolvePlain("bert", "BertForSequenceClassification", classifier),
              {"pooler.dense.weight", "'bert.'", "missing"});
  expectError(resolvePlain("bert", "BertLMHeadModel", {}), {"architectures", "BertForMaskedLM", "BertLMHeadModel"});
  Checkpoint bare = llvm::cantFail(resolvePlain("bert", "BertModel", {}));
  EXPECT_TRUE(
      llvm::any_of(bare.notes, [](const std::string &note) { return llvm::StringRef(note).contains("no pooler"); }));
}

TEST(Families, MayBeLayersAlone) {
  Config config = tinyConfig({{"architectures", Array()}});
  TensorSet tensors = bodyTensors(config);
  for (const char *name : {"word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight",
                           "LayerNorm.weight", "LayerNorm.bias"})
    tensors.remove(std::string("embeddings.") + name);
  Checkpoint alone = llvm::cantFail(resolveCheckpoint(config, tensors.list()));
  EXPECT_EQ(alone.modelClass, ModelClass::EncoderOnly);
  EXPECT_EQ(alone.word, nullptr);
  EXPECT_EQ(alone.parameters().size(), 23u);
  tensors.addPair("decoder", {5, 8});
  EXPECT_EQ(llvm::cantFail(resolveCheckpoint(config, tensors.list())).head.size(), 2u);
  config.labelsGiven = true;
  expectError(resolveCheckpoint(config, tensors.list()), {"decoder.weight", "[2, 8]", "[5, 8]"});
}

TEST(Pruning, SaysWhichHeadsAreLeft) {
  Config config = tinyConfig({{"convbert_pruned_heads", Object{{"0", Object{{"attention", Array{0}}}}}}});
  LayerHeads heads = requiredHeads(config, 0);
  EXPECT_EQ(heads.attention, 1);
  EXPECT_EQ(heads.conv, 2);
  EXPECT_EQ(heads.query, 2);
  EXPECT_EQ(heads.queryHeads, (llvm::SmallVector<int64_t>{1}));
  // Whole tensors contradict it: both numbers are quoted.
  expectError(resolveCheckpoint(config, bodyTensors(config).list()),
              {"key.weight", "[2, 8]", "1 of 2 attention heads", "2 of 2 convolution heads", "[4, 8]"});
  config =
      tinyConfig({{"convbert_pruned_heads", Object{{"0", Object{{"attention", Array{0}}, {"conv", Array{0, 1}}}}}}});
  heads = requiredHeads(config, 0);
  EXPECT_EQ(heads.query, 1);
  EXPECT_TRUE(heads.queryHeads.empty());
}

TEST(Heads, TieTheMaskedLanguageModelsTable) {
  std::initializer_list<std::pair<const char *, std::vector<int64_t>>> head = {
      {"generator_predictions.dense.weight", {8, 8}},
      {"generator_predictions.dense.bias", {8}},
      {"generator_predictions.LayerNorm.weight", {8}},
      {"generator_predictions.LayerNorm.bias", {8}},
      {"generator_lm_head.bias", {11}}};
  Checkpoint tied = llvm::cantFail(resolveHead("ConvBertForMaskedLM", {}, head));
  ASSERT_EQ(tied.head.size(), 6u);
  EXPECT_EQ(tied.head[4], tied.word);
  EXPECT_EQ(tied.parameters().size(), 33u);
  expectError(resolveHead("ConvBertForMaskedLM", {{"tie_word_embeddings", false}}, head),
              {"generator_lm_head.weight", "missing"});
  expectError(resolveHead("ConvBertForMaskedLM", {}, {}), {"generator_predictions.dense.weight", "missing"});

  // Both tables stored: both are kept.
  Config config = tinyConfig({{"architectures", Array{"ConvBertForMaskedLM"}}});
  TensorSet tensors = bodyTensors(config, "convbert.");
  for (const auto &[name, shape] : head)
    tensors.add(name, shape);
  tensors.add("generator_lm_head.weight", {11, 8});
  Checkpoint both = llvm::cantFail(resolveCheckpoint(config, tensors.list()));
  EXPECT_NE(both.head[4], both.word);
  // Only the output matrix stored: it is the word table too.
  tensors.remove("convbert.embeddings.word_embeddings.weight");
  Checkpoint outputOnly = llvm::cantFail(resolveCheckpoint(config, tensors.list()));
  EXPECT_EQ(outputOnly.head[4], outputOnly.word);
  EXPECT_EQ(outputOnly.word->name, "generator_lm_head.weight");
}

TEST(Heads, HaveAsManyRowsAsLabels) {
  expectError(resolveHead("ConvBertForTokenClassification", {{"num_labels", 5}},
                          {{"classifier.weight", {3, 8}}, {"classifier.bias", {3}}}),
              {"classifier.weight", "[5, 8]", "5 labels", "[3, 8]"});
  expectError(
      resolveHead("ConvBertForTokenClassification", {}, {{"classifier.weight", {3, 8}}, {"classifier.bias", {3}}}),
      {"[2, 8]", "2 labels (the default", "[3, 8]"});
  expectError(
      resolveHead("ConvBertForQuestionAnswering", {}, {{"qa_outputs.weight", {3, 8}}, {"qa_outputs.bias", {3}}}),
      {"qa_outputs.weight", "start and end", "[3, 8]"});
  EXPECT_EQ(llvm::cantFail(resolveHead("ConvBertForMultipleChoice", {{"summary_use_proj", true}},
                                       {{"classifier.weight", {1, 8}},
                                        {"classifier.bias", {1}},
                                        {"sequence_summary.summary.weight", {8, 8}},
                                        {"sequence_summary.summary.bias", {8}}}))
                .head.size(),
            4u);
}

} // namespace
