//===- ModuleBuilder.cpp - A checkpoint as block operations -----*- C++ -*-===//

#include "lib/Import/ModuleBuilder.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Import/ModuleHeads.h"
#include "lib/Import/ParameterLoad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

namespace {

using Output = ModuleOutput;

class ModuleBuilder {
public:
  ModuleBuilder(const Checkpoint &checkpoint, const ImportOptions &options, MLIRContext &context)
      : checkpoint(checkpoint), config(checkpoint.config), options(options), builder(&context) {}

  OwningOpRef<ModuleOp> build();

private:
  Location named(const Twine &name) { return NameLoc::get(builder.getStringAttr(name)); }
  RankedTensorType tensorType(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }
  RankedTensorType rowsType() { return tensorType({ShapedType::kDynamic, ShapedType::kDynamic, config.hiddenSize}); }
  APFloat eps() const { return APFloat(config.layerNormEps); }
  DictionaryAttr nameAttr(StringRef name) {
    return builder.getDictionaryAttr(builder.getNamedAttr("convbert.name", builder.getStringAttr(name)));
  }

  void buildGlobals();
  RankedTensorType headMaskType(const LayerGeometry &geometry) {
    return tensorType({geometry.heads.attention + geometry.heads.conv});
  }
  func::FuncOp layerFunction(const Checkpoint::Layer &layer);
  void buildLayerBody(func::FuncOp function, const LayerGeometry &geometry);
  void buildForward();
  void nameInputs(func::FuncOp forward, ArrayRef<std::string> names);
  Value buildEmbeddings(Block *entry);
  bool isEncoderOnly() const { return checkpoint.modelClass == ModelClass::EncoderOnly; }
  Value load(const TensorInfo *tensor) { return loadParameter(builder, named(tensor->name), *tensor); }
  void setManifest(func::FuncOp forward, ArrayRef<Output> outputs);

  const Checkpoint &checkpoint;
  const Config &config;
  const ImportOptions &options;
  OpBuilder builder;
  ModuleOp module;
  /// Layers with equal shapes and heads share a function.
  SmallVector<std::pair<LayerHeads, func::FuncOp>> layerFunctions;
};

} // namespace

void ModuleBuilder::buildGlobals() {
  for (const TensorInfo *tensor : checkpoint.parameters()) {
    RankedTensorType type = getStoredType(*tensor, builder.getContext());
    ml_program::GlobalOp::create(builder, named(tensor->name), tensor->name, type, /*is_mutable=*/false,
                                 ml_program::ExternAttr::get(builder.getContext(), type),
                                 builder.getStringAttr("private"));
  }
}

/// The function for a layer's shapes, made on first use in front of `@forward`.
func::FuncOp ModuleBuilder::layerFunction(const Checkpoint::Layer &layer) {
  SmallVector<Type> inputs = {rowsType(), tensorType({ShapedType::kDynamic, ShapedType::kDynamic})};
  if (options.headMask)
    inputs.push_back(headMaskType(layer.geometry));
  for (const TensorInfo *tensor : layer.params)
    if (tensor)
      inputs.push_back(tensorType(tensor->shape));
  for (auto [heads, function] : layerFunctions)
    if (function.getFunctionType().getInputs() == ArrayRef<Type>(inputs) && heads == layer.geometry.heads)
      return function;

  OpBuilder::InsertionGuard guard(builder);
  std::string name = "encoder_layer";
  if (!layerFunctions.empty())
    name += "_" + std::to_string(layerFunctions.size());
  auto function = func::FuncOp::create(builder, named(name), name, builder.getFunctionType(inputs, {}));
  function.setPrivate();
  buildLayerBody(function, layer.geometry);
  layerFunctions.push_back({layer.geometry.heads, function});
  return function;
}

