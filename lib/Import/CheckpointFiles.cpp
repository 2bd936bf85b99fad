//===- CheckpointFiles.cpp - Weight files of a checkpoint directory -*- C++ -*-===//

#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using llvm::Twine;

namespace mlir::convbert {

static std::string joined(llvm::StringRef directory, llvm::StringRef name) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// The shard that each tensor is said to be in, by tensor name.
using WeightMap = std::map<std::string, std::string>;

static llvm::Expected<WeightMap> readIndex(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readSmallFile(path);
  if (!buffer)
    return buffer.takeError();
  llvm::Expected<llvm::json::Object> index = parseJSONObject((*buffer)->getBuffer(), path);
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
    if (shard->find_first_of("/\\") != llvm::StringRef::npos || !shard->ends_with(".safetensors") ||
        shard->contains('\0'))
      return importError(path + ": requires shards to be names of .safetensors files beside the index, but found " +
                         quoted(*shard) + " for " + quoted(name) + ", which is not allowed");
    map[name.str()] = shard->str();
  }
  return map;
}

static llvm::Expected<std::vector<TensorInfo>> readShards(llvm::StringRef directory, llvm::StringRef indexPath) {
  llvm::Expected<WeightMap> map = readIndex(indexPath);
  if (!map)
    return map.takeError();
  std::map<std::string, llvm::StringMap<bool>> shards; // shard -> tensors that the index promises, found or not
  for (const auto &[name, shard] : *map)
    shards[shard].try_emplace(name, false);

  std::vector<TensorInfo> tensors;
  llvm::StringMap<std::string> seenIn;
  for (auto &[shard, promised] : shards) {
    std::string path = joined(directory, shard);
    if (!llvm::sys::fs::exists(path))
      return importError(path + ": shard not found, but " + indexPath + " names it");
    llvm::Expected<std::vector<TensorInfo>> content = readSafetensorsHeader(path);
    if (!content)
      return content.takeError();
    for (TensorInfo &tensor : *content) {
      auto [other, isNew] = seenIn.try_emplace(tensor.name, shard);
      if (!isNew)
        return importError(path + ": tensor " + quoted(tensor.name) + ": requires one shard, but found it in both " +
                           other->second + " and " + shard);
      auto entry = map->find(tensor.name);
      if (entry == map->end())
        return importError(path + ": tensor " + quoted(tensor.name) + " is not listed in " + indexPath);
      if (entry->second != shard)
        return importError(indexPath + ": says that tensor " + quoted(tensor.name) + " is in " + quoted(entry->second) +
                           ", but found it in " + shard);
      promised[tensor.name] = true;
      tensors.push_back(std::move(tensor));
    }
    for (const auto &entry : promised)
      if (!entry.second)
        return importError(path + ": tensor " + quoted(entry.first()) + " not found, but " + indexPath +
                           " says that it is there");
  }
  return tensors;
}

llvm::Expected<std::vector<TensorInfo>> listCheckpointTensors(llvm::StringRef directory) {
  std::string single = joined(directory, "model.safetensors");
  if (llvm::sys::fs::exists(single))
    return readSafetensorsHeader(single);
  std::string index = joined(directory, "model.safetensors.index.json");
  if (llvm::sys::fs::exists(index))
    return readShards(directory, index);

  // TODO(#5): torch .bin files and their shards.
  for (llvm::StringRef other : {"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5"})
    if (llvm::sys::fs::exists(joined(directory, other)))
      return importError(directory + ": requires model.safetensors or model.safetensors.index.json, but found only " +
                         other +
                         ", a format that is not read yet; load it with transformers and save it again with "
                         "save_pretrained(..., safe_serialization=True)");
  return importError(directory + ": requires weights (model.safetensors or model.safetensors.index.json), but found "
                                 "none");
}

} // namespace mlir::convbert
