//===- CheckpointResolver.h - Gives every tensor its place ------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CHECKPOINTRESOLVER_H
#define CONVBERT_LIB_IMPORT_CHECKPOINTRESOLVER_H

#include "lib/Import/Checkpoint.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// A dimension that a tensor must have, and the words for it in messages.
struct Required {
  int64_t size;
  std::string what;

  Required(const ConfigSize &size) : size(size), what(size.describe()) {}
  Required(int64_t size, std::string what) : size(size), what(std::move(what)) {}
};

/// Fills a checkpoint whose configuration and tensors are set.
class CheckpointResolver {
public:
  explicit CheckpointResolver(Checkpoint &checkpoint) : checkpoint(checkpoint), config(checkpoint.config) {
    for (const TensorInfo &tensor : checkpoint.tensors)
      byName.try_emplace(tensor.name, &tensor);
  }

  llvm::Error resolve();

private:
  using Error = llvm::Error;
  using StringRef = llvm::StringRef;
  using Place = const TensorInfo *;

  Error find(StringRef name, bool inBody, bool required, Place &place);
  Error take(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &place);
  Error takePair(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &weight, Place &bias);
  Error takeHead(StringRef name, llvm::ArrayRef<Required> shape);
  Error checkType(const TensorInfo &tensor) const;
  Error checkShape(const TensorInfo &tensor, llvm::ArrayRef<Required> shape) const;
  Error resolveEmbeddings();
  Error resolveLayer(int64_t index);
  Error resolveHead();
  Error resolveBERTHead();
  Error resolveEncoderHead();
  Error resolvePooler();
  Error resolveMaskedLMHead();
  Error ignore(StringRef name, bool inBody, StringRef why);
  Error ignoreBuffers();
  Error refuseRest() const;
  Error refuseOtherFamily() const;

  /// Parameters of the masked language model's head.
  struct LMHeadNames {
    StringRef dense, norm, decoder, bias;
  };
  LMHeadNames lmHeadNames() const;

  std::string where() const;
  Required labelCount() const;

  Checkpoint &checkpoint;
  const Config &config;
  llvm::StringMap<Place> byName;
  llvm::DenseSet<Place> used;
  /// What requires the tensors that are looked up, for messages.
  std::string reason;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CHECKPOINTRESOLVER_H
