//===- Decompose.cpp - DecomposeOpInterface: block operations into step operations -===//

#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

static Values one(Value value) { return SmallVector<Value>{value}; }

static Value dense(OpBuilder &b, Location loc, Value x, Value weight, Value bias,
                   WeightLayout layout = WeightLayout::OutIn,
                   ActivationKind activation = ActivationKind::Identity) {
  Value y = DenseOp::create(b, loc, x, weight, bias, /*multiplier=*/Value(), layout, ActivationKind::Identity);
  if (activation == ActivationKind::Identity)
    return y;
  return ActivationOp::create(b, loc, y, activation);
}

Values EmbeddingsOp::decompose(OpBuilder &b) {
  Value e = EmbeddingsOp::create(b, getLoc(), getIds(), getTokenTypes(), getPositionIds(), getWord(), getPosition(),
                                 getTypeTable(), getGamma(), getBeta(), Value(), Value(), getEpsAttr());
  return one(dense(b, getLoc(), e, getProjection(), getProjectionBias()));
}

Values FeedForwardOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  auto layer = [&](Value x, Value weight, Value bias) -> Value {
    if (cast<RankedTensorType>(weight.getType()).getRank() == 3)
      return GroupedDenseOp::create(b, loc, x, weight, bias, ActivationKind::Identity);
    return dense(b, loc, x, weight, bias);
  };
  Value h = ActivationOp::create(b, loc, layer(getX(), getW1(), getB1()), getActivation());
  return one(layer(h, getW2(), getB2()));
}

Values LMHeadOp::decompose(OpBuilder &b) {
  Value h = dense(b, getLoc(), getX(), getWeight(), getBias(), WeightLayout::OutIn, ActivationKind::Gelu);
  h = LayerNormOp::create(b, getLoc(), h, /*residual=*/Value(), getGamma(), getBeta(), getEpsAttr());
  return one(dense(b, getLoc(), h, getDecoder(), getDecoderBias()));
}

Values ClassifierHeadOp::decompose(OpBuilder &b) {
  Value first = PoolOp::create(b, getLoc(), getX(), PoolKind::First);
  Value h = dense(b, getLoc(), first, getW1(), getB1(), WeightLayout::OutIn, getActivation());
  return one(dense(b, getLoc(), h, getW2(), getB2()));
}

Values TokenHeadOp::decompose(OpBuilder &b) { return one(dense(b, getLoc(), getX(), getWeight(), getBias())); }

Values SpanHeadOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value both = dense(b, loc, getX(), getWeight(), getBias());
  SmallVector<Value> logits;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, both), strides(3, b.getIndexAttr(1));
  sizes[2] = b.getIndexAttr(1);
  for (int64_t feature : {0, 1}) {
    SmallVector<OpFoldResult> offsets{b.getIndexAttr(0), b.getIndexAttr(0), b.getIndexAttr(feature)};
    logits.push_back(tensor::ExtractSliceOp::create(b, loc, cast<RankedTensorType>(getStart().getType()), both,
                                                    offsets, sizes, strides));
  }
  return logits;
}

Values ChoiceHeadOp::decompose(OpBuilder &b) {
  Value summary = PoolOp::create(b, getLoc(), getX(), getSummary());
  return one(dense(b, getLoc(), summary, getWeight(), getBias()));
}

Values SeparableConv1DOp::decompose(OpBuilder &b) {
  Value z = DepthwiseConv1DOp::create(b, getLoc(), getX(), getDepthwise(), getPadsAttr(), getLayoutAttr());
  return one(dense(b, getLoc(), z, getPointwise(), getBias(), getLayout()));
}

Values SpanDynamicConvOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value product = arith::MulFOp::create(b, loc, getSpanKey(), getQ());
  Value taps = DynamicKernelOp::create(b, loc, product, getWeight(), getBias(), getHeads(), KernelNorm::Softmax,
                                       getLayout());
  return one(ApplyKernelOp::create(b, loc, getV(), taps, getPadsAttr(), KernelNormAttr::get(b.getContext(), KernelNorm::None)));
}

Values MixedAttentionOp::decompose(OpBuilder &b) {
  if (getAttnHeads() != getConvHeads())
    return failure(); // TODO(#4): query_heads say which slices of the query each branch reads
  Location loc = getLoc();
  WeightLayout layout = getLayout();
  Value q = dense(b, loc, getX(), getWq(), getBq(), layout);
  Value k = dense(b, loc, getX(), getWk(), getBk(), layout);
  Value v = dense(b, loc, getX(), getWv(), getBv(), layout);
  Value u = dense(b, loc, getX(), getWc(), getBc(), layout);
  int64_t pad = (getTaps() - 1) / 2;
  DenseI64ArrayAttr pads = b.getDenseI64ArrayAttr({pad, pad});
  Value s = SeparableConv1DOp::create(b, loc, getX(), getWd(), getWp(), getBp(), pads, getLayoutAttr());
  Value conv = SpanDynamicConvOp::create(b, loc, q, s, u, getWf(), getBf(), b.getI64IntegerAttr(getConvHeads()), pads,
                                         getLayoutAttr());
  double scale = 1.0 / std::sqrt(static_cast<double>(getHeadSize()));
  Value attn = SelfAttentionOp::create(b, loc, q, k, v, getBias(), b.getI64IntegerAttr(getAttnHeads()),
                                       b.getF64FloatAttr(scale));
  Value both = tensor::ConcatOp::create(b, loc, /*dim=*/2, ValueRange{attn, conv});
  return one(dense(b, loc, both, getWo(), getBo(), layout));
}
