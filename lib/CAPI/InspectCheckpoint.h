//===- InspectCheckpoint.h - What a checkpoint is ---------------*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_INSPECTCHECKPOINT_H
#define CONVBERT_LIB_CAPI_INSPECTCHECKPOINT_H

#include "lib/CAPI/CompileCheckpoint.h"

namespace mlir::convbert {

/// Imports the checkpoint in `directory` without compiling it.  Returns the JSON text that convbert-c.h documents, or
/// an error of one line.  Of `options`, the outputs and the cache (where deflated weights are unpacked to) are used.
llvm::Expected<std::string> inspectCheckpoint(StringRef directory, const CompileCheckpointOptions &options);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_INSPECTCHECKPOINT_H