void ModuleBuilder::buildLayerBody(func::FuncOp function, const LayerGeometry &geometry) {
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Value x = entry->getArgument(0), bias = entry->getArgument(1);
  x.setLoc(named("x"));
  bias.setLoc(named("bias"));
  Value headMask = options.headMask ? entry->getArgument(2) : Value();
  if (headMask)
    headMask.setLoc(named("head_mask"));
  std::array<Value, NumLayerParams> p;
  const LayerHeads &heads = geometry.heads;
  unsigned next = headMask ? 3 : 2;
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    if (!hasLayerParam(LayerParam(i), heads))
      continue;
    p[i] = entry->getArgument(next++);
    p[i].setLoc(named(layerParamName(LayerParam(i))));
  }
  // Files keep the unit dimensions of PyTorch's convolutions.
  auto collapse = [&](LayerParam param, ArrayRef<ReassociationIndices> groups) {
    if (p[param])
      p[param] = tensor::CollapseShapeOp::create(builder, p[param].getLoc(), p[param], groups);
  };
  collapse(SpanDepthwise, {{0, 1}, {2}});
  collapse(SpanPointwise, {{0}, {1, 2}});
  collapse(SpanBias, {{0, 1}});

  auto attention = MixedAttentionOp::create(
      builder, named("attention"), x, p[QueryWeight], p[QueryBias], p[KeyWeight], p[KeyBias], p[ValueWeight],
      p[ValueBias], p[SpanDepthwise], p[SpanPointwise], p[SpanBias], p[KernelWeight], p[KernelBias], p[ConvWeight],
      p[ConvBias], p[OutputWeight], p[OutputBias], /*bias=*/heads.attention > 0 ? bias : Value(),
      /*attn_heads=*/heads.attention, /*conv_heads=*/heads.conv, /*head_size=*/geometry.headSize, headMask,
      options.attentions && heads.attention > 0, options.convKernels && heads.conv > 0);
  if (!heads.queryHeads.empty())
    attention.setQueryHeads(heads.queryHeads);
  Value x1 = LayerNormOp::create(builder, named("attention.output.LayerNorm"), attention.getResult(), /*residual=*/x,
                                 p[AttentionNormWeight], p[AttentionNormBias], eps());
  Value f = FeedForwardOp::create(builder, named("feed_forward"), x1, p[UpWeight], p[UpBias], p[DownWeight],
                                  p[DownBias], config.activation);
  Value x2 = LayerNormOp::create(builder, named("output.LayerNorm"), f, /*residual=*/x1, p[OutputNormWeight],
                                 p[OutputNormBias], eps());
  SmallVector<Value> results = {x2};
  llvm::append_range(results, attention.getMaps());
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
}

void ModuleBuilder::nameInputs(func::FuncOp forward, ArrayRef<std::string> names) {
  for (auto [i, name] : llvm::enumerate(names)) {
    forward.setArgAttrs(i, nameAttr(name));
    forward.getArgument(i).setLoc(named(name));
  }
}

/// The input of layer 0.
Value ModuleBuilder::buildEmbeddings(Block *entry) {
  Value first = entry->getArgument(0), word;
  if (isEncoderOnly())
    return first;
  if (!options.inputsEmbeds)
    word = load(checkpoint.word);
  Value tables[] = {load(checkpoint.position), load(checkpoint.tokenType), load(checkpoint.normWeight),
                    load(checkpoint.normBias)};
  Value projection, projectionBias;
  if (checkpoint.projectionWeight) {
    projection = load(checkpoint.projectionWeight);
    projectionBias = load(checkpoint.projectionBias);
  }
  return EmbeddingsOp::create(builder, named("embeddings"), /*ids=*/first, /*token_types=*/entry->getArgument(2),
                              /*position_ids=*/entry->getArgument(3), word, tables[0], tables[1], tables[2], tables[3],
                              projection, projectionBias, eps());
}

