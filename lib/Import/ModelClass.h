//===- ModelClass.h - The library's classes ---------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MODELCLASS_H
#define CONVBERT_LIB_IMPORT_MODELCLASS_H

#include "lib/Import/Config.h"
#include "lib/Import/TensorInfo.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// The classes that can be built, of every family.
enum class ModelClass {
  Model,
  MaskedLM,
  SequenceClassification,
  TokenClassification,
  QuestionAnswering,
  MultipleChoice,
  /// ConvBERT and ELECTRA: tells replaced tokens from original ones (for ConvBERT not a class of the library; it is
  /// called as ELECTRA's would be).  BERT: masked language model and next sentence at once.
  PreTraining,
  /// Layers alone, which take vectors instead of ids.  No class of the library.
  EncoderOnly
};

/// The class as `architectures` in config.json writes it: "ConvBertForMaskedLM".
std::string modelClassName(ModelClass modelClass, ModelFamily family);

/// The class that `architectures[0]` names, else the one whose head is among the tensors (by name), else the bare
/// model.  Layers without any embeddings are EncoderOnly, unless a class is named.  Fails for a class that cannot be
/// built, and where a head without an architecture could be that of two classes.
llvm::Expected<ModelClass> decideModelClass(const Config &config, const llvm::StringMap<const TensorInfo *> &tensors);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MODELCLASS_H
