//===- HostBody.h - Calls of kernels and of functions, in order -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_HOSTBODY_H
#define CONVBERT_LIB_OUTLINE_HOSTBODY_H

#include "lib/Outline/HostBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// Emits what functions compute, callees before callers, and knows what workspace those converted so far need.
class HostBody {
public:
  HostBody(ModuleOp module, KernelTemplates &kernels) : module(module), kernels(kernels) {}

  /// Kernel calls and calls of converted functions, in order, for the body of `fn`.  `memory` maps tensors of the
  /// function that are no activations to memory.
  LogicalResult emit(func::FuncOp fn, OpBuilder &b, HostBuilder &builder, llvm::function_ref<Value(Value)> memory);

  /// Notes what the arenas of converted function `host` need, those of its callees included.
  void setFootprint(func::FuncOp host, Footprint needs) { footprints[host.getName()] = std::move(needs); }
  /// The most that any callee of `fn` needs.
  Footprint getCalleeFootprint(func::FuncOp fn, const Lengths &lengths) const;

  /// Operations for which kernels have been called.
  unsigned getNumCalls() const { return calls; }

private:
  LogicalResult emitCall(func::CallOp call, OpBuilder &b, HostBuilder &builder, llvm::function_ref<Value(Value)> input);

  ModuleOp module;
  KernelTemplates &kernels;
  llvm::StringMap<Footprint> footprints; ///< by name of the converted function, whose only length is its first
  unsigned calls = 0;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_HOSTBODY_H
