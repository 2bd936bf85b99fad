//===- ScalarMath.h - Scalar functions without library calls ----*- C++ -*-===//
//
// For f32 built from arith and math.fma only, so that the bodies of linalg operations vectorise to any width; for f64
// operations of the math dialect.  The result has the type of the argument; a NaN stays a NaN.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// exp(x) for x <= 0.  f32: zero below -87, relative error at most 1.2e-7.
Value buildExpOfNonPositive(OpBuilder &builder, Location loc, Value x);

/// The activation `kind` of `x`; errors of f32 are listed with each function in Activation.cpp.
Value buildActivation(OpBuilder &builder, Location loc, ActivationKind kind, Value x);

/// The same for `x` of type f64.
Value buildActivationF64(OpBuilder &builder, Location loc, ActivationKind kind, Value x);

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H
