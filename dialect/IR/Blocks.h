//===- Blocks.h - Parts of tensors along an axis ----------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_BLOCKS_H
#define CONVBERT_DIALECT_IR_BLOCKS_H

#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// `size` elements of `tensor` from `offset` on along `axis`, whose extent is static; `tensor` itself if that is all.
Value extractBlock(OpBuilder &b, Location loc, Value tensor, int64_t axis, int64_t offset, int64_t size);

/// Blocks of `size` elements along `axis`, in the order of `blocks`: neighbours are one slice, several slices are
/// concatenated.  At least one block.
Value selectBlocks(OpBuilder &b, Location loc, Value tensor, int64_t axis, int64_t size, ArrayRef<int64_t> blocks);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_BLOCKS_H
