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

Error CheckpointResolver::resolveMaskedLMHead() {
  if (Error failure = takeHead("generator_predictions.dense", {config.embeddingSize, config.hiddenSize}))
    return failure;
  if (Error failure = takeHead("generator_predictions.LayerNorm", {config.embeddingSize}))
    return failure;
  // Where both tables are stored the library keeps both, tied or not.
  Place decoder = nullptr, bias = nullptr;
  if (Error failure = find("generator_lm_head.weight", false, /*required=*/!config.tieWordEmbeddings, decoder))
    return failure;
  if (!decoder) {
    decoder = checkpoint.word;
  } else {
    if (Error failure = checkType(*decoder))
      return failure;
    if (Error failure = checkShape(*decoder, {config.vocabSize, config.embeddingSize}))
      return failure;
  }
  if (Error failure = take("generator_lm_head.bias", false, {config.vocabSize}, bias))
    return failure;
  checkpoint.head.append({decoder, bias});
  return Error::success();
}

Error CheckpointResolver::resolveHead() {
  const Required one(1, "one row"), two(2, "start and end");
  switch (checkpoint.modelClass) {
  case ModelClass::Model:
    return Error::success();
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
