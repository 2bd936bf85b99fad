//===- Kernel.h - How kernels are marked ------------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_TRANSFORMS_CPU_KERNEL_H
#define CONVBERT_LIB_TRANSFORMS_CPU_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::convbert {

/// On a function: it is a kernel of this kind, e.g. "dense".
inline constexpr StringLiteral kKernelAttr = "convbert.kernel";
/// On an `i32` argument: the number of threads.
inline constexpr StringLiteral kThreadsAttr = "convbert.threads";
/// On a function: iterations of its parallel loop that are worth a thread (default 1).
inline constexpr StringLiteral kGrainAttr = "convbert.grain";
/// On a function: the numbers of memref arguments whose first dimension is the same rows, which threads may share in
/// place of the iterations of its parallel loop.
inline constexpr StringLiteral kRowsAttr = "convbert.rows";
/// On such a function: rows that are worth a thread.
inline constexpr StringLiteral kRowGrainAttr = "convbert.row_grain";
/// On a parallel loop over tiles: they may have any extent up to the step, so that threads may share within a step.
inline constexpr StringLiteral kAnyExtentAttr = "convbert.any_extent";
/// On a `memref<?xi8>` argument: the temporaries of all threads.
inline constexpr StringLiteral kScratchAttr = "convbert.scratch";
/// On an `index` argument: the number of the thread that runs a task function.
inline constexpr StringLiteral kThreadAttr = "convbert.thread";
/// On a memref argument: for each dimension a size that no caller exceeds, or -1.
inline constexpr StringLiteral kMostAttr = "convbert.most";
/// `(memref<?xi64>) -> index`: bytes of scratch that one thread needs for a shape.
inline constexpr StringLiteral kScratchBytesName = "scratch_bytes";

/// True for a kernel that brings weights into a target's order: it runs once, when a model is loaded.
bool isPackKernel(func::FuncOp function);

/// The argument of `function` that carries `attribute`, or null.
BlockArgument getMarkedArgument(func::FuncOp function, StringRef attribute);

/// The shape argument { B, T_max, row_start[B+1], length[B] }: the last `memref<?xi64>`, or null.
BlockArgument getShapeArgument(func::FuncOp function);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_CPU_KERNEL_H
