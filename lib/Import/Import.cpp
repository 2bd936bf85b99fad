//===- Import.cpp - From a checkpoint directory to a module -----*- C++ -*-===//

#include "lib/Import/Import.h"
#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/ModuleBuilder.h"
#include "lib/Import/TensorContents.h"
#include "mlir/IR/Verifier.h"

namespace mlir::convbert {

FailureOr<ImportedModel> importCheckpoint(StringRef directory, const ImportOptions &options, MLIRContext &context,
                                          std::string &error) {
  llvm::Expected<Checkpoint> checkpoint = openCheckpoint(directory);
  if (!checkpoint) {
    error = llvm::toString(checkpoint.takeError());
    return failure();
  }
  if (llvm::Error refusal = checkContents(*checkpoint, options.unpackDirectory)) {
    error = llvm::toString(std::move(refusal));
    return failure();
  }
  ImportedModel model;
  model.module = buildModule(*checkpoint, options, context);
  if (failed(verify(*model.module))) {
    error = (directory + ": the imported module does not verify; this is a bug of the importer").str();
    return failure();
  }
  for (const TensorInfo *tensor : checkpoint->parameters())
    model.weights.push_back({tensor->name,
                             tensor->member && tensor->member->deflated && !options.unpackDirectory ? "" : tensor->file,
                             tensor->offset, tensor->bytes});
  model.files = std::move(checkpoint->files);
  model.notes = std::move(checkpoint->notes);
  return model;
}

} // namespace mlir::convbert
