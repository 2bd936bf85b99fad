//===- WeightIndex.h - Indexes of sharded checkpoints -----------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_WEIGHTINDEX_H
#define CONVBERT_LIB_IMPORT_WEIGHTINDEX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace mlir::convbert {

/// The shard that each tensor is said to be in, by tensor name.
using WeightMap = std::map<std::string, std::string>;

/// Reads the index of a sharded checkpoint; shards are names of files that end in `extension`.
llvm::Expected<WeightMap> parseIndex(llvm::StringRef text, llvm::StringRef path, llvm::StringRef extension);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_WEIGHTINDEX_H
