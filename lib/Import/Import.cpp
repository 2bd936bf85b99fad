//===- Import.cpp - From a checkpoint directory to a module -----*- C++ -*-===//

#include "lib/Import/Import.h"
#include "lib/Import/Checkpoint.h"
#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/ModuleBuilder.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::convbert {

static llvm::Expected<Checkpoint> openCheckpoint(StringRef directory) {
  if (!llvm::sys::fs::is_directory(directory))
    return importError(directory + ": requires a checkpoint directory with config.json and weights, but found " +
                       (llvm::sys::fs::exists(directory) ? "a file" : "nothing of that name"));
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, "config.json");
  if (!llvm::sys::fs::exists(path))
    return importError(path + ": not found; a checkpoint directory requires a config.json");
  llvm::Expected<Config> config = readConfig(path);
  if (!config)
    return config.takeError();
  llvm::Expected<std::vector<TensorInfo>> tensors = listCheckpointTensors(directory);
  if (!tensors)
    return tensors.takeError();
  return resolveCheckpoint(std::move(*config), std::move(*tensors));
}

FailureOr<ImportedModel> importCheckpoint(StringRef directory, const ImportOptions &options, MLIRContext &context,
                                          std::string &error) {
  llvm::Expected<Checkpoint> checkpoint = openCheckpoint(directory);
  if (!checkpoint) {
    error = llvm::toString(checkpoint.takeError());
    return failure();
  }
  ImportedModel model;
  model.module = buildModule(*checkpoint, options, context);
  if (failed(verify(*model.module))) {
    error = (directory + ": the imported module does not verify; this is a bug of the importer").str();
    return failure();
  }
  for (const TensorInfo *tensor : checkpoint->parameters())
    model.weights.push_back({tensor->name, tensor->file, tensor->offset, tensor->bytes});
  return model;
}

} // namespace mlir::convbert
