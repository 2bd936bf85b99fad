//===- ModelClass.cpp - The library's classes -------------------*- C++ -*-===//

#include "lib/Import/ModelClass.h"
#include "lib/Import/JSONText.h"

using llvm::StringRef;

namespace mlir::convbert {

static constexpr ModelClass kAllClasses[] = {ModelClass::Model,
                                             ModelClass::MaskedLM,
                                             ModelClass::SequenceClassification,
                                             ModelClass::TokenClassification,
                                             ModelClass::QuestionAnswering,
                                             ModelClass::MultipleChoice,
                                             ModelClass::PreTraining};

StringRef modelClassName(ModelClass modelClass) {
  switch (modelClass) {
  case ModelClass::Model:
    return "ConvBertModel";
  case ModelClass::MaskedLM:
    return "ConvBertForMaskedLM";
  case ModelClass::SequenceClassification:
    return "ConvBertForSequenceClassification";
  case ModelClass::TokenClassification:
    return "ConvBertForTokenClassification";
  case ModelClass::QuestionAnswering:
    return "ConvBertForQuestionAnswering";
  case ModelClass::MultipleChoice:
    return "ConvBertForMultipleChoice";
  case ModelClass::PreTraining:
    return "ConvBertForPreTraining";
  }
  llvm_unreachable("all classes handled");
}

llvm::Expected<ModelClass> decideModelClass(const Config &config, const llvm::StringMap<const TensorInfo *> &tensors) {
  if (!config.architecture.empty()) {
    // TODO(#5): BertFor... and ElectraFor..., once layers without convolution heads are built.
    std::string known;
    for (ModelClass modelClass : kAllClasses) {
      if (config.architecture == modelClassName(modelClass))
        return modelClass;
      known += (known.empty() ? "" : ", ") + modelClassName(modelClass).str();
    }
    return importError(config.path + ": requires architectures to name one of " + known + ", but found " +
                       quoted(config.architecture));
  }
  if (tensors.contains("generator_predictions.dense.weight"))
    return ModelClass::MaskedLM;
  if (tensors.contains("classifier.dense.weight"))
    return ModelClass::SequenceClassification;
  if (tensors.contains("discriminator_predictions.dense.weight"))
    return ModelClass::PreTraining;
  if (tensors.contains("qa_outputs.weight"))
    return ModelClass::QuestionAnswering;
  auto classifier = tensors.find("classifier.weight");
  if (classifier == tensors.end())
    return ModelClass::Model;
  // One row may be a tagger with one label or a multiple-choice head.
  if (!classifier->second->shape.empty() && classifier->second->shape.front() == 1)
    return importError(config.path + ": requires architectures to say what the one row of 'classifier.weight' is "
                                     "(ConvBertForMultipleChoice or ConvBertForTokenClassification), but found none");
  return ModelClass::TokenClassification;
}

} // namespace mlir::convbert
