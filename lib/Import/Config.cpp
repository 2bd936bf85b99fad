//===- Config.cpp - config.json of a checkpoint -----------------*- C++ -*-===//

#include "lib/Import/Config.h"
#include "dialect/IR/Activations.h"
#include "lib/Import/ConfigReader.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

std::string ConfigSize::describe() const {
  return (Twine(key) + " " + Twine(value) + (given ? "" : " (the default; absent from config.json)")).str();
}

Error ConfigReader::readSize(ConfigSize &size, int64_t least) const {
  const llvm::json::Value *value = object.get(size.key);
  if (!value)
    return Error::success();
  std::optional<int64_t> number = wholeNumber(*value);
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (!number || *number < least || *number > most)
    return unexpected(size.key, "an integer from " + Twine(least) + " to " + Twine(most), *value);
  size.value = *number;
  size.given = true;
  return Error::success();
}

Error ConfigReader::readFlag(StringRef key, bool &flag) const {
  const llvm::json::Value *value = lookup(key);
  if (!value)
    return Error::success();
  std::optional<bool> found = value->getAsBoolean();
  if (!found)
    return unexpected(key, "true or false", *value);
  flag = *found;
  return Error::success();
}

Error ConfigReader::readActivation(StringRef key, ActivationKind &kind) const {
  const llvm::json::Value *value = lookup(key);
  if (!value)
    return Error::success();
  std::optional<StringRef> name = value->getAsString();
  std::optional<ActivationKind> found = name ? parseActivationName(*name) : std::nullopt;
  if (!found)
    return unexpected(key, "one of " + llvm::join(getActivationNames(), ", "), *value);
  kind = *found;
  return Error::success();
}

Error ConfigReader::readEps() const {
  const llvm::json::Value *value = object.get("layer_norm_eps");
  if (!value)
    return Error::success();
  std::optional<double> eps = value->getAsNumber();
  if (!eps || !std::isfinite(*eps) || *eps < 0)
    return unexpected("layer_norm_eps", "a finite number that is not negative", *value);
  config.layerNormEps = *eps;
  return Error::success();
}

Error ConfigReader::readLabels() const {
  std::optional<int64_t> count;
  if (const llvm::json::Value *value = lookup("num_labels")) {
    count = wholeNumber(*value);
    if (!count || *count < 1 || *count > (1 << 24))
      return unexpected("num_labels", "an integer from 1 to 16777216", *value);
  }
  const llvm::json::Value *value = lookup("id2label");
  if (!value) {
    config.labelsGiven = count.has_value();
    config.labelCount = count.value_or(2);
    return Error::success();
  }
  const llvm::json::Object *names = value->getAsObject();
  if (!names)
    return unexpected("id2label", "an object from ids to names", *value);
  if (count && *count != int64_t(names->size()))
    return error("requires num_labels and id2label to agree, but found " + Twine(*count) + " and " +
                 Twine(names->size()) + " labels");
  config.labelsGiven = true;
  config.labelCount = names->size();
  config.labels.resize(names->size());
  for (int64_t i = 0, e = names->size(); i < e; ++i) {
    const llvm::json::Value *name = names->get(std::to_string(i));
    if (!name)
      return error("requires id2label to name the ids 0 to " + Twine(e - 1) + ", but id " + Twine(i) + " is missing");
    if (!name->getAsString())
      return unexpected("id2label", "an object of strings", *name);
    config.labels[i] = name->getAsString()->str();
  }
  return Error::success();
}

Error ConfigReader::readSummary() const {
  if (const llvm::json::Value *value = lookup("summary_type")) {
    std::optional<StringRef> type = value->getAsString();
    std::optional<PoolKind> kind;
    if (type)
      kind = llvm::StringSwitch<std::optional<PoolKind>>(*type)
                 .Case("last", PoolKind::Last)
                 // The index of the class token is no input of ours, and by default it is the last one's.
                 .Case("cls_index", PoolKind::Last)
                 .Case("first", PoolKind::First)
                 .Case("mean", PoolKind::Mean)
                 .Case("cls_index", PoolKind::Last) // the model passes no index, and that stands for the last token
                 .Default(std::nullopt);
    if (!kind)
      return unexpected("summary_type", "one of last, first, mean, cls_index", *value);
    config.summary = *kind;
  }
  if (Error failure = readFlag("summary_use_proj", config.summaryProjection))
    return failure;
  if (const llvm::json::Value *value = object.get("summary_activation"); value && value->getAsNull())
    config.summaryActivation = ActivationKind::Identity;
  return readActivation("summary_activation", config.summaryActivation);
}