void ModuleBuilder::buildForward() {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto ids = RankedTensorType::get({dynamic, dynamic}, builder.getI64Type());
  auto mask = RankedTensorType::get({dynamic, dynamic}, builder.getI1Type());
  SmallVector<Type> types = {ids, mask, ids, ids};
  SmallVector<std::string> names = {"input_ids", "attention_mask", "token_type_ids", "position_ids"};
  if (isEncoderOnly()) {
    types = {rowsType(), mask};
    names = {"encoder_input", "attention_mask"};
  } else if (options.inputsEmbeds) {
    types.front() = tensorType({dynamic, dynamic, config.embeddingSize});
    names.front() = "inputs_embeds";
  }
  unsigned firstHeadMask = names.size();
  for (auto [i, layer] : llvm::enumerate(checkpoint.layers)) {
    if (!options.headMask)
      break;
    types.push_back(headMaskType(layer.geometry));
    names.push_back("head_mask." + std::to_string(i));
  }
  auto forward = func::FuncOp::create(builder, named("forward"), "forward", builder.getFunctionType(types, {}));
  // Layer functions go before it.
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = forward.addEntryBlock();
  nameInputs(forward, names);

  builder.setInsertionPointToStart(entry);
  Value bias;
  if (!checkpoint.layers.empty())
    bias = AttentionBiasOp::create(builder, named("attention_mask"), entry->getArgument(1));
  Value x = buildEmbeddings(entry);
  SmallVector<Value> hidden = {x};
  SmallVector<Output> attentions, convKernels;
  for (auto [i, layer] : llvm::enumerate(checkpoint.layers)) {
    SmallVector<Value> operands = {x, bias};
    if (options.headMask)
      operands.push_back(entry->getArgument(firstHeadMask + i));
    for (const TensorInfo *tensor : layer.params)
      if (tensor)
        operands.push_back(load(tensor));
    func::FuncOp function;
    {
      OpBuilder::InsertionGuard before(builder);
      builder.setInsertionPoint(forward);
      function = layerFunction(layer);
    }
    auto call = func::CallOp::create(builder, named("encoder.layer." + Twine(i)), function, operands);
    x = call.getResult(0);
    hidden.push_back(x);
    unsigned next = 1;
    if (options.attentions && layer.geometry.heads.attention > 0)
      attentions.push_back({"attentions." + std::to_string(i), call.getResult(next++)});
    if (options.convKernels && layer.geometry.heads.conv > 0)
      convKernels.push_back({"conv_kernels." + std::to_string(i), call.getResult(next++)});
  }

  SmallVector<Output> outputs;
  buildHead(builder, checkpoint, x, outputs);
  if (options.hiddenStates)
    for (auto [i, state] : llvm::enumerate(hidden))
      outputs.push_back({"hidden_states." + std::to_string(i), state});
  llvm::append_range(outputs, attentions);
  llvm::append_range(outputs, convKernels);

  SmallVector<Value> results;
  for (const Output &output : outputs)
    results.push_back(output.value);
  func::ReturnOp::create(builder, forward.getLoc(), results);
  forward.setType(builder.getFunctionType(entry->getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(outputs))
    forward.setResultAttrs(i, nameAttr(output.name));
  setManifest(forward, outputs);
}

void ModuleBuilder::setManifest(func::FuncOp forward, ArrayRef<Output> outputs) {
  auto entry = [&](StringRef name, RankedTensorType type) { return makeManifestEntry(builder, name, type); };
  SmallVector<Attribute> labels, inputs, results, parameters;
  if (checkpoint.modelClass == ModelClass::SequenceClassification ||
      checkpoint.modelClass == ModelClass::TokenClassification ||
      (isEncoderOnly() && !checkpoint.head.empty() && config.labelsGiven))
    for (int64_t id = 0; id < config.labelCount; ++id)
      labels.push_back(builder.getStringAttr(config.labelName(id)));
  for (BlockArgument argument : forward.getArguments()) {
    auto name = forward.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "convbert.name");
    inputs.push_back(entry(name, cast<RankedTensorType>(argument.getType())));
  }
  for (const Output &output : outputs) {
    auto type = cast<RankedTensorType>(output.value.getType());
    results.push_back(entry(output.name, output.dropsUnit
                                             ? RankedTensorType::get(type.getShape().drop_back(), type.getElementType())
                                             : type));
  }
  for (const TensorInfo *tensor : checkpoint.parameters())
    parameters.push_back(entry(tensor->name, getStoredType(*tensor, builder.getContext())));

  SmallVector<Attribute> layers;
  for (const Checkpoint::Layer &layer : checkpoint.layers) {
    auto count = [&](StringRef name, int64_t heads) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(heads));
    };
    layers.push_back(builder.getDictionaryAttr(
        {count("attention_heads", layer.geometry.heads.attention), count("conv_heads", layer.geometry.heads.conv)}));
  }

  NamedAttrList manifest;
  manifest.set("model_class", builder.getStringAttr(modelClassName(checkpoint.modelClass, config.family)));
  manifest.set("labels", builder.getArrayAttr(labels));
  if (!isEncoderOnly()) {
    manifest.set("vocab_size", builder.getI64IntegerAttr(config.vocabSize));
    manifest.set("max_positions", builder.getI64IntegerAttr(config.maxPositions));
    manifest.set("type_vocab_size", builder.getI64IntegerAttr(config.typeVocabSize));
  }
  manifest.set("hidden_size", builder.getI64IntegerAttr(config.hiddenSize));
  manifest.set("min_row_pitch", builder.getI64IntegerAttr(kMinRowPitch));
  if (!checkpoint.layers.empty() && checkpoint.layers.front().rule)
    manifest.set("head_rule", builder.getStringAttr(headRuleName(*checkpoint.layers.front().rule)));
  manifest.set("layers", builder.getArrayAttr(layers));
  manifest.set("inputs", builder.getArrayAttr(inputs));
  manifest.set("outputs", builder.getArrayAttr(results));
  manifest.set("parameters", builder.getArrayAttr(parameters));
  module->setAttr(kManifestAttrName, manifest.getDictionary(builder.getContext()));
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  module = ModuleOp::create(named(modelClassName(checkpoint.modelClass, config.family)));
  OwningOpRef<ModuleOp> owner(module);
  builder.setInsertionPointToEnd(module.getBody());
  buildGlobals();
  buildForward();
  return owner;
}

OwningOpRef<ModuleOp> buildModule(const Checkpoint &checkpoint, const ImportOptions &options, MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, ConvBERTDialect, func::FuncDialect, linalg::LinalgDialect,
                      ml_program::MLProgramDialect, tensor::TensorDialect>();
  return ModuleBuilder(checkpoint, options, context).build();
}

} // namespace mlir::convbert
