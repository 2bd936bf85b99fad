//===- InferTypes.cpp - Result types from operands and attributes -----------===//
//
// Inference runs in builders and before an operation's own verifier, on whatever operands it is given: extents are
// read with getExtent, and a type that makes no sense is left to the constraints of dialect/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/WindowRules.h"

using namespace mlir;
using namespace mlir::convbert;

using MaybeLocation = std::optional<Location>;

/// A tensor of `shape` with the elements of `like`.
static LogicalResult inferShape(MaybeLocation location, Value like, ArrayRef<int64_t> shape,
                                SmallVectorImpl<Type> &types) {
  auto type = dyn_cast<RankedTensorType>(like.getType());
  if (!type)
    return emitOptionalError(location, "requires a ranked tensor, but found ", like.getType());
  types.push_back(type.clone(shape));
  return success();
}

/// Most results are an operand's type with other features: batch and length stay, also when they are dynamic.
static LogicalResult inferFeatures(MaybeLocation location, Value like, int64_t features, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  if (auto type = dyn_cast<RankedTensorType>(like.getType()); type && type.getRank() > 0)
    shape.append(type.getShape().begin(), std::prev(type.getShape().end()));
  shape.push_back(features);
  return inferShape(location, like, shape, types);
}

/// A number of heads as an extent; dynamic where it is none, for a verifier to complain about (or left out).
static int64_t positiveOrDynamic(IntegerAttr heads) {
  return heads && heads.getInt() > 0 ? heads.getInt() : ShapedType::kDynamic;
}

#define INFER(OP)                                                                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, MaybeLocation location, Adaptor adaptor,                    \
                                     SmallVectorImpl<Type> &types)

//===----------------------------------------------------------------------===//
// Dense layers, norms, heads
//===----------------------------------------------------------------------===//

