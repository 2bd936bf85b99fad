//===- TorchLegacy.cpp - torch.save before 1.6: pickles, then numbers -----===//
//
// Five pickles: a magic number, a version, a description of the machine, the state dict, the keys of the storages.
// Then, for each key, the number of elements (8 bytes) and the elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/JSONText.h"
#include "lib/Import/TorchState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

namespace {

class LegacyReader {
public:
  explicit LegacyReader(const ByteSource &source) : source(source), path(source.getPath()) {}

  llvm::Expected<std::vector<TensorInfo>> read();

private:
  Error error(const Twine &message) const { return importError(path + ": " + message); }
  Error checkMachine(const PickleValue &info) const;
  Error placeStorages(const PickleValue &keys, uint64_t position);

  struct Storage {
    uint64_t width;
    int64_t elements;
    uint64_t offset = 0;
    bool placed = false;
  };

  const ByteSource &source;
  StringRef path;
  std::vector<TorchTensor> state;
  llvm::StringMap<Storage> storages;
};

} // namespace

Error LegacyReader::checkMachine(const PickleValue &info) const {
  if (info.kind == PickleValue::Dict)
    for (size_t i = 0; i < info.items.size(); i += 2)
      if (info.items[i]->text == "little_endian" && info.items[i + 1]->kind == PickleValue::Bool &&
          info.items[i + 1]->integer)
        return Error::success();
  return error("requires numbers of a little-endian machine, but the file does not say so (" + info.describe() + ")");
}

Error LegacyReader::placeStorages(const PickleValue &keys, uint64_t position) {
  for (const TorchTensor &tensor : state) {
    auto [entry, isNew] =
        storages.try_emplace(tensor.storageKey, Storage{elementBits(tensor.dtype) / 8, tensor.storageElements});
    const Storage &storage = entry->second;
    if (!isNew && (storage.width != elementBits(tensor.dtype) / 8 || storage.elements != tensor.storageElements))
      return error("tensor " + quoted(tensor.name) + ": requires the size and type of its storage " +
                   quoted(tensor.storageKey) + " to be the same as for the tensors before it");
  }
  if (keys.kind != PickleValue::List)
    return error("requires a list of storages behind the state dict, but found " + keys.describe());
  for (const PickleValue *key : keys.items) {
    auto entry = key->kind == PickleValue::String ? storages.find(key->text) : storages.end();
    if (entry == storages.end() || entry->second.placed)
      return error("requires every storage of the state dict once behind it, but found " + key->describe());
    Storage &storage = entry->second;
    char count[8];
    if (Error failure = source.read(count, position))
      return failure;
    uint64_t elements = llvm::support::endian::read64le(count);
    if (elements != uint64_t(storage.elements))
      return error("storage " + quoted(key->text) + ": requires the " + Twine(storage.elements) +
                   " elements of the state dict, but found a count of " + Twine(elements));
    storage.offset = position + 8;
    uint64_t left = source.getSize() - storage.offset;
    if (elements > left / storage.width)
      return error("storage " + quoted(key->text) + ": truncated: requires " + Twine(elements) + " elements of " +
                   Twine(storage.width) + " bytes, but the file ends after " + Twine(left) + " bytes");
    storage.placed = true;
    position = storage.offset + elements * storage.width;
  }
  return Error::success();
}

llvm::Expected<std::vector<TensorInfo>> LegacyReader::read() {
  llvm::Expected<std::string> start = source.read(0, std::min(source.getSize(), kMaxPickleBytes));
  if (!start)
    return start.takeError();
  Unpickler unpickler(*start, path.str(), allowedTorchGlobals());
  const PickleValue *parts[5];
  for (auto [i, part] : llvm::enumerate(parts)) {
    llvm::Expected<const PickleValue *> value = unpickler.load();
    if (!value)
      return value.takeError();
    part = *value;
    // 0x1950a86a20f9469cfc6c, version 1001
    if (i == 0 &&
        (part->kind != PickleValue::BigInt || part->text != StringRef("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10)))
      return error("requires the magic number of torch.save, but found " + part->describe() +
                   ": a pickle of unknown format");
    if (i == 1 && (part->kind != PickleValue::Int || part->integer != 1001))
      return error("requires version 1001 of torch.save's old format, but found " + part->describe());
  }
  if (Error failure = checkMachine(*parts[2]))
    return std::move(failure);
  llvm::Expected<std::vector<TorchTensor>> dict = readStateDict(*parts[3], path);
  if (!dict)
    return dict.takeError();
  state = std::move(*dict);
  if (Error failure = placeStorages(*parts[4], unpickler.getPosition()))
    return std::move(failure);

  std::vector<TensorInfo> tensors;
  for (TorchTensor &entry : state) {
    const Storage &storage = storages.find(entry.storageKey)->second;
    if (!storage.placed)
      return error("tensor " + quoted(entry.name) + ": its storage " + quoted(entry.storageKey) +
                   " is missing behind the state dict");
    TensorInfo tensor;
    tensor.name = std::move(entry.name);
    tensor.dtype = std::move(entry.dtype);
    tensor.file = path.str();
    if (Error failure = setStridedView(tensor, entry.view, entry.storageElements, storage.offset))
      return error("tensor " + quoted(tensor.name) + ": " + llvm::toString(std::move(failure)));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<TensorInfo>> readTorchLegacy(const ByteSource &source) {
  return LegacyReader(source).read();
}

} // namespace mlir::convbert
