//===- CompileCheckpoint.h - From a directory to a shared object -*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H
#define CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H

#include "lib/Import/Import.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::convbert {

/// The members of `options_json` in convbert-c.h.
struct CompileCheckpointOptions {
  std::string target = "native";
  std::string weights = "f32";
  std::string dtype = "float32";
  /// What the entry gives and takes beyond the plain one.
  ImportOptions entry;
  /// All steps become results too, and the result says how they were computed.
  bool steps = false;
  std::string cacheDirectory;
  std::string dumpDirectory;

  /// Reads a JSON object; an unknown member or a value of the wrong type is an error.
  static llvm::Expected<CompileCheckpointOptions> parse(StringRef json);
};

class ObjectCache;

/// Imports the checkpoint in `directory` for the entry that `options` ask for.  What has to be unpacked goes to
/// `cache`.
llvm::Expected<ImportedModel> importEntry(StringRef directory, const CompileCheckpointOptions &options,
                                          const ObjectCache &cache, MLIRContext &context);

/// Imports and compiles the checkpoint in `directory`, or finds its object in the cache.  Returns the JSON text that
/// convbert-c.h documents, or an error of one line.
llvm::Expected<std::string> compileCheckpoint(StringRef directory, const CompileCheckpointOptions &options);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_COMPILECHECKPOINT_H
