//===- CheckpointFiles.h - Weight files of a checkpoint directory -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H
#define CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H

#include "lib/Import/Checkpoint.h"

namespace mlir::convbert {

/// Lists all tensors of a checkpoint directory from the first of these that is there, as one file or as shards that
/// `<file>.index.json` names: `model.safetensors`, `pytorch_model.bin`, `tf1_arrays.safetensors`, `tf1_arrays.npz`.
/// Names are unique.  Errors (one line, naming the file): no weights, a format
/// that is not read, a shard whose name leaves the directory, a shard that is missing or does not hold what the index
/// says, a tensor in two shards or not in the index.
llvm::Expected<std::vector<TensorInfo>> listCheckpointTensors(llvm::StringRef directory);

/// What config.json and the headers of a directory's weights say.
struct OpenedFiles {
  Config config;
  std::vector<TensorInfo> tensors;
  /// What a user should know: one line each.
  std::vector<std::string> notes;
};

/// Reads config.json and the headers of the weights of `directory`.  Tensors with the names of the original TensorFlow
/// code are renamed.
llvm::Expected<OpenedFiles> openFiles(llvm::StringRef directory);

/// The same, and gives every tensor its place (Checkpoint.h).
llvm::Expected<Checkpoint> openCheckpoint(llvm::StringRef directory);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H
