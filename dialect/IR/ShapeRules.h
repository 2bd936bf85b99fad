//===- ShapeRules.h - Shape rules shared by inference and verifiers -*- C++ -*-===//
//
// Free functions on types.  Those that can fail report through a function that makes a diagnostic, so that type
// inference (which has a location at most) and verifiers (which have an operation) say the same sentence.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_SHAPERULES_H
#define CONVBERT_DIALECT_IR_SHAPERULES_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::convbert {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// `type` with its last dimension replaced by `features`.
RankedTensorType withFeatures(RankedTensorType type, int64_t features);

/// The last dimension of `value`'s type.
int64_t getFeatures(Value value);

/// Output and input features of a weight of rank 2 stored as `layout` says.
int64_t getOutFeatures(RankedTensorType weight, WeightLayout layout);
int64_t getInFeatures(RankedTensorType weight, WeightLayout layout);

/// Static extents must be equal; a dynamic one agrees with anything.  Says "requires WHAT of EXPECTED, but found FOUND".
LogicalResult requireExtent(EmitError emitError, const Twine &what, int64_t expected, int64_t found);

/// `name` must be a vector of `size` elements.
LogicalResult requireVector(EmitError emitError, StringRef name, Value value, int64_t size);

/// Element types of all floating-point operands must be equal.
LogicalResult requireSameElementType(EmitError emitError, ValueRange values);

/// `pads` must be two non-negative numbers whose sum keeps the number of tokens: `taps - 1`.
LogicalResult requirePads(EmitError emitError, ArrayRef<int64_t> pads, int64_t taps);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_SHAPERULES_H
