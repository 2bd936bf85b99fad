//===- Activation.cpp - Scalar functions without library calls ------------===//

#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Short names for what the formulas below are made of; all values are f32 (doubles go to the math library).
struct Scalar {
  OpBuilder &b;
  Location loc;

  Value constant(double value) const {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) const { return mul(x, constant(y)); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) const { return math::FmaOp::create(b, loc, x, y, z); }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }

  // The unordered comparisons are true for a NaN, which therefore passes; both select to one min or max instruction.
  Value min(Value x, double limit) const {
    Value bound = constant(limit);
    return select(compare(arith::CmpFPredicate::ULT, x, bound), x, bound);
  }
  Value max(Value x, double limit) const {
    Value bound = constant(limit);
    return select(compare(arith::CmpFPredicate::UGT, x, bound), x, bound);
  }

  /// Horner's scheme; coefficients from the constant upwards.
  Value polynomial(Value x, ArrayRef<double> coefficients) const {
    Value sum = constant(coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }

  /// x P(x^2) / Q(x^2) with x clamped to [-limit, limit]: the form for odd functions that saturate.
  Value oddRational(Value x, double limit, ArrayRef<double> p, ArrayRef<double> q) const {
    Value y = max(min(x, limit), -limit);
    Value square = mul(y, y);
    return div(mul(polynomial(square, p), y), polynomial(square, q));
  }
};

} // namespace

/// erf(x), absolute error at most 3.0e-7, exactly 1 from 3.94 on: the tail of GELU is exactly 0.  A plain polynomial in
/// x^2 loses five digits to cancellation.
static Value buildErf(const Scalar &s, Value x) {
  return s.oddRational(x, 3.94,
                       {1.128378987, 1.936066598e-1, 5.315733701e-2, 3.900731681e-3, 2.875472128e-4, 2.019333124e-6},
                       {1.0, 5.049110055e-1, 1.154197454e-1, 1.523737516e-2, 1.194764860e-3, 3.791529525e-5});
}

/// tanh(x), absolute and relative error at most 2.7e-7, exactly 1 from 8.9 on; may exceed 1 by one unit before.
static Value buildTanh(const Scalar &s, Value x) {
  return s.oddRational(x, 8.9, {9.999999404e-1, 1.337988377e-1, 3.494502977e-3, 2.060160841e-5, 1.336351918e-8},
                       {1.0, 4.671318531e-1, 2.587216347e-2, 3.284311679e-4, 7.776126836e-7});
}

Value mlir::convbert::buildExpOfNonPositive(OpBuilder &builder, Location loc, Value x) {
  if (x.getType().isF64())
    return math::ExpOp::create(builder, loc, x);
  Scalar s{builder, loc};
  // exp(x) = 2^n exp(f), n = round(x / ln 2).  Adding 1.5 * 2^23 rounds to an integer that then sits in the low bits;
  // 127 more makes it the biased exponent of 2^n.
  Value magic = s.constant(12582912.0 + 127.0);
  Value shifted = s.fma(x, s.constant(1.44269504), magic);
  Value n = s.sub(shifted, magic);
  // ln 2 in two parts, so that n ln 2 is exact enough.
  Value f = s.fma(n, s.constant(2.12194440e-4), s.fma(n, s.constant(-0.693359375), x));
  Value q = s.polynomial(
      f, {5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4});
  Value mantissa = s.add(s.fma(q, s.mul(f, f), f), s.constant(1.0));
  Type i32 = builder.getI32Type();
  Value bits = arith::BitcastOp::create(builder, loc, i32, shifted);
  Value shift = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(23));
  Value exponent = arith::ShLIOp::create(builder, loc, bits, shift);
  Value power = arith::BitcastOp::create(builder, loc, builder.getF32Type(), exponent);
  Value tiny = s.compare(arith::CmpFPredicate::OLT, x, s.constant(-87.0));
  return s.select(tiny, s.constant(0.0), s.mul(mantissa, power));
}

/// 1 / (1 + exp(-x)), absolute error at most 1.5e-7; the exponential's argument is never positive.
static Value buildSigmoid(const Scalar &s, Value x) {
  Value negated = s.sub(s.constant(0.0), x);
  Value positive = s.compare(arith::CmpFPredicate::OGT, x, s.constant(0.0));
  Value e = buildExpOfNonPositive(s.b, s.loc, s.select(positive, negated, x));
  Value one = s.constant(1.0);
  return s.div(s.select(positive, one, e), s.add(one, e));
}

