//===- CheckpointHeads.cpp - Parameters of heads ----------------*- C++ -*-===//

#include "lib/Import/CheckpointResolver.h"
#include "lib/Import/JSONText.h"

using llvm::Error;
using llvm::StringRef;

namespace mlir::convbert {

Required CheckpointResolver::labelCount() const {
  return {config.labelCount,
          std::to_string(config.labelCount) +
              (config.labelsGiven ? " labels of config.json" : " labels (the default; config.json names none)")};
}

Error CheckpointResolver::takeHead(StringRef name, llvm::ArrayRef<Required> shape) {
  Place weight = nullptr, bias = nullptr;
  if (Error failure = takePair(name, /*inBody=*/false, shape, weight, bias))
    return failure;
  checkpoint.head.append({weight, bias});
  return Error::success();
}

CheckpointResolver::LMHeadNames CheckpointResolver::lmHeadNames() const {
  if (config.family == ModelFamily::BERT)
    return {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder.weight",
            "cls.predictions.bias"};
  return {"generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.weight",
          "generator_lm_head.bias"};
}

Error CheckpointResolver::resolveMaskedLMHead() {
  LMHeadNames names = lmHeadNames();
  if (Error failure = takeHead(names.dense, {config.embeddingSize, config.hiddenSize}))
    return failure;
  if (Error failure = takeHead(names.norm, {config.embeddingSize}))
    return failure;
  // Where both tables are stored the library keeps both, tied or not.
  Place decoder = nullptr, bias = nullptr;
  if (Error failure = find(names.decoder, false, /*required=*/!config.tieWordEmbeddings, decoder))
    return failure;
  if (!decoder) {
    decoder = checkpoint.word;
  } else {
    if (Error failure = checkType(*decoder))
      return failure;
    if (Error failure = checkShape(*decoder, {config.vocabSize, config.embeddingSize}))
      return failure;
  }
  // BERT's may be stored under two names; the one that the matrix is called by is the one that the library adds.
  StringRef biasName = names.bias, second = "cls.predictions.decoder.bias";
  if (config.family == ModelFamily::BERT && byName.contains(second)) {
    std::swap(biasName, second);
    if (Error failure = ignore(second, false, "stored as " + biasName.str() + ", too"))
      return failure;
  }
  if (Error failure = take(biasName, false, {config.vocabSize}, bias))
    return failure;
  checkpoint.head.append({decoder, bias});
  return Error::success();
}

/// What BERT's heads for whole sequences start with.
Error CheckpointResolver::resolvePooler() {
  Place weight = nullptr, bias = nullptr;
  if (Error failure = takePair("pooler.dense", /*inBody=*/true, {config.hiddenSize, config.hiddenSize}, weight, bias))
    return failure;
  checkpoint.head.append({weight, bias});
  return Error::success();
}

Error CheckpointResolver::resolveBERTHead() {
  const Required one(1, "one row"), two(2, "two rows");
  bool hasPooler = byName.contains("pooler.dense.weight") || byName.contains("bert.pooler.dense.weight");
  ModelClass modelClass = checkpoint.modelClass;
  if (modelClass == ModelClass::MaskedLM || modelClass == ModelClass::TokenClassification ||
      modelClass == ModelClass::QuestionAnswering)
    for (StringRef name : {"pooler.dense.weight", "pooler.dense.bias"})
      if (Error failure = ignore(name, /*inBody=*/true, modelClassName(modelClass, config.family) + " has no pooler"))
        return failure;
  switch (modelClass) {
  case ModelClass::Model:
    if (hasPooler)
      return resolvePooler();
    checkpoint.notes.push_back("no pooler among the tensors: pooler_output is not computed");
    return Error::success();
  case ModelClass::MaskedLM:
    // The published checkpoints hold both heads of the pre-training, and are of this class.
    for (StringRef name : {"cls.seq_relationship.weight", "cls.seq_relationship.bias"})
      if (Error failure = ignore(name, /*inBody=*/false, "BertForMaskedLM does not tell the next sentence"))
        return failure;
    return resolveMaskedLMHead();
  case ModelClass::PreTraining:
    if (Error failure = resolveMaskedLMHead())
      return failure;
    if (Error failure = resolvePooler())
      return failure;
    return takeHead("cls.seq_relationship", {two, config.hiddenSize});
  case ModelClass::SequenceClassification:
    if (Error failure = resolvePooler())
      return failure;
    return takeHead("classifier", {labelCount(), config.hiddenSize});
  case ModelClass::MultipleChoice:
    if (Error failure = resolvePooler())
      return failure;
    return takeHead("classifier", {one, config.hiddenSize});
  case ModelClass::TokenClassification:
    return takeHead("classifier", {labelCount(), config.hiddenSize});
  case ModelClass::QuestionAnswering:
    return takeHead("qa_outputs", {Required(2, "start and end"), config.hiddenSize});
  case ModelClass::EncoderOnly:
    return resolveEncoderHead();
  }
  llvm_unreachable("all classes handled");
}

/// Layers alone may have a dense layer on every token behind them.
Error CheckpointResolver::resolveEncoderHead() {
  auto weight = byName.find("decoder.weight");
  if (weight == byName.end())
    return Error::success();
  llvm::ArrayRef<int64_t> shape = weight->second->shape;
  if (!config.labelsGiven && !shape.empty())
    return takeHead("decoder", {Required(shape.front(), "its own rows"), config.hiddenSize});
  return takeHead("decoder", {labelCount(), config.hiddenSize});
}

Error CheckpointResolver::resolveHead() {
  if (config.family == ModelFamily::BERT)
    return resolveBERTHead();
  const Required one(1, "one row"), two(2, "start and end");
  switch (checkpoint.modelClass) {
  case ModelClass::Model:
    return Error::success();
  case ModelClass::EncoderOnly:
    return resolveEncoderHead();
  case ModelClass::MaskedLM:
    return resolveMaskedLMHead();
  case ModelClass::SequenceClassification:
    if (Error failure = takeHead("classifier.dense", {config.hiddenSize, config.hiddenSize}))
      return failure;
    return takeHead("classifier.out_proj", {labelCount(), config.hiddenSize});
  case ModelClass::TokenClassification:
    return takeHead("classifier", {labelCount(), config.hiddenSize});
  case ModelClass::QuestionAnswering:
    return takeHead("qa_outputs", {two, config.hiddenSize});
  case ModelClass::MultipleChoice:
    if (config.summaryProjection)
      if (Error failure = takeHead("sequence_summary.summary", {config.hiddenSize, config.hiddenSize}))
        return failure;
    return takeHead("classifier", {one, config.hiddenSize});
  case ModelClass::PreTraining:
    if (Error failure = takeHead("discriminator_predictions.dense", {config.hiddenSize, config.hiddenSize}))
      return failure;
    return takeHead("discriminator_predictions.dense_prediction", {one, config.hiddenSize});
  }
  llvm_unreachable("all classes handled");
}

} // namespace mlir::convbert
