//===- ModelClass.h - The library's classes ---------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MODELCLASS_H
#define CONVBERT_LIB_IMPORT_MODELCLASS_H

#include "lib/Import/Config.h"
#include "lib/Import/TensorInfo.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// The library's classes that can be built.
enum class ModelClass {
  Model,
  MaskedLM,
  SequenceClassification,
  TokenClassification,
  QuestionAnswering,
  MultipleChoice,
  /// Tells replaced tokens from original ones, the task that ConvBERT is trained on.  Not a class of the library; it is
  /// called as ELECTRA's would be.
  PreTraining
};

/// The class as `architectures` in config.json writes it: "ConvBertForMaskedLM".
llvm::StringRef modelClassName(ModelClass modelClass);

/// The class that `architectures[0]` names, else the one whose head is among the tensors (by name), else the bare
/// model. Fails for a class that cannot be built, and where a head without an architecture could be that of two
/// classes.
llvm::Expected<ModelClass> decideModelClass(const Config &config, const llvm::StringMap<const TensorInfo *> &tensors);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MODELCLASS_H
