//===- CheckpointFiles.h - Weight files of a checkpoint directory -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H
#define CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H

#include "lib/Import/Safetensors.h"

namespace mlir::convbert {

/// Lists all tensors of a checkpoint directory, from `model.safetensors` or, where that is absent, from the shards that
/// `model.safetensors.index.json` names.  Names are unique.  Errors (one line, naming the file): no weights, a format
/// that is not read, a shard whose name leaves the directory, a shard that is missing or does not hold what the index
/// says, a tensor in two shards or not in the index.
llvm::Expected<std::vector<TensorInfo>> listCheckpointTensors(llvm::StringRef directory);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CHECKPOINTFILES_H
