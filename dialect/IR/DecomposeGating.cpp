//===- DecomposeGating.cpp - DecomposeOpInterface: gates --------------------===//

#include "dialect/IR/Decompose.h"
#include "dialect/IR/Parameters.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

static Values one(Value value) { return SmallVector<Value>{value}; }

Values SqueezeExciteOp::decompose(OpBuilder &b) {
  Value s = PoolOp::create(b, nameStep(getLoc(), "mean"), getX(), getMask(), PoolKind::Mean);
  Value h = buildDense(b, nameStep(getLoc(), "squeeze"), s, getW1(), getB1(), getLayout(), ActivationKind::Relu);
  Value g = buildDense(b, nameStep(getLoc(), "excite"), h, getW2(), getB2(), getLayout(), getGate());
  return one(ScaleChannelsOp::create(b, getLoc(), getX(), g));
}

/// `a[m]`, `D x C`.
static Value extractBranch(OpBuilder &b, Location loc, Value a, int64_t m) {
  auto type = cast<RankedTensorType>(a.getType());
  SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0)), sizes = tensor::getMixedSizes(b, loc, a),
                                                           strides(3, b.getIndexAttr(1));
  offsets[0] = b.getIndexAttr(m);
  sizes[0] = b.getIndexAttr(1);
  auto matrix = RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  return tensor::ExtractSliceOp::create(b, loc, matrix, a, offsets, sizes, strides);
}

/// The mean of a sum is the sum of the means: no sum of branches is ever written down.
Values SelectiveKernelOp::decompose(OpBuilder &b) {
  Location mean = nameStep(getLoc(), "mean"), squeeze = nameStep(getLoc(), "squeeze"),
           select = nameStep(getLoc(), "select");
  Value s;
  for (Value branch : getBranches()) {
    Value pooled = PoolOp::create(b, mean, branch, PoolKind::Mean);
    if (s && pooled.getType() != s.getType()) // one type may know the batch, another not
      pooled = tensor::CastOp::create(b, mean, s.getType(), pooled);
    s = s ? arith::AddFOp::create(b, mean, s, pooled).getResult() : pooled;
  }
  // The scale is algebra of parameters, but in what is narrower than f32 it would be rounded with the weights.
  bool isWide = getElementTypeOrSelf(getWz()).getIntOrFloatBitWidth() >= 32, isFolded = !getScale() || isWide;
  Value weight = getScale() && isWide
                     ? buildScaledWeight(b, squeeze, getWz(), getLayout() == WeightLayout::OutIn ? 0 : 1, getScale())
                     : getWz();
  Value z = buildDense(b, squeeze, s, weight, isFolded ? getShift() : Value(), getLayout());
  if (!isFolded) {
    z = ScaleHeadsOp::create(b, squeeze, z, getScale());
    z = getShift() ? AddBiasOp::create(b, squeeze, z, getShift()) : z;
  }
  z = ActivationOp::create(b, squeeze, z, ActivationKind::Relu);
  SmallVector<Value> logits;
  for (size_t m = 0; m < getBranches().size(); ++m)
    logits.push_back(
        buildDense(b, select, z, extractBranch(b, select, getA(), m), /*bias=*/Value(), WeightLayout::InOut));
  return one(SelectBranchesOp::create(b, getLoc(), getBranches(), logits));
}
