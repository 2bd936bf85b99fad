//===- ModuleFile.h - Modules in files --------------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_MODULEFILE_H
#define CONVBERT_LIB_PIPELINES_MODULEFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::convbert {

/// How a module is written.
struct ModuleFormat {
  bool bytecode = false;
  /// Text with the locations of operations, which name layers and parameters; bytecode always has them.
  bool locations = false;
};

/// Parses the text or bytecode in the file `path` ("-": standard input).  `sources` owns the text, for diagnostics.
/// Fails with an error if the file cannot be opened; returns null after a diagnostic if it does not parse.
llvm::Expected<OwningOpRef<ModuleOp>> readModule(StringRef path, llvm::SourceMgr &sources, MLIRContext &context);

/// Writes `header` (comment lines, for text only) and `module` to `path` ("-": standard output) by way of a temporary
/// file.
llvm::Error writeModule(ModuleOp module, StringRef path, ModuleFormat format = {}, StringRef header = "");

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_MODULEFILE_H
