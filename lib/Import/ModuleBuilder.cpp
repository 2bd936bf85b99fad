//===- ModuleBuilder.cpp - A checkpoint as block operations -----*- C++ -*-===//

#include "lib/Import/ModuleBuilder.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Import/ParameterLoad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir::convbert {

namespace {

/// A result of `@forward`; its type's dynamic dimensions are, in order, `B` and `T`.
struct Output {
  std::string name;
  Value value;
  /// The last dimension, of size 1, is not part of the shape that users see.
  bool dropsUnit = false;
};

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
  RankedTensorType headMaskType(const LayerGeometry &geometry) { return tensorType({2 * geometry.heads}); }
  func::FuncOp layerFunction(const Checkpoint::Layer &layer);
  void buildLayerBody(func::FuncOp function, const LayerGeometry &geometry);
  void buildForward();
  Value load(const TensorInfo *tensor);
  void buildHead(Value x, SmallVectorImpl<Output> &outputs);
  Value buildChoiceHead(Value x);
  void setManifest(func::FuncOp forward, ArrayRef<Output> outputs);

  const Checkpoint &checkpoint;
  const Config &config;
  const ImportOptions &options;
  OpBuilder builder;
  ModuleOp module;
  /// Layer functions by their type; layers with equal shapes share one.
  SmallVector<func::FuncOp> layerFunctions;
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
    inputs.push_back(tensorType(tensor->shape));
  for (func::FuncOp function : layerFunctions)
    if (function.getFunctionType().getInputs() == ArrayRef<Type>(inputs))
      return function;

  OpBuilder::InsertionGuard guard(builder);
  std::string name = "encoder_layer";
  if (!layerFunctions.empty())
    name += "_" + std::to_string(layerFunctions.size());
  auto function = func::FuncOp::create(builder, named(name), name, builder.getFunctionType(inputs, {}));
  function.setPrivate();
  buildLayerBody(function, layer.geometry);
  layerFunctions.push_back(function);
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
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    p[i] = entry->getArgument((headMask ? 3 : 2) + i);
    p[i].setLoc(named(layerParamName(LayerParam(i))));
  }
  // Files keep the unit dimensions of PyTorch's convolutions.
  auto collapse = [&](LayerParam param, ArrayRef<ReassociationIndices> groups) {
    p[param] = tensor::CollapseShapeOp::create(builder, p[param].getLoc(), p[param], groups);
  };
  collapse(SpanDepthwise, {{0, 1}, {2}});
  collapse(SpanPointwise, {{0}, {1, 2}});
  collapse(SpanBias, {{0, 1}});

  auto attention = MixedAttentionOp::create(
      builder, named("attention"), x, p[QueryWeight], p[QueryBias], p[KeyWeight], p[KeyBias], p[ValueWeight],
      p[ValueBias], p[SpanDepthwise], p[SpanPointwise], p[SpanBias], p[KernelWeight], p[KernelBias], p[ConvWeight],
      p[ConvBias], p[OutputWeight], p[OutputBias], bias, /*attn_heads=*/geometry.heads,
      /*conv_heads=*/geometry.heads, /*head_size=*/geometry.headSize, headMask, options.attentions,
      options.convKernels);
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

Value ModuleBuilder::load(const TensorInfo *tensor) { return loadParameter(builder, named(tensor->name), *tensor); }

/// The logit of a sequence.  Without a summary projection and activation that is one block operation.
Value ModuleBuilder::buildChoiceHead(Value x) {
  Location loc = named("classifier"), summaryLoc = named("sequence_summary");
  SmallVector<Value> p = llvm::map_to_vector(checkpoint.head, [&](const TensorInfo *tensor) { return load(tensor); });
  if (!config.summaryProjection && config.summaryActivation == ActivationKind::Identity)
    return ChoiceHeadOp::create(builder, loc, x, p[0], p[1], config.summary);

  auto dense = [&](Location loc, Value x, Value weight, Value bias, ActivationKind activation) -> Value {
    return DenseOp::create(builder, loc, x, weight, bias, /*multiplier=*/Value(), WeightLayout::OutIn, activation);
  };
  Value summary = PoolOp::create(builder, summaryLoc, x, config.summary);
  if (!config.summaryProjection) {
    summary = ActivationOp::create(builder, summaryLoc, summary, config.summaryActivation);
    return dense(loc, summary, p[0], p[1], ActivationKind::Identity);
  }
  summary = dense(summaryLoc, summary, p[0], p[1], config.summaryActivation);
  return dense(loc, summary, p[2], p[3], ActivationKind::Identity);
}

