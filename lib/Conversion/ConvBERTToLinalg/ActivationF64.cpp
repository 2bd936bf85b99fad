//===- ActivationF64.cpp - Scalar functions of doubles --------------------===//
//
// For references and comparisons, where every digit counts and speed does not: the functions of the math library.
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::convbert;

Value mlir::convbert::buildActivationF64(OpBuilder &b, Location loc, ActivationKind kind, Value x) {
  auto constant = [&](double value) -> Value { return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value)); };
  auto add = [&](Value p, Value q) -> Value { return arith::AddFOp::create(b, loc, p, q); };
  auto mul = [&](Value p, Value q) -> Value { return arith::MulFOp::create(b, loc, p, q); };
  auto negated = [&](Value v) -> Value { return arith::NegFOp::create(b, loc, v); };
  // Unordered: a NaN is taken for positive and passes.
  auto positive = [&](Value v) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, v, constant(0.0));
  };
  auto select = [&](Value condition, Value p, Value q) -> Value {
    return arith::SelectOp::create(b, loc, condition, p, q);
  };
  auto clamp = [&](Value v, double low, double high) -> Value { // maximumf and minimumf let a NaN pass
    Value bounded = arith::MaximumFOp::create(b, loc, v, constant(low));
    return arith::MinimumFOp::create(b, loc, bounded, constant(high));
  };
  auto softplus = [&](Value v) -> Value { // max(x, 0) + log(1 + e) with e = exp(-|x|)
    Value e = math::ExpOp::create(b, loc, negated(math::AbsFOp::create(b, loc, v)));
    // math.log1p becomes log(1 + e), which forgets a small e.  What 1 + e lost to rounding is made good by a factor.
    Value sum = add(constant(1.0), e), log = math::LogOp::create(b, loc, sum);
    Value exact = arith::DivFOp::create(b, loc, mul(log, e), add(sum, constant(-1.0)));
    Value isOne = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, constant(1.0));
    return add(select(positive(v), v, constant(0.0)), select(isOne, e, exact));
  };
  auto sigmoid = [&](Value v) -> Value {
    Value e = math::ExpOp::create(b, loc, negated(v));
    return arith::DivFOp::create(b, loc, constant(1.0), add(constant(1.0), e));
  };
  switch (kind) {
  case ActivationKind::Identity:
    return x;
  case ActivationKind::Gelu: { // x/2 erfc(-x / sqrt 2): 1 + erf would cancel in the left tail
    Value tail = math::ErfcOp::create(b, loc, mul(x, constant(-0.70710678118654752)));
    return mul(mul(x, constant(0.5)), tail);
  }
  case ActivationKind::GeluNew: { // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    constexpr double kScale = 0.79788456080286536;
    Value factor = add(constant(kScale), mul(constant(kScale * 0.044715), mul(x, x)));
    Value tanh = math::TanhOp::create(b, loc, mul(x, factor));
    return mul(mul(x, constant(0.5)), add(constant(1.0), tanh));
  }
  case ActivationKind::Relu:
    return arith::SelectOp::create(b, loc, positive(x), x, constant(0.0));
  case ActivationKind::Silu:
    return mul(x, sigmoid(x));
  case ActivationKind::Tanh:
    return math::TanhOp::create(b, loc, x);
  case ActivationKind::Selu: { // scale (x > 0 ? x : alpha (exp(x) - 1))
    constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
    Value negative = mul(math::ExpM1Op::create(b, loc, x), constant(kScale * kAlpha));
    return arith::SelectOp::create(b, loc, positive(x), mul(x, constant(kScale)), negative);
  }
  case ActivationKind::Sigmoid:
    return sigmoid(x);
  case ActivationKind::Gelu10:
    return clamp(buildActivationF64(b, loc, ActivationKind::Gelu, x), -10.0, 10.0);
  case ActivationKind::QuickGelu:
    return mul(x, sigmoid(mul(x, constant(1.702))));
  case ActivationKind::Relu2: {
    Value relu = select(positive(x), x, constant(0.0));
    return mul(relu, relu);
  }
  case ActivationKind::Relu6:
    return clamp(x, 0.0, 6.0);
  case ActivationKind::LeakyRelu:
    return select(positive(x), x, mul(x, constant(0.01)));
  case ActivationKind::HardSwish: {
    Value gate = clamp(add(x, constant(3.0)), 0.0, 6.0);
    return mul(x, mul(gate, constant(1.0 / 6.0)));
  }
  case ActivationKind::Laplace: { // (1 + erf((x - mu) / (sigma sqrt 2))) / 2 = erfc(...) / 2, which keeps the left tail
    constexpr double kMu = 0.707107, kSigmaRoot2 = 0.282095 * 1.41421356237309505;
    Value argument = mul(add(x, constant(-kMu)), constant(-1.0 / kSigmaRoot2));
    return mul(constant(0.5), math::ErfcOp::create(b, loc, argument));
  }
  case ActivationKind::Mish:
    return mul(x, math::TanhOp::create(b, loc, softplus(x)));
  case ActivationKind::SqrtSoftplus:
    return math::SqrtOp::create(b, loc, softplus(x));
  case ActivationKind::HardSigmoid:
    return mul(clamp(add(x, constant(3.0)), 0.0, 6.0), constant(1.0 / 6.0));
  }
  llvm_unreachable("all kinds are covered");
}
