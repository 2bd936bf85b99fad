//===- HeadsBuilder.h - What the removal of heads shares --------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_HEADSBUILDER_H
#define CONVBERT_DIALECT_IR_HEADSBUILDER_H

#include "dialect/IR/ConvBERTOps.h"

namespace mlir::convbert {

/// The heads of `branch`, of `count`, that `removed` leaves, in order.  Reports and fails if one to be removed does not
/// exist.
FailureOr<SmallVector<int64_t>> getKeptHeads(Operation *op, HeadBranch branch, int64_t count, ArrayRef<Head> removed);

/// The heads that stay of an operation that has heads of `branch` only.  Reports and fails where none would be left.
FailureOr<SmallVector<int64_t>> getKeptOfOne(Operation *op, HeadBranch branch, ArrayRef<Head> removed);

/// Another attention head that reads the same slice of the query as `head`.
std::optional<KeepIf> findOtherReader(std::optional<ArrayRef<int64_t>> slices, int64_t head);

/// Which slices of a query `slices` are, each once, in ascending order; `slices` become positions among them.
SmallVector<int64_t> compactSlices(SmallVectorImpl<int64_t> &slices);

/// `slices` as an attribute; null if they are 0, 1, ..., `available - 1`, the default.
DenseI64ArrayAttr getSlicesAttr(Builder &b, ArrayRef<int64_t> slices, int64_t available);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_HEADSBUILDER_H
