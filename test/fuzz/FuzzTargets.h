//===- FuzzTargets.h - What the fuzzers run ---------------------*- C++ -*-===//
//
// One function for each kind of bytes that come from outside.  It must survive any input; what a reader accepts must
// lie inside the input.  The fuzzers run them with sanitizers, a unit test replays the corpora without.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_TEST_FUZZ_FUZZTARGETS_H
#define CONVBERT_TEST_FUZZ_FUZZTARGETS_H

#include "lib/Import/Config.h"
#include "lib/Import/NumpyArchive.h"
#include "lib/Import/Safetensors.h"
#include "lib/Import/TorchState.h"
#include "lib/Import/WeightIndex.h"
#include "lib/Import/ZipArchive.h"
#include <cstdlib>

namespace mlir::convbert::fuzz {

/// A refusal is one line; anything else is a bug.
inline void expectOneLine(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  if (message.empty() || message.find('\n') != std::string::npos)
    std::abort();
}

/// The tensors that a reader accepted lie inside the input.
inline void expectInside(llvm::Expected<std::vector<TensorInfo>> tensors, uint64_t size) {
  if (!tensors)
    return expectOneLine(tensors.takeError());
  for (const TensorInfo &tensor : *tensors) {
    uint64_t end = tensor.member && tensor.member->deflated ? tensor.member->bytes : size;
    if (tensor.offset > end || tensor.bytes > end - tensor.offset)
      std::abort();
    std::optional<int64_t> stored = elementCount(tensor.storedShape());
    if (!stored || uint64_t(*stored) * elementBits(tensor.dtype) / 8 != tensor.bytes)
      std::abort();
  }
}

inline void safetensors(llvm::StringRef bytes) {
  expectInside(readSafetensorsHeader(*openMemory(bytes, "model.safetensors")), bytes.size());
}

inline void index(llvm::StringRef bytes) {
  llvm::Expected<WeightMap> map = parseIndex(bytes, "index.json", ".bin");
  if (!map)
    return expectOneLine(map.takeError());
  for (const auto &[name, shard] : *map)
    if (shard.find('/') != std::string::npos)
      std::abort();
}

inline void config(llvm::StringRef bytes) {
  llvm::Expected<Config> config = parseConfig(bytes, "config.json");
  if (!config)
    return expectOneLine(config.takeError());
  if (config->hiddenSize < 1 || config->kernelSize % 2 == 0 || config->builtHeads() < 1)
    std::abort();
}

/// An archive of torch or NumPy, all of whose members are unpacked; or, after a byte that no archive starts with, the
/// pickle of a state dict alone (the checksums of archives keep a fuzzer out of it).
inline void zipAndPickle(llvm::StringRef bytes) {
  if (bytes.consume_front("\n")) {
    Unpickler unpickler(bytes, "data.pkl", allowedTorchGlobals());
    llvm::Expected<const PickleValue *> root = unpickler.load();
    if (!root)
      return expectOneLine(root.takeError());
    llvm::Expected<std::vector<TorchTensor>> state = readStateDict(**root, "data.pkl");
    if (!state)
      return expectOneLine(state.takeError());
    for (const TorchTensor &entry : *state) {
      TensorInfo tensor;
      tensor.dtype = entry.dtype;
      uint64_t width = elementBits(entry.dtype) / 8;
      int64_t elements = std::min<int64_t>(entry.storageElements, 1 << 20);
      if (llvm::Error failure = setStridedView(tensor, entry.view, elements, /*storageOffset=*/0))
        expectOneLine(std::move(failure));
      else if (tensor.offset > elements * width || tensor.bytes > elements * width - tensor.offset)
        std::abort();
    }
    return;
  }
  auto source = openMemory(bytes, "pytorch_model.bin");
  expectInside(readTorchZip(*source), bytes.size());
  expectInside(readNumpyArchive(*source), bytes.size());
  llvm::Expected<ZipArchive> archive = ZipArchive::open(*source);
  if (!archive)
    return expectOneLine(archive.takeError());
  for (const ZipMember &member : archive->getMembers())
    if (llvm::Expected<std::string> text = archive->read(member, /*limit=*/1 << 16); !text)
      expectOneLine(text.takeError());
}

inline void legacyPickle(llvm::StringRef bytes) {
  expectInside(readTorchLegacy(*openMemory(bytes, "pytorch_model.bin")), bytes.size());
}

struct Target {
  const char *name;
  void (*run)(llvm::StringRef bytes);
};

inline constexpr Target kTargets[] = {{"safetensors", safetensors},
                                      {"index", index},
                                      {"config", config},
                                      {"zip-pickle", zipAndPickle},
                                      {"legacy-pickle", legacyPickle}};

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TEST_FUZZ_FUZZTARGETS_H