Error ConfigReader::refuseUnsupported() const {
  if (const llvm::json::Value *value = lookup("pruned_heads")) {
    const llvm::json::Object *heads = value->getAsObject();
    // The library prunes the queries but not the convolution that they feed, so no such checkpoint works there.
    if (!heads || !heads->empty())
      return error("requires pruned_heads to be empty, but found " +
                   (heads ? Twine(heads->size()) + " pruned layers" : Twine(describeJSON(*value))).str() +
                   "; save the model without pruned heads (this compiler's own key is " + kPrunedHeadsKey + ")");
  }
  if (const llvm::json::Value *value = lookup("position_embedding_type"))
    if (value->getAsString() != "absolute")
      return unexpected("position_embedding_type", "'absolute', the only supported kind", *value);
  if (const llvm::json::Value *value = lookup("conv_type"))
    if (value->getAsString() != "sdconv")
      return unexpected("conv_type", "'sdconv', span-based dynamic convolution", *value);
  // Releases of the library differ in what a decoder is (a causal mask, or nothing at all).
  for (StringRef key : {"is_decoder", "add_cross_attention"}) {
    bool flag = false;
    if (Error failure = readFlag(key, flag))
      return failure;
    if (flag)
      return error("requires " + key + " to be false: only encoders are supported, but found true");
  }
  return Error::success();
}

Error ConfigReader::checkSizes() const {
  int64_t width = config.hiddenSize, built = config.builtHeads();
  if (!config.hasConvHeads())
    return width % built == 0 ? Error::success()
                              : error("requires hidden_size to be a multiple of num_attention_heads " + Twine(built) +
                                      ", but found " + config.hiddenSize.describe());
  if (config.kernelSize % 2 == 0)
    return error("requires an odd conv_kernel_size (the taps are centred on a token), but found the even " +
                 config.kernelSize.describe());
  // Two rules are in use: half of the width shared by the built heads, or width / num_attention_heads.
  if (width % (2 * built) != 0 && width % config.numHeads != 0)
    return error("requires hidden_size to be a multiple of " + Twine(2 * built) + " (twice the " + Twine(built) +
                 " attention heads that num_attention_heads " + Twine(config.numHeads) + " and head_ratio " +
                 Twine(config.headRatio) + " leave) or of num_attention_heads, but found " +
                 config.hiddenSize.describe());
  for (const ConfigSize &size : {config.hiddenSize, config.intermediateSize})
    if (size % config.numGroups != 0)
      return error("requires " + Twine(size.key) + " to be a multiple of num_groups " + Twine(config.numGroups) +
                   ", but found " + size.describe());
  return Error::success();
}

Error ConfigReader::read() {
  if (Error failure = readArchitecture())
    return failure;
  if (Error failure = readFamily())
    return failure;
  setDefaults();
  llvm::SmallVector<ConfigSize *> sizes = {&config.vocabSize,        &config.hiddenSize,   &config.numHeads,
                                           &config.intermediateSize, &config.maxPositions, &config.typeVocabSize};
  if (config.hasConvHeads())
    sizes.append({&config.headRatio, &config.kernelSize, &config.numGroups});
  if (config.family != ModelFamily::BERT)
    sizes.push_back(&config.embeddingSize);
  for (ConfigSize *size : sizes)
    if (Error failure = readSize(*size, 1))
      return failure;
  if (config.family == ModelFamily::BERT)
    config.embeddingSize = config.hiddenSize;
  if (Error failure = readSize(config.numLayers, 0))
    return failure;
  if (Error failure = readActivation("hidden_act", config.activation))
    return failure;
  if (Error failure = readEps())
    return failure;
  if (Error failure = readFlag("tie_word_embeddings", config.tieWordEmbeddings))
    return failure;
  if (Error failure = readLabels())
    return failure;
  if (Error failure = readSummary())
    return failure;
  if (Error failure = refuseUnsupported())
    return failure;
  if (Error failure = checkSizes())
    return failure;
  return readPrunedHeads();
}

llvm::Expected<Config> parseConfig(StringRef text, StringRef path) {
  llvm::Expected<llvm::json::Object> object = parseJSONObject(text, path);
  if (!object)
    return object.takeError();
  Config config;
  config.path = path.str();
  if (Error failure = ConfigReader(*object, config).read())
    return std::move(failure);
  return config;
}

llvm::Expected<Config> readConfig(StringRef path) {
  llvm::Expected<std::string> text = readSmallFile(path);
  if (!text)
    return text.takeError();
  return parseConfig(*text, path);
}

} // namespace mlir::convbert
