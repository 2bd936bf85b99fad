//===- ConfigFamily.cpp - What config.json says a model is ----------------===//

#include "lib/Import/ConfigReader.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

Error ConfigReader::readArchitecture() const {
  const llvm::json::Value *value = lookup("architectures");
  if (!value)
    return Error::success();
  const llvm::json::Array *names = value->getAsArray();
  if (!names || (!names->empty() && !names->front().getAsString()))
    return unexpected("architectures", "an array of strings", *value);
  if (!names->empty())
    config.architecture = names->front().getAsString()->str();
  return Error::success();
}

/// From `model_type`, else from the name of the class; the two must not contradict each other.
Error ConfigReader::readFamily() const {
  const FamilyNames *named = nullptr;
  for (const FamilyNames &names : allFamilies())
    if (StringRef(config.architecture).starts_with(names.className))
      named = &names;
  const llvm::json::Value *value = lookup("model_type");
  if (!value) {
    if (!named)
      return error("requires model_type 'convbert' (or 'conv_bert'), 'bert' or 'electra', but found neither a "
                   "model_type nor a class of theirs in architectures");
    config.family = named->family;
    return Error::success();
  }
  std::optional<StringRef> type = value->getAsString();
  // The spelling of early revisions of the published checkpoints.
  if (type == "conv_bert")
    type = "convbert";
  for (const FamilyNames &names : allFamilies()) {
    if (type != names.modelType)
      continue;
    if (named && named != &names)
      return unexpected("model_type",
                        "'" + named->modelType + "'" +
                            (named->family == ModelFamily::ConvBERT ? " (or 'conv_bert')" : "") + " for the class " +
                            config.architecture + " in architectures",
                        *value);
    config.family = names.family;
    return Error::success();
  }
  return unexpected("model_type", "one of the supported 'convbert' (or 'conv_bert'), 'bert', 'electra'", *value);
}

/// The library's defaults where they are not those of ConvBertConfig.
void ConfigReader::setDefaults() const {
  if (config.family != ModelFamily::ELECTRA)
    return;
  config.embeddingSize.value = 128;
  config.hiddenSize.value = 256;
  config.numHeads.value = 4;
  config.intermediateSize.value = 1024;
  config.summary = PoolKind::First;
  config.summaryProjection = true;
  config.summaryActivation = ActivationKind::Gelu;
}

/// `value`: an array of different numbers below `count`, or null for none.
Error ConfigReader::readHeadList(const llvm::json::Value *value, const Twine &where, int64_t count,
                                 llvm::SmallVectorImpl<int64_t> &heads) const {
  if (!value)
    return Error::success();
  std::string key = (kPrunedHeadsKey + where).str();
  const llvm::json::Array *items = value->getAsArray();
  if (!items)
    return unexpected(key, "an array of head numbers", *value);
  for (const llvm::json::Value &item : *items) {
    std::optional<int64_t> head = wholeNumber(item);
    if (!head || *head < 0 || *head >= count)
      return unexpected(key, "numbers of the " + Twine(count) + " heads that the layer was built with, from 0", item);
    if (llvm::is_contained(heads, *head))
      return error("requires " + key + " to name each head once, but found " + Twine(*head) + " twice");
    heads.push_back(*head);
  }
  llvm::sort(heads);
  return Error::success();
}

Error ConfigReader::readPrunedLayer(int64_t layer, const llvm::json::Value &value) const {
  const llvm::json::Object *lists = value.getAsObject();
  std::string where = "[\"" + std::to_string(layer) + "\"]";
  if (!lists)
    return unexpected((kPrunedHeadsKey + where).str(), "an object with attention and conv", value);
  for (const auto &[key, list] : *lists)
    if (StringRef(key) != "attention" && StringRef(key) != "conv")
      return error("requires " + kPrunedHeadsKey + where + " to have the keys attention and conv, but found " +
                   quoted(key));
  PrunedHeads pruned;
  int64_t built = config.builtHeads(), conv = config.hasConvHeads() ? built : 0;
  if (Error failure = readHeadList(lists->get("attention"), where + ".attention", built, pruned.attention))
    return failure;
  if (Error failure = readHeadList(lists->get("conv"), where + ".conv", conv, pruned.conv))
    return failure;
  if (int64_t(pruned.attention.size() + pruned.conv.size()) == built + conv)
    return error("requires " + kPrunedHeadsKey + where + " to leave a head, but found all " + Twine(built + conv) +
                 " removed");
  config.prunedHeads[layer] = std::move(pruned);
  return Error::success();
}

Error ConfigReader::readPrunedHeads() const {
  const llvm::json::Value *value = lookup(kPrunedHeadsKey);
  if (!value)
    return Error::success();
  const llvm::json::Object *layers = value->getAsObject();
  if (!layers)
    return unexpected(kPrunedHeadsKey, "an object from layers to heads", *value);
  for (const auto &[key, heads] : *layers) {
    int64_t layer;
    // Leading zeros would give a layer two names.
    if (StringRef(key).getAsInteger(10, layer) || layer < 0 || layer >= config.numLayers ||
        StringRef(key) != std::to_string(layer))
      return error("requires the keys of " + kPrunedHeadsKey + " to be layers below " + config.numLayers.describe() +
                   ", but found " + quoted(key));
    if (Error failure = readPrunedLayer(layer, heads))
      return failure;
  }
  return Error::success();
}

} // namespace mlir::convbert