void ModuleBuilder::buildHead(Value x, SmallVectorImpl<Output> &outputs) {
  if (checkpoint.modelClass == ModelClass::MultipleChoice) {
    outputs.push_back({"logits", buildChoiceHead(x)});
    return;
  }
  SmallVector<Value> p = llvm::map_to_vector(checkpoint.head, [&](const TensorInfo *tensor) { return load(tensor); });
  switch (checkpoint.modelClass) {
  case ModelClass::Model:
    outputs.push_back({"last_hidden_state", x});
    return;
  case ModelClass::MaskedLM:
    outputs.push_back({"logits", LMHeadOp::create(builder, named("generator_predictions"), x, p[0], p[1], p[2], p[3],
                                                  p[4], p[5], eps())});
    return;
  case ModelClass::SequenceClassification:
    outputs.push_back({"logits", ClassifierHeadOp::create(builder, named("classifier"), x, p[0], p[1], p[2], p[3],
                                                          config.activation)});
    return;
  case ModelClass::TokenClassification:
    outputs.push_back({"logits", TokenHeadOp::create(builder, named("classifier"), x, p[0], p[1])});
    return;
  case ModelClass::QuestionAnswering: {
    auto head = SpanHeadOp::create(builder, named("qa_outputs"), x, p[0], p[1]);
    outputs.push_back({"start_logits", head.getStart()});
    outputs.push_back({"end_logits", head.getEnd()});
    return;
  }
  case ModelClass::PreTraining: {
    Location loc = named("discriminator_predictions");
    Value dense =
        DenseOp::create(builder, loc, x, p[0], p[1], /*multiplier=*/Value(), WeightLayout::OutIn, config.activation);
    outputs.push_back({"logits", TokenHeadOp::create(builder, loc, dense, p[2], p[3]), /*dropsUnit=*/true});
    return;
  }
  case ModelClass::MultipleChoice:
    break;
  }
  llvm_unreachable("all classes handled");
}

void ModuleBuilder::buildForward() {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto ids = RankedTensorType::get({dynamic, dynamic}, builder.getI64Type());
  auto mask = RankedTensorType::get({dynamic, dynamic}, builder.getI1Type());
  SmallVector<Type> types = {ids, mask, ids, ids};
  SmallVector<std::string> inputs = {"input_ids", "attention_mask", "token_type_ids", "position_ids"};
  unsigned firstHeadMask = inputs.size();
  for (auto [i, layer] : llvm::enumerate(checkpoint.layers)) {
    if (!options.headMask)
      break;
    types.push_back(headMaskType(layer.geometry));
    inputs.push_back("head_mask." + std::to_string(i));
  }
  auto forward = func::FuncOp::create(builder, named("forward"), "forward", builder.getFunctionType(types, {}));
  // Layer functions go before it.
  OpBuilder::InsertionGuard guard(builder);
  Block *entry = forward.addEntryBlock();
  for (auto [i, name] : llvm::enumerate(inputs)) {
    forward.setArgAttrs(i, nameAttr(name));
    entry->getArgument(i).setLoc(named(name));
  }

  builder.setInsertionPointToStart(entry);
  Value bias;
  if (!checkpoint.layers.empty())
    bias = AttentionBiasOp::create(builder, named("attention_mask"), entry->getArgument(1));
  Value tables[] = {load(checkpoint.word), load(checkpoint.position), load(checkpoint.tokenType),
                    load(checkpoint.normWeight), load(checkpoint.normBias)};
  Value projection, projectionBias;
  if (checkpoint.projectionWeight) {
    projection = load(checkpoint.projectionWeight);
    projectionBias = load(checkpoint.projectionBias);
  }
  Value x =
      EmbeddingsOp::create(builder, named("embeddings"), /*ids=*/entry->getArgument(0),
                           /*token_types=*/entry->getArgument(2), /*position_ids=*/entry->getArgument(3), tables[0],
                           tables[1], tables[2], tables[3], tables[4], projection, projectionBias, eps());
  SmallVector<Value> hidden = {x};
  SmallVector<Output> attentions, convKernels;
  for (auto [i, layer] : llvm::enumerate(checkpoint.layers)) {
    SmallVector<Value> operands = {x, bias};
    if (options.headMask)
      operands.push_back(entry->getArgument(firstHeadMask + i));
    for (const TensorInfo *tensor : layer.params)
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
    if (options.attentions)
      attentions.push_back({"attentions." + std::to_string(i), call.getResult(next++)});
    if (options.convKernels)
      convKernels.push_back({"conv_kernels." + std::to_string(i), call.getResult(next++)});
  }

  SmallVector<Output> outputs;
  buildHead(x, outputs);
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
      checkpoint.modelClass == ModelClass::TokenClassification)
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
    auto heads = builder.getI64IntegerAttr(layer.geometry.heads);
    layers.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("attention_heads", heads), builder.getNamedAttr("conv_heads", heads)}));
  }

  NamedAttrList manifest;
  manifest.set("model_class", builder.getStringAttr(modelClassName(checkpoint.modelClass)));
  manifest.set("labels", builder.getArrayAttr(labels));
  manifest.set("vocab_size", builder.getI64IntegerAttr(config.vocabSize));
  manifest.set("max_positions", builder.getI64IntegerAttr(config.maxPositions));
  manifest.set("type_vocab_size", builder.getI64IntegerAttr(config.typeVocabSize));
  manifest.set("hidden_size", builder.getI64IntegerAttr(config.hiddenSize));
  manifest.set("min_row_pitch", builder.getI64IntegerAttr(kMinRowPitch));
  if (!checkpoint.layers.empty())
    manifest.set("head_rule", builder.getStringAttr(headRuleName(checkpoint.layers.front().rule)));
  manifest.set("layers", builder.getArrayAttr(layers));
  manifest.set("inputs", builder.getArrayAttr(inputs));
  manifest.set("outputs", builder.getArrayAttr(results));
  manifest.set("parameters", builder.getArrayAttr(parameters));
  module->setAttr(kManifestAttrName, manifest.getDictionary(builder.getContext()));
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  module = ModuleOp::create(named(modelClassName(checkpoint.modelClass)));
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
