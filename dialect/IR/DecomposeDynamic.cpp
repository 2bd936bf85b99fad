//===- DecomposeDynamic.cpp - DecomposeOpInterface: convolutions by heads ---===//

#include "dialect/IR/Decompose.h"
#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

static Values one(Value value) { return SmallVector<Value>{value}; }

static KernelNormAttr getNorm(OpBuilder &b, KernelNorm normalize) {
  return KernelNormAttr::get(b.getContext(), normalize);
}

bool LightConvOp::isDecomposable() {
  bool isWide = getElementTypeOrSelf(getWeight()).getIntOrFloatBitWidth() >= 32;
  return isWide && getNormalize() == KernelNorm::Softmax && getEdge() == Edge::Zero;
}

/// The softmax is algebra of parameters, which is computed before the first sequence comes.
Values LightConvOp::decompose(OpBuilder &b) {
  Value taps = NormalizeTapsOp::create(b, nameStep(getLoc(), "kernel"), getWeight().getType(), getWeight());
  return one(LightConvOp::create(b, getLoc(), getX(), taps, getBias(), getPadsAttr(), getDilationAttr(),
                                 getNorm(b, KernelNorm::None), getEdgeAttr(), getHeadMapAttr()));
}

Values ApplyKernelOp::decompose(OpBuilder &b) {
  Value v = MaskTokensOp::create(b, getLoc(), getV(), getMask());
  auto op = ApplyKernelOp::create(b, getLoc(), v, getTaps(), /*mask=*/Value(), getPadsAttr(), getNormalizeAttr(),
                                  getWithTapsAttr(), getDilationAttr(), getEdgeAttr(), getHeadMapAttr());
  return SmallVector<Value>(op->getResults());
}

/// The taps of `op`.  Only a softmax that leaves taps out has to know where they lie.
template <typename Op> static Value buildTaps(OpBuilder &b, Op op, Value q, Value spanKey, KernelNorm normalize) {
  bool renorm = op.getEdge() == Edge::Renorm;
  return DynamicKernelOp::create(b, nameStep(op.getLoc(), "kernel"), q, op.getWeight(), op.getBias(), spanKey,
                                 op.getHeads(), normalize, op.getLayout(), op.getEdge(),
                                 renorm ? op.getPadsAttr() : DenseI64ArrayAttr(), renorm ? op.getDilation() : 1);
}

/// The convolution of `v` with `taps`, which are normalised.
template <typename Op> static Value buildApply(OpBuilder &b, Op op, Value v, Value taps, Value mask) {
  return ApplyKernelOp::create(b, op.getLoc(), v, taps, mask, op.getPadsAttr(), getNorm(b, KernelNorm::None),
                               /*with_taps=*/UnitAttr(), op.getDilationAttr(),
                               EdgeAttr::get(b.getContext(), Edge::Zero), op.getHeadMapAttr())
      .getResult();
}

Values DynamicConvOp::decompose(OpBuilder &b) {
  Value taps = buildTaps(b, *this, getGeneratorInput(), /*spanKey=*/Value(), getNormalize());
  Value y = buildApply(b, *this, getX(), taps, /*mask=*/Value());
  return one(getChannelBias() ? AddBiasOp::create(b, getLoc(), y, getChannelBias()) : y);
}

Values SpanDynamicConvOp::decompose(OpBuilder &b) {
  Value taps = buildTaps(b, *this, getQ(), getSpanKey(), KernelNorm::Softmax);
  return one(buildApply(b, *this, getV(), taps, getMask()));
}
