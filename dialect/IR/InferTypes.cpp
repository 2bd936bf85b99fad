//===- InferTypes.cpp - Result types from operands and attributes -----------===//

#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// Most results are an operand's type with other features: batch and length stay, also when they are dynamic.
static LogicalResult inferFeatures(Value like, int64_t features, SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(like);
  if (!type || type.getRank() == 0)
    return failure();
  types.push_back(withFeatures(type, features));
  return success();
}

/// `B x C` (or `B x T` where the last two dimensions of `B x T x C` are meant) from `B x T x C`.
static LogicalResult inferShape(Value like, ArrayRef<int64_t> shape, SmallVectorImpl<Type> &types) {
  RankedTensorType type = typeOf(like);
  if (!type)
    return failure();
  types.push_back(type.clone(shape));
  return success();
}

#define INFER(OP)                                                                                                      \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,          \
                                     SmallVectorImpl<Type> &types)

//===----------------------------------------------------------------------===//
// Dense layers, norms, heads
//===----------------------------------------------------------------------===//

INFER(DenseOp) {
  return inferFeatures(adaptor.getX(), ::getOutFeatures(typeOf(adaptor.getWeight()), adaptor.getLayout()), types);
}
INFER(GroupedDenseOp) {
  RankedTensorType weight = typeOf(adaptor.getWeight());
  return inferFeatures(adaptor.getX(), weight.getDimSize(0) * weight.getDimSize(2), types);
}
INFER(LayerNormOp) { return inferFeatures(adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(PoolOp) {
  RankedTensorType x = typeOf(adaptor.getX());
  return inferShape(adaptor.getX(), {x.getDimSize(0), x.getDimSize(2)}, types);
}
INFER(EmbeddingsOp) {
  RankedTensorType ids = typeOf(adaptor.getIds()), word = typeOf(adaptor.getWord());
  int64_t features = adaptor.getProjection() ? typeOf(adaptor.getProjection()).getDimSize(0) : word.getDimSize(1);
  return inferShape(adaptor.getWord(), {ids.getDimSize(0), ids.getDimSize(1), features}, types);
}
INFER(FeedForwardOp) { return inferFeatures(adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(LMHeadOp) { return inferFeatures(adaptor.getX(), typeOf(adaptor.getDecoder()).getDimSize(0), types); }
INFER(ClassifierHeadOp) {
  return inferShape(adaptor.getX(), {typeOf(adaptor.getX()).getDimSize(0), typeOf(adaptor.getW2()).getDimSize(0)},
                    types);
}
INFER(TokenHeadOp) { return inferFeatures(adaptor.getX(), typeOf(adaptor.getWeight()).getDimSize(0), types); }
INFER(SpanHeadOp) {
  RankedTensorType x = typeOf(adaptor.getX());
  types.append(2, x.clone({x.getDimSize(0), x.getDimSize(1)}));
  return success();
}
INFER(ChoiceHeadOp) { return inferShape(adaptor.getX(), {typeOf(adaptor.getX()).getDimSize(0), 1}, types); }

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

INFER(DepthwiseConv1DOp) { return inferFeatures(adaptor.getX(), getFeatures(adaptor.getX()), types); }
INFER(SeparableConv1DOp) {
  return inferFeatures(adaptor.getX(), ::getOutFeatures(typeOf(adaptor.getPointwise()), adaptor.getLayout()), types);
}
INFER(DynamicKernelOp) {
  RankedTensorType q = typeOf(adaptor.getQ());
  int64_t features = ::getOutFeatures(typeOf(adaptor.getWeight()), adaptor.getLayout()), heads = adaptor.getHeads();
  if (heads < 1 || features % heads != 0)
    return emitOptionalError(location, "requires kernel features that are a multiple of heads, but found ", features,
                             " and ", heads);
  return inferShape(adaptor.getQ(), {q.getDimSize(0), q.getDimSize(1), heads, features / heads}, types);
}
INFER(ApplyKernelOp) { return inferFeatures(adaptor.getV(), getFeatures(adaptor.getV()), types); }
INFER(SpanDynamicConvOp) { return inferFeatures(adaptor.getV(), getFeatures(adaptor.getV()), types); }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

INFER(AttentionBiasOp) {
  types.push_back(RankedTensorType::get(typeOf(adaptor.getMask()).getShape(), Float32Type::get(context)));
  return success();
}
INFER(SelfAttentionOp) {
  return inferFeatures(adaptor.getQ(), getFeatures(adaptor.getV()), types);
}
INFER(MixedAttentionOp) {
  return inferFeatures(adaptor.getX(), ::getOutFeatures(typeOf(adaptor.getWo()), adaptor.getLayout()), types);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

INFER(PackedDenseOp) {
  RankedTensorType rows = typeOf(adaptor.getRows()), panels = typeOf(adaptor.getPanels());
  return inferShape(adaptor.getRows(),
                    {rows.getDimSize(0), rows.getDimSize(1), panels.getDimSize(0), panels.getDimSize(2)}, types);
}
INFER(NormTileOp) {
  if (adaptor.getAddends().empty())
    return emitOptionalError(location, "requires at least one addend");
  return inferFeatures(adaptor.getAddends().front(), getFeatures(adaptor.getAddends().front()), types);
}
INFER(DepthwiseTileOp) {
  RankedTensorType x = typeOf(adaptor.getX()), taps = typeOf(adaptor.getTaps());
  return inferShape(adaptor.getX(), {x.getDimSize(0) - taps.getDimSize(0) + 1, x.getDimSize(1)}, types);
}
INFER(SpanTileOp) {
  RankedTensorType logits = typeOf(adaptor.getLogits()), v = typeOf(adaptor.getV());
  return inferShape(adaptor.getV(), {logits.getDimSize(0), v.getDimSize(1), v.getDimSize(2)}, types);
}
INFER(AttentionTileOp) { return inferFeatures(adaptor.getQ(), getFeatures(adaptor.getValues()), types); }
