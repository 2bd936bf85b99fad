//===- Requirements.h - What a function must be like to be outlined -*- C++ -*-===//
//
// The dialect allows more than the CPU kernels can do.  What they cannot do is reported here, before anything is built
// on the assumption.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_REQUIREMENTS_H
#define CONVBERT_LIB_OUTLINE_REQUIREMENTS_H

#include "lib/Outline/WorkspacePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::convbert {

/// Tensors must be small enough that paddings, offsets and bytes can be counted.
LogicalResult requireSizes(func::FuncOp fn);

/// A function must be one block of tensors.  An entry (public) takes tensors of integers or masks, `B x T`.
LogicalResult requireOutlinable(func::FuncOp fn);

/// What an entry returns must be rows of tokens or sequences; what a private function returns must be activations,
/// each in a buffer of its own.
LogicalResult requireResults(func::FuncOp fn, WorkspacePlan &plan);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_REQUIREMENTS_H
