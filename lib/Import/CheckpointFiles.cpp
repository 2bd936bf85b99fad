//===- CheckpointFiles.cpp - Weight files of a checkpoint directory -*- C++ -*-===//

#include "lib/Import/CheckpointFiles.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/NumpyArchive.h"
#include "lib/Import/Safetensors.h"
#include "lib/Import/TensorFlowNames.h"
#include "lib/Import/TorchState.h"
#include "lib/Import/WeightIndex.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using llvm::Twine;

namespace mlir::convbert {

static std::string joined(llvm::StringRef directory, llvm::StringRef name) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

namespace {

/// A kind of weight file, alone or in shards.
struct Container {
  const char *single;
  const char *extension;
  llvm::Expected<std::vector<TensorInfo>> (*read)(llvm::StringRef path);

  std::string index() const { return std::string(single) + ".index.json"; }
};

} // namespace

static llvm::Expected<std::vector<TensorInfo>> readShards(llvm::StringRef directory, const Container &container) {
  std::string indexPath = joined(directory, container.index());
  llvm::Expected<std::string> text = readSmallFile(indexPath);
  if (!text)
    return text.takeError();
  llvm::Expected<WeightMap> map = parseIndex(*text, indexPath, container.extension);
  if (!map)
    return map.takeError();
  std::map<std::string, llvm::StringMap<bool>> shards; // shard -> tensors that the index promises, found or not
  for (const auto &[name, shard] : *map)
    shards[shard].try_emplace(name, false);

  std::vector<TensorInfo> tensors;
  llvm::StringMap<std::string> seenIn;
  for (auto &[shard, promised] : shards) {
    std::string path = joined(directory, shard);
    llvm::Expected<bool> exists = pathExists(path);
    if (!exists)
      return exists.takeError();
    if (!*exists)
      return importError(path + ": shard not found, but " + indexPath + " names it");
    llvm::Expected<std::vector<TensorInfo>> content = container.read(path);
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

/// What to do about a directory that holds weights of another program, by the name of a file (or its end, after `*`).
static std::optional<std::string> findForeignWeights(llvm::StringRef directory) {
  struct Foreign {
    const char *pattern, *advice;
  };
  static const Foreign formats[] = {
      {"tf_model.h5", "convert it (needs transformers 4 and tensorflow): python -c \"from transformers import "
                      "AutoModel; AutoModel.from_pretrained('DIR', from_tf=True).save_pretrained('DIR')\""},
      {"*.ckpt.index", ""},
      {"model.ckpt*.index", ""},
      {"*.pdparams", "download the PyTorch weights of the same model: huggingface-cli download MODEL config.json "
                     "pytorch_model.bin --local-dir 'DIR'"},
      {"*.onnx", "save the model that it was exported from: python -c \"from transformers import AutoModel; "
                 "AutoModel.from_pretrained('MODEL').save_pretrained('DIR')\""},
  };
  std::error_code code;
  std::vector<std::string> names;
  for (llvm::sys::fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code))
    names.push_back(llvm::sys::path::filename(entry->path()).str());
  llvm::sort(names);
  for (const Foreign &format : formats) {
    auto [head, tail] = llvm::StringRef(format.pattern).split('*');
    bool exact = !llvm::StringRef(format.pattern).contains('*');
    for (llvm::StringRef name : names) {
      if (exact ? name != format.pattern : !(name.starts_with(head) && name.ends_with(tail)))
        continue;
      std::string advice = format.advice;
      if (advice.empty()) {
        // A checkpoint of TensorFlow 1 is named by what its files have in common.
        advice = ("convert it: python -c \"import numpy, tensorflow as tf; r = tf.train.load_checkpoint('DIR/" +
                  name.drop_back(strlen(".index")) +
                  "'); numpy.savez('DIR/tf1_arrays.npz', **{n: r.get_tensor(n) for n in "
                  "r.get_variable_to_shape_map()})\"")
                     .str();
      }
      for (size_t at = 0; (at = advice.find("DIR", at)) != std::string::npos; at += directory.size())
        advice.replace(at, 3, directory.str());
      return "found only " + name.str() + ", which is not read; " + advice;
    }
  }
  return std::nullopt;
}

llvm::Expected<std::vector<TensorInfo>> listCheckpointTensors(llvm::StringRef directory) {
  static const Container containers[] = {{"model.safetensors", ".safetensors", readSafetensorsHeader},
                                         {"pytorch_model.bin", ".bin", readTorchFile},
                                         {"tf1_arrays.safetensors", ".safetensors", readSafetensorsHeader},
                                         {"tf1_arrays.npz", ".npz", readNumpyArchive}};
  for (const Container &container : containers) {
    llvm::Expected<bool> single = pathExists(joined(directory, container.single));
    if (!single)
      return single.takeError();
    if (*single)
      return container.read(joined(directory, container.single));
    llvm::Expected<bool> index = pathExists(joined(directory, container.index()));
    if (!index)
      return index.takeError();
    if (*index)
      return readShards(directory, container);
  }
  std::string required = "requires weights (model.safetensors or pytorch_model.bin, or shards and their index)";
  if (std::optional<std::string> foreign = findForeignWeights(directory))
    return importError(directory + ": " + required + ", but " + *foreign);
  return importError(directory + ": " + required + ", but found none");
}

llvm::Expected<OpenedFiles> openFiles(llvm::StringRef directory) {
  llvm::Expected<bool> exists = pathExists(directory);
  if (!exists)
    return exists.takeError();
  if (!*exists || !llvm::sys::fs::is_directory(directory))
    return importError(directory + ": requires a checkpoint directory with config.json and weights, but found " +
                       (*exists ? "a file" : "nothing of that name"));
  std::string path = joined(directory, "config.json");
  llvm::Expected<bool> configExists = pathExists(path);
  if (!configExists)
    return configExists.takeError();
  if (!*configExists)
    return importError(path + ": not found; a checkpoint directory requires a config.json");
  llvm::Expected<Config> config = readConfig(path);
  if (!config)
    return config.takeError();
  llvm::Expected<std::vector<TensorInfo>> tensors = listCheckpointTensors(directory);
  if (!tensors)
    return tensors.takeError();
  OpenedFiles files{std::move(*config), std::move(*tensors), {}};
  if (hasTensorFlowNames(files.tensors))
    files.tensors = renameTensorFlowVariables(std::move(files.tensors), files.config.architecture, files.notes);
  return files;
}

llvm::Expected<Checkpoint> openCheckpoint(llvm::StringRef directory) {
  llvm::Expected<OpenedFiles> files = openFiles(directory);
  if (!files)
    return files.takeError();
  llvm::Expected<Checkpoint> checkpoint = resolveCheckpoint(std::move(files->config), std::move(files->tensors));
  if (checkpoint)
    checkpoint->notes.insert(checkpoint->notes.begin(), files->notes.begin(), files->notes.end());
  return checkpoint;
}

} // namespace mlir::convbert
