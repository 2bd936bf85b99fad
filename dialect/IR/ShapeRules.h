//===- ShapeRules.h - Shape rules shared by inference and verifiers -*- C++ -*-===//
//
// Free functions on types.  Those that can fail report through a function that makes a diagnostic, so that whoever
// calls them says the same sentence.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_SHAPERULES_H
#define CONVBERT_DIALECT_IR_SHAPERULES_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::convbert {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Dimension `dim` of `value`; dynamic if `value` is no ranked tensor with that dimension, so that type inference,
/// which may run on operands that no verifier has seen, never reads beyond a shape.
int64_t getExtent(Value value, int64_t dim);

/// Products and sums of extents: dynamic if one of them is; the largest number instead of an overflow.
int64_t multiplyExtents(int64_t a, int64_t b);
int64_t addExtents(int64_t a, int64_t b);

/// `type` with its last dimension replaced by `features`.
RankedTensorType withFeatures(RankedTensorType type, int64_t features);

/// 0, 1, ..., count - 1, or `given`.
SmallVector<int64_t> getSlices(std::optional<ArrayRef<int64_t>> given, int64_t count);

/// The last dimension of `value`'s type.
int64_t getFeatures(Value value);

/// Output and input features of a weight of rank 2 stored as `layout` says.  A depthwise weight has its channels for
/// output and its taps for input features.
int64_t getOutFeatures(Value weight, WeightLayout layout);
int64_t getInFeatures(Value weight, WeightLayout layout);
int64_t getOutFeatures(RankedTensorType weight, WeightLayout layout);

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

/// Static extents must be equal; a dynamic one agrees with anything.  Says "requires WHAT to be EXPECTED, but found
/// FOUND".
LogicalResult requireExtent(EmitError emitError, const Twine &what, int64_t expected, int64_t found);

/// The vector `name`, if it is there, must have `size` elements.
LogicalResult requireVector(EmitError emitError, StringRef name, Value value, int64_t size);

/// Batch and length, dimensions 0 and 1 of both, must agree.
LogicalResult requireTokens(EmitError emitError, StringRef name, Value value, Value like);

/// `name` must have a shape that agrees with that of `like` in every dimension.
LogicalResult requireShape(EmitError emitError, StringRef name, Value value, Value like);

/// A dense weight must have `in` input and `out` output features.
LogicalResult requireWeight(EmitError emitError, StringRef name, Value weight, WeightLayout layout, int64_t in,
                            int64_t out);

/// `heads` must be positive and divide `features`, those of `what`.
LogicalResult requireHeads(EmitError emitError, StringRef what, int64_t heads, int64_t features);

/// The attribute `name`, where it is given, must have `count` entries, and its slices, or 0 to `count - 1` without it,
/// must lie among the `available` slices of the query.
LogicalResult requireSlices(EmitError emitError, StringRef name, std::optional<ArrayRef<int64_t>> given, int64_t count,
                            int64_t available);

/// Element types of all floating-point operands must be equal.
LogicalResult requireSameElementType(EmitError emitError, ValueRange values);

/// The same, but the key bias may be f32 beside narrower activations: scores are accumulated in f32, and the lowest f32
/// is no finite f16.
LogicalResult requireElementTypes(EmitError emitError, ValueRange operands, Value bias);

/// `pads` must be two non-negative numbers whose sum keeps the number of tokens: `(taps - 1) * dilation`.
LogicalResult requirePads(EmitError emitError, ArrayRef<int64_t> pads, int64_t taps, int64_t dilation = 1);

/// The epsilon of a norm must be finite and not negative.
LogicalResult requireEps(EmitError emitError, const APFloat &eps);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_SHAPERULES_H
