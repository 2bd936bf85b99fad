//===- TorchZip.cpp - torch.save since 1.6: a zip archive -------*- C++ -*-===//
//
// The archive holds one folder of any name: `data.pkl` (the state dict), `data/<key>` (one storage each), since torch
// 2.1 `byteorder`, and records that do not matter here.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/JSONText.h"
#include "lib/Import/TorchState.h"
#include "lib/Import/ZipArchive.h"
#include "llvm/ADT/StringMap.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

/// The folder that holds data.pkl, with a slash at the end.
static llvm::Expected<StringRef> findFolder(const ZipArchive &archive, StringRef path) {
  const ZipMember *pickle = nullptr;
  for (const ZipMember &member : archive.getMembers()) {
    if (StringRef(member.name).split('/').second != "data.pkl")
      continue;
    if (pickle)
      return importError(path + ": requires one data.pkl, but found more than one: " + quoted(pickle->name) + " and " +
                         quoted(member.name));
    pickle = &member;
  }
  if (!pickle)
    return importError(path + ": requires a record data.pkl (torch.save writes one), but found none in the archive");
  return StringRef(pickle->name).drop_back(strlen("data.pkl"));
}

static Error checkByteOrder(const ZipArchive &archive, StringRef folder, StringRef path) {
  const ZipMember *member = archive.find((folder + "byteorder").str());
  if (!member)
    return Error::success();
  llvm::Expected<std::string> order = archive.read(*member, /*limit=*/64);
  if (!order)
    return order.takeError();
  if (*order != "little")
    return importError(path + ": requires byteorder 'little', but found " + quoted(*order) +
                       "; save the model again on a little-endian machine");
  return Error::success();
}

llvm::Expected<std::vector<TensorInfo>> readTorchZip(const ByteSource &source) {
  StringRef path = source.getPath();
  llvm::Expected<ZipArchive> archive = ZipArchive::open(source);
  if (!archive)
    return archive.takeError();
  llvm::Expected<StringRef> folder = findFolder(*archive, path);
  if (!folder)
    return folder.takeError();
  if (Error failure = checkByteOrder(*archive, *folder, path))
    return std::move(failure);
  std::string pickleName = (*folder + "data.pkl").str();
  llvm::Expected<std::string> pickle = archive->read(*archive->find(pickleName), kMaxPickleBytes);
  if (!pickle)
    return pickle.takeError();
  Unpickler unpickler(*pickle, (path + ": " + pickleName).str(), allowedTorchGlobals());
  llvm::Expected<const PickleValue *> root = unpickler.load();
  if (!root)
    return root.takeError();
  llvm::Expected<std::vector<TorchTensor>> state = readStateDict(**root, path);
  if (!state)
    return state.takeError();

  llvm::StringMap<const ZipMember *> records;
  for (const ZipMember &member : archive->getMembers())
    records[member.name] = &member;
  std::vector<TensorInfo> tensors;
  for (TorchTensor &entry : *state) {
    auto error = [&](const Twine &message) {
      return importError(path + ": tensor " + quoted(entry.name) + ": " + message);
    };
    std::string name = (*folder + "data/" + entry.storageKey).str();
    auto record = records.find(name);
    if (record == records.end())
      return error("record " + quoted(name) + " is missing from the archive");
    const ZipMember &member = *record->second;
    uint64_t width = elementBits(entry.dtype) / 8;
    if (member.bytes % width != 0 || member.bytes / width != uint64_t(entry.storageElements))
      return error("requires a storage of " + Twine(entry.storageElements) + " elements of type " + entry.dtype +
                   ", but found record " + quoted(name) + " with a size of " + Twine(member.bytes) + " bytes");
    TensorInfo tensor;
    tensor.name = std::move(entry.name);
    tensor.dtype = std::move(entry.dtype);
    tensor.file = path.str();
    tensor.member = member;
    // Bytes that must be inflated first are counted from the start of the member.
    if (Error failure =
            setStridedView(tensor, entry.view, entry.storageElements, member.deflated ? 0 : member.dataOffset))
      return importError(path + ": tensor " + quoted(tensor.name) + ": " + llvm::toString(std::move(failure)));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

} // namespace mlir::convbert
