//===- ImportTest.cpp - Modules from checkpoints --------------------------===//

#include "lib/Import/Import.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Import/ModuleBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "test/unittests/Import/TestCheckpoint.h"

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::test;
using llvm::json::Array;

namespace {

/// Writes the checkpoint to `dir`; all numbers are zero.
void writeCheckpoint(const TempDir &dir, llvm::StringRef config, const TensorSet &tensors) {
  llvm::json::Object header;
  uint64_t offset = 0;
  for (const TensorInfo &tensor : tensors.list()) {
    header[tensor.name] = llvm::json::Object{{"dtype", tensor.dtype},
                                             {"shape", Array(tensor.shape)},
                                             {"data_offsets", Array{offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  dir.write("config.json", config);
  dir.write("model.safetensors", safetensors(llvm::formatv("{0}", llvm::json::Value(std::move(header))).str(), offset));
}

TEST(Import, GivesOneWeightSourceAGlobal) {
  TempDir dir;
  writeCheckpoint(dir, tinyConfigText({{"embedding_size", 4}}), bodyTensors(tinyConfig({{"embedding_size", 4}})));
  MLIRContext context;
  std::string error;
  FailureOr<ImportedModel> model = importCheckpoint(dir.path, {}, context, error);
  ASSERT_TRUE(succeeded(model)) << error;
  auto globals = llvm::to_vector(model->module->getOps<ml_program::GlobalOp>());
  ASSERT_EQ(globals.size(), 30u);
  ASSERT_EQ(model->weights.size(), globals.size());
  for (auto [global, weight] : llvm::zip_equal(globals, model->weights)) {
    auto type = cast<RankedTensorType>(global.getType());
    EXPECT_EQ(global.getSymName(), weight.name);
    EXPECT_EQ(uint64_t(type.getNumElements()) * 4, weight.bytes);
    EXPECT_TRUE(llvm::StringRef(weight.file).starts_with(dir.path));
    EXPECT_GT(weight.offset, 8u);
  }
  EXPECT_EQ(model->weights.front().name, "embeddings.word_embeddings.weight");
}

TEST(Import, SaysOneLineOnFailure) {
  MLIRContext context;
  std::string error;
  EXPECT_TRUE(failed(importCheckpoint("/nonexistent", {}, context, error)));
  EXPECT_NE(error.find("/nonexistent: requires a checkpoint directory"), std::string::npos) << error;
  TempDir dir;
  EXPECT_TRUE(failed(importCheckpoint(dir.path, {}, context, error)));
  EXPECT_NE(error.find("config.json: not found"), std::string::npos) << error;
  dir.write("config.json", tinyConfigText());
  EXPECT_TRUE(failed(importCheckpoint(dir.path, {}, context, error)));
  EXPECT_NE(error.find("requires weights"), std::string::npos) << error;
}

/// The module of the tiny body.
OwningOpRef<ModuleOp> buildTiny(MLIRContext &context, const ImportOptions &options,
                                std::initializer_list<std::pair<const char *, llvm::json::Value>> changes = {}) {
  Config config = tinyConfig(changes);
  Checkpoint checkpoint = llvm::cantFail(resolveCheckpoint(config, bodyTensors(config).list()));
  OwningOpRef<ModuleOp> module = buildModule(checkpoint, options, context);
  EXPECT_TRUE(succeeded(verify(*module)));
  return module;
}

TEST(ModuleBuilder, SharesOneLayerFunction) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = buildTiny(context, {}, {{"num_hidden_layers", 3}});
  EXPECT_EQ(llvm::range_size(module->getOps<func::FuncOp>()), 2);
  auto layer = module->lookupSymbol<func::FuncOp>("encoder_layer");
  ASSERT_TRUE(layer);
  EXPECT_TRUE(layer.isPrivate());
  EXPECT_EQ(layer.getNumArguments(), 25u);
  unsigned calls = 0;
  module->walk([&](func::CallOp call) {
    EXPECT_EQ(cast<NameLoc>(call.getLoc()).getName(), "encoder.layer." + std::to_string(calls));
    ++calls;
  });
  EXPECT_EQ(calls, 3u);
}

TEST(ModuleBuilder, GivesEachSetOfShapesItsFunction) {
  // Layer 1 has heads of width D / n = 4, the others of width D / (2 n') = 6.
  Config config = tinyConfig({{"num_hidden_layers", 3}, {"num_attention_heads", 3}, {"hidden_size", 12}});
  TensorSet tensors = bodyTensors(config);
  std::string self = "encoder.layer.1.attention.self.";
  for (const char *name : {"query", "key", "value", "conv_out_layer"})
    tensors.addPair(self + name, {4, 12});
  tensors.add(self + "key_conv_attn_layer.pointwise.weight", {4, 12, 1});
  tensors.add(self + "key_conv_attn_layer.bias", {4, 1});
  tensors.addPair(self + "conv_kernel_layer", {3, 4});
  tensors.addPair("encoder.layer.1.attention.output.dense", {12, 8});
  MLIRContext context;
  Checkpoint checkpoint = llvm::cantFail(resolveCheckpoint(config, tensors.list()));
  OwningOpRef<ModuleOp> module = buildModule(checkpoint, {}, context);
  EXPECT_TRUE(succeeded(verify(*module)));
  SmallVector<StringRef> callees;
  module->walk([&](func::CallOp call) { callees.push_back(call.getCallee()); });
  EXPECT_EQ(callees, (SmallVector<StringRef>{"encoder_layer", "encoder_layer_1", "encoder_layer"}));
}

TEST(ModuleBuilder, BuildsModelsWithoutLayers) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = buildTiny(context, {}, {{"num_hidden_layers", 0}, {"embedding_size", 6}});
  EXPECT_EQ(llvm::range_size(module->getOps<func::FuncOp>()), 1);
}

TEST(Manifest, IsJSON) {
  MLIRContext context;
  ImportOptions options;
  options.hiddenStates = true;
  OwningOpRef<ModuleOp> module = buildTiny(context, options);
  llvm::json::Value manifest = manifestToJSON(*module);
  const llvm::json::Object *object = manifest.getAsObject();
  ASSERT_TRUE(object);
  EXPECT_EQ(object->getString("model_class"), "ConvBertModel");
  EXPECT_EQ(object->getInteger("vocab_size"), 11);
  EXPECT_EQ(object->getInteger("max_positions"), 7);
  EXPECT_EQ(object->getInteger("type_vocab_size"), 2);
  EXPECT_EQ(object->getInteger("hidden_size"), 8);
  EXPECT_EQ(object->getInteger("min_row_pitch"), 8);
  EXPECT_EQ(object->getArray("labels")->size(), 0u);
  EXPECT_EQ(object->getArray("parameters")->size(), 28u);
  Array inputs;
  for (const char *name : {"input_ids", "attention_mask", "token_type_ids", "position_ids"})
    inputs.push_back(llvm::json::Object{{"name", name},
                                        {"dtype", llvm::StringRef(name) == "attention_mask" ? "bool" : "int64"},
                                        {"shape", Array{"B", "T"}}});
  EXPECT_EQ(*object->getArray("inputs"), inputs);
  Array outputs;
  for (const char *name : {"last_hidden_state", "hidden_states.0", "hidden_states.1"})
    outputs.push_back(llvm::json::Object{{"name", name}, {"dtype", "float32"}, {"shape", Array{"B", "T", 8}}});
  EXPECT_EQ(*object->getArray("outputs"), outputs);
  EXPECT_EQ(manifestToJSON(ModuleOp::create(UnknownLoc::get(&context))), llvm::json::Value(nullptr));
}

} // namespace