/// x tanh(log(1 + exp(x))) without logarithm, absolute error 2e-7 |x|: with e = exp(-|x|) the hyperbolic tangent is
/// (1 + 2 e) / (1 + 2 e + 2 e^2) for positive x and (e^2 + 2 e) / (e^2 + 2 e + 2) for others.
static Value buildMish(const Scalar &s, Value x) {
  Value positive = s.compare(arith::CmpFPredicate::OGT, x, s.constant(0.0));
  Value e = buildExpOfNonPositive(s.b, s.loc, s.select(positive, s.sub(s.constant(0.0), x), x));
  Value two = s.constant(2.0), one = s.constant(1.0);
  Value above = s.fma(e, two, one), below = s.mul(e, s.add(e, two));
  Value denominator = s.select(positive, s.fma(s.mul(e, e), two, above), s.add(below, two));
  return s.mul(x, s.div(s.select(positive, above, below), denominator));
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + e) with e = exp(-|x|), relative error 3e-7.  The logarithm is 2 artanh(z) with
/// z = e / (2 + e), at most 1/3: eight terms.
static Value buildSoftplus(const Scalar &s, Value x) {
  Value positive = s.compare(arith::CmpFPredicate::OGT, x, s.constant(0.0));
  Value e = buildExpOfNonPositive(s.b, s.loc, s.select(positive, s.sub(s.constant(0.0), x), x));
  Value z = s.div(e, s.add(e, s.constant(2.0)));
  Value series = s.polynomial(s.mul(z, z), {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15});
  return s.fma(series, z, s.max(x, 0.0));
}

Value mlir::convbert::buildActivation(OpBuilder &builder, Location loc, ActivationKind kind, Value x) {
  if (x.getType().isF64())
    return buildActivationF64(builder, loc, kind, x);
  Scalar s{builder, loc};
  switch (kind) {
  case ActivationKind::Identity:
    return x;
  case ActivationKind::Gelu: { // absolute error 1.5e-7 |x|
    Value half = s.mul(x, 0.5);
    return s.fma(half, buildErf(s, s.mul(x, 0.70710678118654752)), half);
  }
  case ActivationKind::GeluNew: { // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), absolute error 1.4e-7 |x|
    Value half = s.mul(x, 0.5);
    Value inner = s.polynomial(s.mul(x, x), {0.79788456080286536, 0.79788456080286536 * 0.044715});
    return s.fma(half, buildTanh(s, s.mul(x, inner)), half);
  }
  case ActivationKind::Relu:
    return s.max(x, 0.0);
  case ActivationKind::Silu:
    return s.mul(x, buildSigmoid(s, x));
  case ActivationKind::Tanh:
    return s.max(s.min(buildTanh(s, x), 1.0), -1.0);
  case ActivationKind::Selu: { // scale (x > 0 ? x : alpha (exp(x) - 1)), absolute error 2.2e-7
    constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
    Value e = buildExpOfNonPositive(builder, loc, s.min(x, 0.0));
    Value negative = s.mul(s.sub(e, s.constant(1.0)), kScale * kAlpha);
    Value positive = s.compare(arith::CmpFPredicate::OGT, x, s.constant(0.0));
    return s.select(positive, s.mul(x, kScale), negative);
  }
  case ActivationKind::Sigmoid:
    return buildSigmoid(s, x);
  case ActivationKind::Gelu10: {
    Value gelu = buildActivation(builder, loc, ActivationKind::Gelu, x);
    return s.max(s.min(gelu, 10.0), -10.0);
  }
  case ActivationKind::QuickGelu: // x sigmoid(1.702 x)
    return s.mul(x, buildSigmoid(s, s.mul(x, 1.702)));
  case ActivationKind::Relu2: {
    Value positive = s.max(x, 0.0);
    return s.mul(positive, positive);
  }
  case ActivationKind::Relu6:
    return s.min(s.max(x, 0.0), 6.0);
  case ActivationKind::LeakyRelu:
    return s.select(s.compare(arith::CmpFPredicate::UGT, x, s.constant(0.0)), x, s.mul(x, 0.01));
  case ActivationKind::HardSwish: { // x clamp(x + 3, 0, 6) / 6, divided first: no overflow
    Value gate = s.min(s.max(s.add(x, s.constant(3.0)), 0.0), 6.0);
    return s.mul(x, s.mul(gate, 1.0 / 6.0));
  }
  case ActivationKind::Laplace: { // (1 + erf((x - mu) / (sigma sqrt 2))) / 2, absolute error 1.5e-7
    constexpr double kMu = 0.707107, kSigmaRoot2 = 0.282095 * 1.41421356237309505;
    Value erf = buildErf(s, s.mul(s.sub(x, s.constant(kMu)), 1.0 / kSigmaRoot2));
    return s.fma(erf, s.constant(0.5), s.constant(0.5));
  }
  case ActivationKind::Mish:
    return buildMish(s, x);
  case ActivationKind::SqrtSoftplus:
    return math::SqrtOp::create(builder, loc, buildSoftplus(s, x));
  case ActivationKind::HardSigmoid: // clamp(x + 3, 0, 6) / 6
    return s.mul(s.min(s.max(s.add(x, s.constant(3.0)), 0.0), 6.0), 1.0 / 6.0);
  }
  llvm_unreachable("all kinds are covered");
}
