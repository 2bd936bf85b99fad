//===- ParameterNames.cpp - What the parameters of a model are called -----===//

#include "lib/Import/ParameterNames.h"
#include "lib/Import/Geometry.h"

using llvm::StringRef;

namespace mlir::convbert {

llvm::SmallVector<std::string, 4> parameterSpellings(StringRef name, bool inBody, ModelFamily family) {
  llvm::SmallVector<std::string, 2> plain = {name.str()};
  StringRef stem = name;
  if (stem.consume_back("LayerNorm.weight"))
    plain.push_back((stem + "LayerNorm.gamma").str());
  else if (stem.consume_back("LayerNorm.bias"))
    plain.push_back((stem + "LayerNorm.beta").str());
  llvm::SmallVector<std::string, 4> result;
  for (const std::string &spelling : plain) {
    if (inBody)
      result.push_back(familyNames(family).prefix.str() + spelling);
    result.push_back(spelling);
    if (StringRef bare = spelling; inBody && bare.consume_front("encoder."))
      result.push_back(bare.str());
  }
  return result;
}

namespace {

/// Collects names in model order.
struct NameList {
  std::vector<ParameterName> names;
  bool inBody = true;

  void add(const llvm::Twine &name) { names.push_back({name.str(), inBody}); }
  void addPair(const llvm::Twine &name) {
    add(name + ".weight");
    add(name + ".bias");
  }

  void addBody(const Config &config, bool embeddings) {
    if (embeddings) {
      for (const char *table : {"word", "position", "token_type"})
        add(llvm::Twine("embeddings.") + table + "_embeddings.weight");
      addPair("embeddings.LayerNorm");
      if (config.embeddingSize != config.hiddenSize)
        addPair("embeddings_project");
    }
    for (int64_t i = 0; i < config.numLayers; ++i) {
      LayerHeads heads = requiredHeads(config, i);
      for (unsigned param = 0; param < NumLayerParams; ++param)
        if (hasLayerParam(LayerParam(param), heads))
          add("encoder.layer." + llvm::Twine(i) + "." + layerParamName(LayerParam(param)));
    }
  }

  void addBERTHead(const Config &config, ModelClass modelClass) {
    bool isPreTraining = modelClass == ModelClass::PreTraining;
    inBody = true;
    if (isPreTraining || modelClass == ModelClass::SequenceClassification || modelClass == ModelClass::MultipleChoice)
      addPair("pooler.dense");
    inBody = false;
    if (isPreTraining || modelClass == ModelClass::MaskedLM) {
      addPair("cls.predictions.transform.dense");
      addPair("cls.predictions.transform.LayerNorm");
      if (!config.tieWordEmbeddings)
        add("cls.predictions.decoder.weight");
      add("cls.predictions.bias");
    }
    if (isPreTraining)
      addPair("cls.seq_relationship");
  }

  void addHead(const Config &config, ModelClass modelClass) {
    switch (modelClass) {
    case ModelClass::Model:
    case ModelClass::EncoderOnly:
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
  }
};

} // namespace

std::vector<ParameterName> listParameterNames(const Config &config, ModelClass modelClass) {
  NameList list;
  list.addBody(config, modelClass != ModelClass::EncoderOnly);
  list.inBody = false;
  if (config.family != ModelFamily::BERT) {
    list.addHead(config, modelClass);
    return list.names;
  }
  list.addBERTHead(config, modelClass);
  if (modelClass == ModelClass::QuestionAnswering)
    list.addPair("qa_outputs");
  if (modelClass == ModelClass::SequenceClassification || modelClass == ModelClass::TokenClassification ||
      modelClass == ModelClass::MultipleChoice)
    list.addPair("classifier");
  return list.names;
}

} // namespace mlir::convbert
