//===- Decompose.cpp - DecomposeOpInterface: dense layers, heads, convolutions -===//

#include "dialect/IR/Decompose.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

static Values one(Value value) { return SmallVector<Value>{value}; }

Location convbert::nameStep(Location loc, StringRef step) {
  auto named = dyn_cast<NameLoc>(loc);
  if (!named)
    return loc;
  return NameLoc::get(StringAttr::get(loc->getContext(), named.getName().getValue() + "." + step), named.getChildLoc());
}

Value convbert::buildDense(OpBuilder &b, Location loc, Value x, Value weight, Value bias, WeightLayout layout,
                           ActivationKind activation) {
  Value y = DenseOp::create(b, loc, x, weight, bias, /*multiplier=*/Value(), layout, ActivationKind::Identity);
  if (activation == ActivationKind::Identity)
    return y;
  return ActivationOp::create(b, loc, y, activation);
}

Values EmbeddingsOp::decompose(OpBuilder &b) {
  Value e = EmbeddingsOp::create(b, getLoc(), getIds(), getTokenTypes(), getPositionIds(), getWord(), getPosition(),
                                 getTypeTable(), getGamma(), getBeta(), Value(), Value(), getEpsAttr());
  return one(buildDense(b, getLoc(), e, getProjection(), getProjectionBias()));
}

Values FeedForwardOp::decompose(OpBuilder &b) {
  auto layer = [&](Location loc, Value x, Value weight, Value bias) -> Value {
    if (cast<RankedTensorType>(weight.getType()).getRank() == 3)
      return GroupedDenseOp::create(b, loc, x, weight, bias, ActivationKind::Identity);
    return buildDense(b, loc, x, weight, bias);
  };
  Location up = nameStep(getLoc(), "up");
  Value h = ActivationOp::create(b, up, layer(up, getX(), getW1(), getB1()), getActivation());
  return one(layer(nameStep(getLoc(), "down"), h, getW2(), getB2()));
}

Values LMHeadOp::decompose(OpBuilder &b) {
  Value h = buildDense(b, getLoc(), getX(), getWeight(), getBias(), WeightLayout::OutIn, ActivationKind::Gelu);
  h = LayerNormOp::create(b, getLoc(), h, /*residual=*/Value(), getGamma(), getBeta(), getEpsAttr());
  return one(buildDense(b, getLoc(), h, getDecoder(), getDecoderBias()));
}

Values ClassifierHeadOp::decompose(OpBuilder &b) {
  Value first = PoolOp::create(b, getLoc(), getX(), PoolKind::First);
  Value h = buildDense(b, getLoc(), first, getW1(), getB1(), WeightLayout::OutIn, getActivation());
  return one(buildDense(b, getLoc(), h, getW2(), getB2()));
}

Values TokenHeadOp::decompose(OpBuilder &b) { return one(buildDense(b, getLoc(), getX(), getWeight(), getBias())); }

Values SpanHeadOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value both = buildDense(b, loc, getX(), getWeight(), getBias());
  SmallVector<Value> logits;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, both), strides(3, b.getIndexAttr(1));
  sizes[2] = b.getIndexAttr(1);
  for (int64_t feature : {0, 1}) {
    SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), b.getIndexAttr(0), b.getIndexAttr(feature)};
    logits.push_back(tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(getStart().getType()), both, offsets,
                                                    sizes, strides));
  }
  return logits;
}

Values ChoiceHeadOp::decompose(OpBuilder &b) {
  Value summary = PoolOp::create(b, getLoc(), getX(), getSummary());
  return one(buildDense(b, getLoc(), summary, getWeight(), getBias()));
}

Values SeparableConv1DOp::decompose(OpBuilder &b) {
  Value z = DepthwiseConv1DOp::create(b, nameStep(getLoc(), "depthwise"), getX(), getDepthwise(),
                                      /*bias=*/Value(), getPadsAttr(), /*stride=*/b.getI64IntegerAttr(1),
                                      getDilationAttr(), getLayoutAttr());
  return one(buildDense(b, nameStep(getLoc(), "pointwise"), z, getPointwise(), getBias(), getLayout()));
}
