//===- Remarks.h - What the compiler decided --------------------*- C++ -*-===//
//
// MLIR's optimisation remarks.  Categories of this project:
//
//   convbert-outline    [Passed] for every operation, the kernels that compute it
//   convbert-schedule   [Passed] for every kernel, its schedule, instruction set and parameters
//                       [Missed] what a schedule left to scalar loops
//                       [Analysis] which more special schedule there might be, but is not
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_PIPELINES_REMARKS_H
#define CONVBERT_LIB_PIPELINES_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

namespace mlir::convbert {

/// Lets remarks out whose whole category the regular expression `filter` (empty: all) matches: to the YAML file `file`,
/// or, if that is empty, to the diagnostics of `context`.
llvm::Error enableRemarks(MLIRContext &context, StringRef filter, StringRef file);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_REMARKS_H
