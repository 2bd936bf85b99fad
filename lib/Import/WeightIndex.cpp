//===- WeightIndex.cpp - Indexes of sharded checkpoints ---------*- C++ -*-===//

#include "lib/Import/WeightIndex.h"
#include "lib/Import/JSONText.h"

namespace mlir::convbert {

llvm::Expected<WeightMap> parseIndex(llvm::StringRef text, llvm::StringRef path, llvm::StringRef extension) {
  llvm::Expected<llvm::json::Object> index = parseJSONObject(text, path);
  if (!index)
    return index.takeError();
  const llvm::json::Object *entries = index->getObject("weight_map");
  if (!entries)
    return importError(path + ": requires an object 'weight_map' from tensor names to shards, but found " +
                       (index->get("weight_map") ? describeJSON(*index->get("weight_map")) : "none"));
  WeightMap map;
  for (const auto &[name, value] : *entries) {
    std::optional<llvm::StringRef> shard = value.getAsString();
    if (!shard)
      return importError(path + ": requires 'weight_map' to hold strings, but found " + describeJSON(value) + " for " +
                         quoted(name));
    // A name only: the index must not make us read files elsewhere.
    if (shard->find_first_of("/\\") != llvm::StringRef::npos || !shard->ends_with(extension) || shard->contains('\0'))
      return importError(path + ": requires shards to be names of " + extension +
                         " files beside the index, but found " + quoted(*shard) + " for " + quoted(name) +
                         ", which is not allowed");
    map[name.str()] = shard->str();
  }
  return map;
}

} // namespace mlir::convbert
