//===- Costs.h - Bytes that an operation moves ------------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_COSTS_H
#define CONVBERT_DIALECT_IR_COSTS_H

#include "mlir/IR/Operation.h"

namespace mlir::convbert {

/// Bytes read and written; the largest number where they do not fit.
struct ByteCount {
  int64_t reads = 0, writes = 0;
};

/// Bytes of all operands and results of `op` for `batch` sequences of `length` tokens: dimension 0 is the batch where
/// it is dynamic, every other dynamic dimension a length.  A float has 4 bytes, what is narrower than a byte has one.
ByteCount countBytes(Operation *op, int64_t batch, int64_t length);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_COSTS_H
