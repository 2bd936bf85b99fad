//===- Describe.h - What a module takes and gives ---------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_CONVBERT_RUN_DESCRIBE_H
#define CONVBERT_TOOLS_CONVBERT_RUN_DESCRIBE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::convbert {

/// The manifest (convbert-rt.h) of the function `entry` of `module`.
///
/// As long as `entry` works on tensors, all is read from the IR: names, types and limits of ids.  Behind phase
/// `outline` nothing is left to read, and the module's attribute `convbert.manifest` is taken at its word.
llvm::Expected<llvm::json::Object> describeModule(ModuleOp module, StringRef entry);

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_CONVBERT_RUN_DESCRIBE_H
