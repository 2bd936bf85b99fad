//===- Config.h - config.json of a checkpoint -------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_CONFIG_H
#define CONVBERT_LIB_IMPORT_CONFIG_H

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Import/ModelFamily.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::convbert {

/// A size in config.json, or its default where the file does not say.
struct ConfigSize {
  const char *key;
  int64_t value;
  bool given = false;

  operator int64_t() const { return value; }
  /// For messages: "hidden_size 256", or "hidden_size 768 (the default; absent from config.json)".
  std::string describe() const;
};

/// Heads that a layer had when it was trained and has no more, by their numbers then, ascending.
struct PrunedHeads {
  llvm::SmallVector<int64_t> attention, conv;
};

/// Our own key of config.json, written by what removes heads: {"<layer>": {"attention": [h, ...], "conv": [h, ...]}}.
/// `num_attention_heads` and the other sizes stay those of the unpruned model.
inline constexpr llvm::StringLiteral kPrunedHeadsKey = "convbert_pruned_heads";

/// The part of config.json that decides about the network.  Defaults are those of the library's ConvBertConfig; sizes
/// that a family does not have are not read.
struct Config {
  /// Path of the file, for messages.
  std::string path;

  ModelFamily family = ModelFamily::ConvBERT;
  /// Whether layers have convolution heads beside the attention heads.
  bool hasConvHeads() const { return family == ModelFamily::ConvBERT; }

  ConfigSize vocabSize{"vocab_size", 30522};
  ConfigSize hiddenSize{"hidden_size", 768};
  ConfigSize numLayers{"num_hidden_layers", 12};
  ConfigSize numHeads{"num_attention_heads", 12};
  ConfigSize headRatio{"head_ratio", 2};
  ConfigSize kernelSize{"conv_kernel_size", 9};
  ConfigSize numGroups{"num_groups", 1};
  ConfigSize intermediateSize{"intermediate_size", 3072};
  /// A constant by default, not the hidden size; BERT has no such key, and the hidden size is meant.
  ConfigSize embeddingSize{"embedding_size", 768};
  ConfigSize maxPositions{"max_position_embeddings", 512};
  ConfigSize typeVocabSize{"type_vocab_size", 2};

  ActivationKind activation = ActivationKind::Gelu;
  double layerNormEps = 1e-12;
  bool tieWordEmbeddings = true;

  /// `architectures[0]`, empty if absent.
  std::string architecture;
  /// Number of labels, and their names by id where the file gives them; others are called `LABEL_<i>`.  (A file may
  /// claim any number, so names are made when the head's shape has confirmed it.)
  int64_t labelCount = 2;
  std::vector<std::string> labels;
  std::string labelName(int64_t id) const { return labels.empty() ? "LABEL_" + std::to_string(id) : labels[id]; }
  /// Whether the number of labels comes from the file (`id2label` or `num_labels`).
  bool labelsGiven = false;

  PoolKind summary = PoolKind::Last;
  bool summaryProjection = false;
  ActivationKind summaryActivation = ActivationKind::Identity;

  /// By layer; those that are not listed have all their heads.
  std::map<int64_t, PrunedHeads> prunedHeads;

  /// Attention heads that unpruned layers really have: `max(1, num_attention_heads / head_ratio)`, or all of them where
  /// there are no convolution heads.
  int64_t builtHeads() const { return hasConvHeads() ? std::max<int64_t>(1, numHeads / headRatio) : numHeads; }
};

/// Reads and checks `path`.  Refused, with a one-line error that names the file and the key: values of a wrong type or
/// out of range, sizes that contradict each other (heads that do not divide the width, groups that do not, an even
/// kernel), another model type, and features that the models do not have or this compiler does not build (pruned heads
/// under the library's key, relative positions, decoders, unknown activations).
llvm::Expected<Config> readConfig(llvm::StringRef path);

/// The same from text; `path` is for messages only.
llvm::Expected<Config> parseConfig(llvm::StringRef text, llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_CONFIG_H
