//===- ModelClass.cpp - The library's classes -------------------*- C++ -*-===//

#include "lib/Import/ModelClass.h"
#include "lib/Import/JSONText.h"

using llvm::StringRef;

namespace mlir::convbert {

static constexpr ModelClass kNamedClasses[] = {ModelClass::Model,
                                               ModelClass::MaskedLM,
                                               ModelClass::SequenceClassification,
                                               ModelClass::TokenClassification,
                                               ModelClass::QuestionAnswering,
                                               ModelClass::MultipleChoice,
                                               ModelClass::PreTraining};

static StringRef classSuffix(ModelClass modelClass) {
  switch (modelClass) {
  case ModelClass::Model:
    return "Model";
  case ModelClass::MaskedLM:
    return "ForMaskedLM";
  case ModelClass::SequenceClassification:
    return "ForSequenceClassification";
  case ModelClass::TokenClassification:
    return "ForTokenClassification";
  case ModelClass::QuestionAnswering:
    return "ForQuestionAnswering";
  case ModelClass::MultipleChoice:
    return "ForMultipleChoice";
  case ModelClass::PreTraining:
    return "ForPreTraining";
  case ModelClass::EncoderOnly:
    break;
  }
  llvm_unreachable("no class of the library");
}

std::string modelClassName(ModelClass modelClass, ModelFamily family) {
  if (modelClass == ModelClass::EncoderOnly)
    return "EncoderOnly";
  return (familyNames(family).className + classSuffix(modelClass)).str();
}

/// Layers, and no table that could make vectors of ids.
static bool isEncoderAlone(const llvm::StringMap<const TensorInfo *> &tensors) {
  bool layers = false;
  for (StringRef name : tensors.keys()) {
    if (name.contains("embeddings."))
      return false;
    layers |= name.contains("layer.0.");
  }
  return layers;
}

/// The class of BERT whose head is among the tensors; its heads share their names.
static llvm::Expected<ModelClass> decideBERTClass(const Config &config,
                                                  const llvm::StringMap<const TensorInfo *> &tensors) {
  if (tensors.contains("cls.predictions.transform.dense.weight"))
    return tensors.contains("cls.seq_relationship.weight") ? ModelClass::PreTraining : ModelClass::MaskedLM;
  if (tensors.contains("qa_outputs.weight"))
    return ModelClass::QuestionAnswering;
  if (!tensors.contains("classifier.weight"))
    return ModelClass::Model;
  return importError(config.path + ": requires architectures to say what 'classifier.weight' is "
                                   "(BertForSequenceClassification, BertForTokenClassification or "
                                   "BertForMultipleChoice), but found none");
}

llvm::Expected<ModelClass> decideModelClass(const Config &config, const llvm::StringMap<const TensorInfo *> &tensors) {
  std::string known;
  for (ModelClass modelClass : kNamedClasses) {
    std::string name = modelClassName(modelClass, config.family);
    if (config.architecture == name)
      return modelClass;
    known += (known.empty() ? "" : ", ") + name;
  }
  if (isEncoderAlone(tensors))
    return ModelClass::EncoderOnly;
  if (!config.architecture.empty())
    return importError(config.path + ": requires architectures to name one of " + known + ", but found " +
                       quoted(config.architecture));
  if (config.family == ModelFamily::BERT)
    return decideBERTClass(config, tensors);
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
    return importError(config.path + ": requires architectures to say what the one row of 'classifier.weight' is (" +
                       modelClassName(ModelClass::MultipleChoice, config.family) + " or " +
                       modelClassName(ModelClass::TokenClassification, config.family) + "), but found none");
  return ModelClass::TokenClassification;
}

} // namespace mlir::convbert