INFER(DenseOp) {
  int64_t features = ::getOutFeatures(adaptor.getWeight(), adaptor.getLayout());
  return inferFeatures(location, adaptor.getX(), features, types);
}
INFER(GroupedDenseOp) {
  int64_t features = multiplyExtents(getExtent(adaptor.getWeight(), 0), getExtent(adaptor.getWeight(), 2));
  return inferFeatures(location, adaptor.getX(), features, types);
}
INFER(LayerNormOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(PoolOp) {
  Value x = adaptor.getX();
  return inferShape(location, x, {getExtent(x, 0), getFeatures(x)}, types);
}
INFER(EmbeddingsOp) {
  Value ids = adaptor.getIds(), projection = adaptor.getProjection();
  Value table = adaptor.getWord() ? adaptor.getWord() : adaptor.getPosition();
  int64_t features = getExtent(projection ? projection : table, projection ? 0 : 1);
  return inferShape(location, table, {getExtent(ids, 0), getExtent(ids, 1), features}, types);
}
INFER(FeedForwardOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(LMHeadOp) { return inferFeatures(location, adaptor.getX(), getExtent(adaptor.getDecoder(), 0), types); }
INFER(ClassifierHeadOp) {
  Value x = adaptor.getX();
  return inferShape(location, x, {getExtent(x, 0), getExtent(adaptor.getW2(), 0)}, types);
}
INFER(TokenHeadOp) { return inferFeatures(location, adaptor.getX(), getExtent(adaptor.getWeight(), 0), types); }
INFER(SpanHeadOp) {
  Value x = adaptor.getX();
  if (failed(inferShape(location, x, {getExtent(x, 0), getExtent(x, 1)}, types)))
    return failure();
  types.push_back(types.back());
  return success();
}
INFER(ChoiceHeadOp) { return inferShape(location, adaptor.getX(), {getExtent(adaptor.getX(), 0), 1}, types); }

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

INFER(MaskTokensOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
/// The tokens of a convolution with that window, `features` of each.
static LogicalResult inferWindow(MaybeLocation location, Value x, const Window &window, int64_t features,
                                 SmallVectorImpl<Type> &types) {
  return inferShape(location, x, {getExtent(x, 0), window.getLength(getExtent(x, 1)), features}, types);
}
INFER(Conv1DOp) {
  ConvFeatures features = ConvFeatures::get(adaptor.getWeight(), adaptor.getLayout());
  return inferWindow(location, adaptor.getX(), Window::get(adaptor, features.taps), features.out, types);
}
INFER(DepthwiseConv1DOp) {
  Value weight = adaptor.getWeight();
  return inferWindow(location, adaptor.getX(), Window::get(adaptor, getInFeatures(weight, adaptor.getLayout())),
                     ::getOutFeatures(weight, adaptor.getLayout()), types);
}
INFER(BatchNormOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(WeightedSumOp) {
  Value x = adaptor.getX();
  int64_t features = getFeatures(x), blocks = getFeatures(adaptor.getWeights());
  // WEIGHTED_SUM-C1: without it there is no type.
  if (!ShapedType::isDynamic(features) && blocks > 0 && features % blocks != 0)
    return emitOptionalError(location, "requires the features of `x` to be a multiple of the ", blocks,
                             " weights, but found ", features);
  return inferFeatures(location, x, features > 0 && blocks > 0 ? features / blocks : ShapedType::kDynamic, types);
}
INFER(KernelAttentionConvOp) {
  ConvFeatures features = ConvFeatures::get(adaptor.getKernels(), adaptor.getLayout());
  return inferWindow(location, adaptor.getX(), Window::get(adaptor, features.taps), features.out, types);
}
INFER(SeparableConv1DOp) {
  int64_t features = ::getOutFeatures(adaptor.getPointwise(), adaptor.getLayout());
  return inferFeatures(location, adaptor.getX(), features, types);
}
INFER(DynamicKernelOp) {
  Value q = adaptor.getQ();
  int64_t features = ::getOutFeatures(adaptor.getWeight(), adaptor.getLayout());
  IntegerAttr heads = adaptor.getHeadsAttr(); // a builder may leave it out
  int64_t count = heads ? heads.getInt() : 0;
  // DYNAMIC_KERNEL-C1: without it there is no type.
  if (count < 1)
    return emitOptionalError(location, "requires a positive number of heads, but found ", count);
  if (!ShapedType::isDynamic(features) && features % count != 0)
    return emitOptionalError(location, "requires the output features of `weight` to be a multiple of the ", count,
                             " heads, but found ", features);
  int64_t taps = ShapedType::isDynamic(features) ? features : features / count;
  return inferShape(location, q, {getExtent(q, 0), getExtent(q, 1), count, taps}, types);
}
INFER(ApplyKernelOp) {
  if (failed(inferFeatures(location, adaptor.getV(), getFeatures(adaptor.getV()), types)))
    return failure();
  if (adaptor.getWithTaps())
    types.push_back(adaptor.getTaps().getType());
  return success();
}
INFER(SpanDynamicConvOp) { return inferFeatures(location, adaptor.getV(), getFeatures(adaptor.getV()), types); }
INFER(LightConvOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(DynamicConvOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(AddBiasOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

/// The type of the first branch: without one there is no type.
static LogicalResult inferBranch(MaybeLocation location, ValueRange branches, SmallVectorImpl<Type> &types) {
  if (branches.empty())
    return emitOptionalError(location, "requires at least one branch, but found none");
  return inferFeatures(location, branches.front(), getFeatures(branches.front()), types);
}

INFER(ScaleChannelsOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(SqueezeExciteOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(SelectBranchesOp) { return inferBranch(location, adaptor.getBranches(), types); }  // SELECT_BRANCHES-C1
INFER(SelectiveKernelOp) { return inferBranch(location, adaptor.getBranches(), types); } // SELECTIVE_KERNEL-C1

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

INFER(AttentionBiasOp) {
  if (failed(inferShape(location, adaptor.getMask(), {getExtent(adaptor.getMask(), 0), getExtent(adaptor.getMask(), 1)},
                        types)))
    return failure();
  types.back() = cast<RankedTensorType>(types.back()).clone(Float32Type::get(context));
  return success();
}
INFER(ScaleHeadsOp) { return inferFeatures(location, adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(SelfAttentionOp) {
  Value q = adaptor.getQ(), k = adaptor.getK();
  if (failed(inferFeatures(location, q, getFeatures(adaptor.getV()), types)))
    return failure();
  if (!adaptor.getWithProbabilities())
    return success();
  int64_t heads = positiveOrDynamic(adaptor.getHeadsAttr());
  return inferShape(location, q, {getExtent(q, 0), heads, getExtent(q, 1), getExtent(k, 1)}, types);
}
INFER(MixedAttentionOp) {
  Value x = adaptor.getX();
  int64_t batch = getExtent(x, 0), length = getExtent(x, 1);
  if (failed(inferFeatures(location, x, ::getOutFeatures(adaptor.getWo(), adaptor.getLayout()), types)))
    return failure();
  if (adaptor.getWithProbabilities() &&
      failed(inferShape(location, x, {batch, positiveOrDynamic(adaptor.getAttnHeadsAttr()), length, length}, types)))
    return failure();
  if (!adaptor.getWithKernels())
    return success();
  int64_t taps = adaptor.getWd() ? getInFeatures(adaptor.getWd(), adaptor.getLayout()) : ShapedType::kDynamic;
  return inferShape(location, x, {batch, length, positiveOrDynamic(adaptor.getConvHeadsAttr()), taps}, types);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

INFER(PackedDenseOp) {
  Value rows = adaptor.getRows(), panels = adaptor.getPanels();
  return inferShape(location, adaptor.getBias(),
                    {getExtent(rows, 0), getExtent(rows, 1), getExtent(panels, 0), getExtent(panels, 2)}, types);
}
INFER(NormTileOp) {
  // NORM_TILE-C1: without it there is no type.
  if (adaptor.getAddends().empty())
    return emitOptionalError(location, "requires at least one addend, but found none");
  Value addend = adaptor.getAddends().front();
  return inferFeatures(location, addend, getFeatures(addend), types);
}
INFER(DepthwiseTileOp) {
  Value x = adaptor.getX();
  int64_t rows = getExtent(x, 0), taps = getExtent(adaptor.getTaps(), 0);
  bool known = !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(taps);
  // DEPTHWISE_TILE-C2: without it there is no type.
  if (known && rows < taps)
    return emitOptionalError(location, "requires at least as many rows of `x` as taps, but found ", rows, " and ",
                             taps);
  return inferShape(location, x, {known ? rows - taps + 1 : ShapedType::kDynamic, getExtent(x, 1)}, types);
}
INFER(SpanTileOp) {
  Value v = adaptor.getV();
  if (failed(inferShape(location, v, {getExtent(adaptor.getLogits(), 0), getExtent(v, 1), getExtent(v, 2)}, types)))
    return failure();
  if (adaptor.getWithTaps())
    types.push_back(adaptor.getLogits().getType());
  return success();
}
INFER(AttentionTileOp) {
  if (failed(inferFeatures(location, adaptor.getQ(), getFeatures(adaptor.getValues()), types)))
    return failure();
  if (adaptor.getWithProbabilities())
    types.push_back(adaptor.getScores().getType());
  return success();
}
