//===- CompileCheckpoint.h - From a directory to a shared object -*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H
#define CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H

#include "lib/CAPI/CompileObject.h"
#include "lib/Import/Import.h"

namespace mlir::convbert {

/// The members of `options_json` in convbert-c.h.
struct CompileCheckpointOptions : CompileOptions {
  /// What the entry gives and takes beyond the plain one.
  ImportOptions entry;
  /// All steps become results too, and the result says how they were computed.
  bool steps = false;

  /// Reads a JSON object; an unknown member or a value of the wrong type is an error.
  static llvm::Expected<CompileCheckpointOptions> parse(StringRef json);
};

/// Imports the checkpoint in `directory` for the entry that `options` ask for.  What has to be unpacked goes to
/// `cache`.
llvm::Expected<ImportedModel> importEntry(StringRef directory, const CompileCheckpointOptions &options,
                                          const ObjectCache &cache, MLIRContext &context);

/// Imports and compiles the checkpoint in `directory`, or finds its object in the cache.  Returns the JSON text that
/// convbert-c.h documents, or an error of one line.
llvm::Expected<std::string> compileCheckpoint(StringRef directory, const CompileCheckpointOptions &options);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H
