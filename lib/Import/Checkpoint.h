//===- Checkpoint.h - A checkpoint whose every tensor has its place -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CHECKPOINT_H
#define CONVBERT_LIB_IMPORT_CHECKPOINT_H

#include "lib/Import/Config.h"
#include "lib/Import/Geometry.h"
#include "lib/Import/ModelClass.h"
#include "lib/Import/TensorInfo.h"
#include <array>
#include <map>

namespace mlir::convbert {

/// What tells one content of a file from another without reading it.
struct FileStamp {
  uint64_t bytes = 0;
  /// Nanoseconds since 1970.
  uint64_t modified = 0;
};

/// A checkpoint after name resolution: which tensor of which file is which parameter.  All parameters are float32,
/// float16 or bfloat16, have the shape that the configuration asks for, and none is left over.  Pointers point into
/// `tensors`.
struct Checkpoint {
  Config config;
  ModelClass modelClass = ModelClass::Model;
  std::vector<TensorInfo> tensors;

  /// Tables [V,E], [P,E], [Y,E] and their norm [E]; the projection [D,E], [D] is null where E = D.
  const TensorInfo *word = nullptr, *position = nullptr, *tokenType = nullptr;
  const TensorInfo *normWeight = nullptr, *normBias = nullptr;
  const TensorInfo *projectionWeight = nullptr, *projectionBias = nullptr;

  struct Layer {
    /// Null where the layer has no such parameter.
    std::array<const TensorInfo *, NumLayerParams> params{};
    LayerGeometry geometry;
    std::optional<HeadRule> rule;
  };
  std::vector<Layer> layers;

  /// Head parameters in the order of the head's operands.  Masked LM: dense weight and bias, norm weight and bias,
  /// decoder (the word table itself where tied), decoder bias.  Sequence classification: dense and output weight and
  /// bias.  Pre-training: dense and prediction weight and bias.  Token classification, question answering and layers
  /// alone (where they have one): weight and bias.  Multiple choice: the summary projection's weight and bias where the
  /// configuration has one, weight and bias.  BERT: the pooler's weight and bias before those of the head for whole
  /// sequences, and alone for the bare model; pre-training has the masked LM's first.
  llvm::SmallVector<const TensorInfo *, 10> head;

  /// Tensors that the model does not need, and why.
  struct Ignored {
    const TensorInfo *tensor;
    std::string reason;
  };
  std::vector<Ignored> ignored;

  /// What a user should know: one line each.
  std::vector<std::string> notes;

  /// What the files were when their numbers were read, by path (set by checkContents).
  std::map<std::string, FileStamp> files;

  /// Every parameter once, in model order: embeddings, layers, head.
  std::vector<const TensorInfo *> parameters() const;
};

/// Gives every tensor its place.  Names may carry the family's prefix (`convbert.`); norms may be called gamma and
/// beta; the buffers `embeddings.position_ids` and `embeddings.token_type_ids`, and a projection that is not used (E =
/// D), are ignored. The class is `architectures[0]`, else it follows from the head's names.  Errors (one line: file,
/// tensor, found, required): a tensor that is missing, unexpected, ambiguous, of another element type or shape.
llvm::Expected<Checkpoint> resolveCheckpoint(Config config, std::vector<TensorInfo> tensors);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CHECKPOINT_H
