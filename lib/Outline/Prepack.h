//===- Prepack.h - Packed parameters and the code that makes them -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_PREPACK_H
#define CONVBERT_LIB_OUTLINE_PREPACK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// Collects the parameters that host code reads and emits `@prepack`, which fills them from the checkpoint's tensors.
///
/// A parameter is a tensor that rests on globals alone.  Each has a place in one block of bytes; what computes it is
/// outlined into a kernel of kind `pack`, and parameters that are computed alike share the kernel.
class Prepack {
public:
  explicit Prepack(ModuleOp module) : module(module) {}

  /// The memory of parameter `value`, a view of `packed` (memref<?xi8>): memref of the tensor's shape.
  Value getView(OpBuilder &b, Value packed, Value value);

  /// Emits `@packed_bytes() -> i64`, `@packed_layout() -> i64` (equal for modules that pack the same parameters alike),
  /// `@prepack_steps() -> i64` and `@prepack(raw, packed, step, threads)`.  Must be called while the tensor code of the
  /// parameters still stands.  Reports and fails if a chain cannot be outlined.
  LogicalResult emit();

private:
  struct Source; // what a parameter is computed from
  FailureOr<func::FuncOp> getKernel(Value value, SmallVectorImpl<int64_t> &globals);

  ModuleOp module;
  llvm::MapVector<Value, int64_t> offsets;
  int64_t bytes = 0;
  llvm::StringMap<func::FuncOp> kernels;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_PREPACK_H
