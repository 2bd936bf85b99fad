//===- ScalarMath.h - Scalar functions without library calls ----*- C++ -*-===//
//
// Built from arith and math.fma only, so that the bodies of linalg operations vectorise to any width.  All take and
// return f32; a NaN stays a NaN.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// exp(x) for x <= 0; zero below -87.  Relative error at most 1.2e-7.
Value buildExpOfNonPositive(OpBuilder &builder, Location loc, Value x);

/// The activation `kind` of `x`; errors are listed with each function in Activation.cpp.
Value buildActivation(OpBuilder &builder, Location loc, ActivationKind kind, Value x);

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_SCALARMATH_H
