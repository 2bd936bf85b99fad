//===- ModelCost.h - Parameters, multiply-accumulates, bytes -----*- C++ -*-===//

#ifndef CONVBERT_LIB_ANALYSIS_MODELCOST_H
#define CONVBERT_LIB_ANALYSIS_MODELCOST_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <map>

namespace mlir::convbert {

/// What the operations of one kind cost in a function, calls included.
struct OpCost {
  /// How often such an operation runs.
  int64_t count = 0;
  /// Multiply-accumulates of all of them.
  int64_t macs = 0;
  /// Bytes that they read and write, each operation by itself.
  int64_t bytes = 0;
};

struct FunctionCost {
  int64_t macs = 0;
  int64_t bytes = 0;
  /// By operation name; only operations with `CostOpInterface`.
  std::map<std::string, OpCost> byOp;
};

/// Elements of all `ml_program.global` operations with ranked tensor types.
int64_t countParameters(ModuleOp module);

/// Multiply-accumulates and bytes of `function` for `batch` sequences of `length` tokens (both at most 65536; sums
/// saturate). Operations in nested regions count once.  Fails with a diagnostic where functions call each other in a
/// circle.
FailureOr<FunctionCost> computeCost(FunctionOpInterface function, int64_t batch, int64_t length);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_ANALYSIS_MODELCOST_H
