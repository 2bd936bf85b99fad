//===- Parameters.h - Operations on parameters alone ------------*- C++ -*-===//
//
// What these build reads weights, biases and norms and nothing else: it moves to where parameters are packed, and costs
// nothing at run time.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_PARAMETERS_H
#define CONVBERT_DIALECT_IR_PARAMETERS_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// The most numbers of a constant, and products of numbers, that a rewrite computes with.
inline constexpr int64_t kMostNumbers = int64_t(1) << 24;

/// The numbers of a constant weight, if they are finite and not too many.
std::optional<SmallVector<double>> getNumbers(Value weight);

/// A constant weight of `type`; null if a number is too large for its elements.
Value buildConstant(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<double> numbers);

/// `scale = gamma / sqrt(variance + eps)` and `shift = beta - mean * scale`: the norm is `x * scale + shift`.
std::pair<Value, Value> buildScaleAndShift(OpBuilder &b, BatchNormOp op);

/// `weight` with slice `i` along `axis` times `scale[i]`.
Value buildScaledWeight(OpBuilder &b, Location loc, Value weight, int64_t axis, Value scale);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_PARAMETERS_H
