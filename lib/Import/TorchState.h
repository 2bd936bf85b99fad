//===- TorchState.h - State dicts of torch.save -----------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_TORCHSTATE_H
#define CONVBERT_LIB_IMPORT_TORCHSTATE_H

#include "lib/Import/ByteSource.h"
#include "lib/Import/Pickle.h"
#include "lib/Import/TensorInfo.h"

namespace mlir::convbert {

/// The globals that pickles of torch.save may name.
llvm::ArrayRef<llvm::StringRef> allowedTorchGlobals();

/// Largest pickle that is read, in bytes.  That of a 24-layer model has 200 kB.
constexpr uint64_t kMaxPickleBytes = 4u << 20;

/// A tensor of a state dict: a view of a storage that lies elsewhere.
struct TorchTensor {
  std::string name;
  /// Safetensors' tag of the storage's elements.
  std::string dtype;
  /// Names the storage in its container.
  std::string storageKey;
  int64_t storageElements = 0;
  StridedView view;
};

/// What the pickle of a state dict says.  `where` starts the messages.  Errors (one line): anything but a dict from
/// names to tensors, a name twice, an element type that no weight has, numbers out of range.
llvm::Expected<std::vector<TorchTensor>> readStateDict(const PickleValue &root, llvm::StringRef where);

/// Reads the state dict of a file that torch.save wrote: a zip archive, or, from before torch 1.6, pickles with the
/// numbers behind them.  No number is read.  `source` may be hostile.
llvm::Expected<std::vector<TensorInfo>> readTorchFile(const ByteSource &source);

/// The same for a file.
llvm::Expected<std::vector<TensorInfo>> readTorchFile(llvm::StringRef path);

/// The two containers.
llvm::Expected<std::vector<TensorInfo>> readTorchZip(const ByteSource &source);
llvm::Expected<std::vector<TensorInfo>> readTorchLegacy(const ByteSource &source);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_TORCHSTATE_H
