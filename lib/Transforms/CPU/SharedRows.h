//===- SharedRows.h - Rows that threads share -------------------*- C++ -*-===//
//
// The loop of a matrix product passes over panels of weights.  Where their number leaves threads idle - five panels and
// two threads - it may be better that each thread computes all panels for a share of the rows.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_TRANSFORMS_CPU_SHAREDROWS_H
#define CONVBERT_LIB_TRANSFORMS_CPU_SHAREDROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::convbert {

/// The rows of a kernel that is marked `convbert.rows`.  Values are of type index.
class SharedRows {
public:
  /// What `kernel` is marked with, or nothing; the marks are removed.  Fails with a diagnostic on wrong marks.
  static FailureOr<std::optional<SharedRows>> take(func::FuncOp kernel);

  /// How many rows the operands of a call have.
  Value count(OpBuilder &b, Location loc, ValueRange operands) const;
  /// Threads that so many rows are worth.
  Value worth(OpBuilder &b, Location loc, Value rows) const;
  /// Whether `threads` are done earlier with shares of the rows than with shares of the iterations of the loop.
  Value isFaster(OpBuilder &b, Location loc, Value rows, Value iterations, Value threads) const;
  /// The operands of thread `thread` of `team`.
  SmallVector<Value> share(OpBuilder &b, Location loc, ValueRange operands, Value rows, Value thread, Value team) const;

private:
  SmallVector<int64_t> positions; ///< of memref arguments that have rows as their first dimension
  int64_t grain = 1;              ///< rows that are worth a thread
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_CPU_SHAREDROWS_H
