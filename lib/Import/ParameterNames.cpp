//===- ParameterNames.cpp - What the parameters of a model are called -----===//

#include "lib/Import/ParameterNames.h"
#include "lib/Import/LayerSchema.h"

using llvm::StringRef;

namespace mlir::convbert {

llvm::SmallVector<std::string, 4> parameterSpellings(StringRef name, bool inBody) {
  llvm::SmallVector<std::string, 2> plain = {name.str()};
  StringRef stem = name;
  if (stem.consume_back("LayerNorm.weight"))
    plain.push_back((stem + "LayerNorm.gamma").str());
  else if (stem.consume_back("LayerNorm.bias"))
    plain.push_back((stem + "LayerNorm.beta").str());
  llvm::SmallVector<std::string, 4> result;
  for (const std::string &spelling : plain) {
    if (inBody)
      result.push_back("convbert." + spelling);
    result.push_back(spelling);
  }
  return result;
}

std::vector<ParameterName> listParameterNames(const Config &config, ModelClass modelClass) {
  std::vector<ParameterName> names;
  bool inBody = true;
  auto add = [&](const llvm::Twine &name) { names.push_back({name.str(), inBody}); };
  auto addPair = [&](const llvm::Twine &name) {
    add(name + ".weight");
    add(name + ".bias");
  };
  for (const char *table : {"word", "position", "token_type"})
    add(llvm::Twine("embeddings.") + table + "_embeddings.weight");
  addPair("embeddings.LayerNorm");
  if (config.embeddingSize != config.hiddenSize)
    addPair("embeddings_project");
  for (int64_t i = 0; i < config.numLayers; ++i)
    for (unsigned param = 0; param < NumLayerParams; ++param)
      add("encoder.layer." + llvm::Twine(i) + "." + layerParamName(LayerParam(param)));
  inBody = false;
  switch (modelClass) {
  case ModelClass::Model:
    break;
  case ModelClass::MaskedLM:
    addPair("generator_predictions.dense");
    addPair("generator_predictions.LayerNorm");
    if (!config.tieWordEmbeddings)
      add("generator_lm_head.weight");
    add("generator_lm_head.bias");
    break;
  case ModelClass::SequenceClassification:
    addPair("classifier.dense");
    addPair("classifier.out_proj");
    break;
  case ModelClass::QuestionAnswering:
    addPair("qa_outputs");
    break;
  case ModelClass::PreTraining:
    addPair("discriminator_predictions.dense");
    addPair("discriminator_predictions.dense_prediction");
    break;
  case ModelClass::MultipleChoice:
    if (config.summaryProjection)
      addPair("sequence_summary.summary");
    [[fallthrough]];
  case ModelClass::TokenClassification:
    addPair("classifier");
    break;
  }
  return names;
}

} // namespace mlir::convbert
