//===- Transfers.h - Between arrays of the caller and the workspace -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_TRANSFERS_H
#define CONVBERT_LIB_OUTLINE_TRANSFERS_H

#include "lib/Outline/HostBuilder.h"

namespace mlir::convbert {

/// Copies the input `value` of the entry `op` from `bytes`, the caller's dense array, to its rows in the workspace.
LogicalResult emitLoad(Operation *op, HostBuilder &host, KernelTemplates &kernels, Value value, Value bytes);

/// Copies the result `value`, which `op` returns, from the workspace to `bytes`, the caller's dense array.
LogicalResult emitStore(Operation *op, HostBuilder &host, KernelTemplates &kernels, Value value, Value bytes);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_TRANSFERS_H
