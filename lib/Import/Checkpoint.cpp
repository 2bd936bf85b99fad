//===- Checkpoint.cpp - A checkpoint whose every tensor has its place -*- C++ -*-===//

#include "lib/Import/Checkpoint.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

std::vector<const TensorInfo *> Checkpoint::parameters() const {
  llvm::SetVector<const TensorInfo *> all;
  for (const TensorInfo *tensor : {word, position, tokenType, normWeight, normBias, projectionWeight, projectionBias})
    if (tensor)
      all.insert(tensor);
  for (const Layer &layer : layers)
    all.insert(layer.params.begin(), layer.params.end());
  all.insert(head.begin(), head.end());
  return {all.begin(), all.end()};
}

namespace {

/// A dimension that a tensor must have, and the words for it in messages.
struct Required {
  int64_t size;
  std::string what;

  Required(const ConfigSize &size) : size(size), what(size.describe()) {}
  Required(int64_t size, std::string what) : size(size), what(std::move(what)) {}
};

class Resolver {
public:
  explicit Resolver(Checkpoint &checkpoint) : checkpoint(checkpoint), config(checkpoint.config) {
    for (const TensorInfo &tensor : checkpoint.tensors)
      byName.try_emplace(tensor.name, &tensor);
  }

  Error resolve();

private:
  using Place = const TensorInfo *;

  Error find(StringRef name, bool inBody, bool required, Place &place);
  Error take(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &place);
  Error takePair(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &weight, Place &bias);
  Error takeHead(StringRef name, llvm::ArrayRef<Required> shape);
  Error checkType(const TensorInfo &tensor) const;
  Error checkShape(const TensorInfo &tensor, llvm::ArrayRef<Required> shape) const;
  Error resolveEmbeddings();
  Error resolveLayer(int64_t index);
  Error resolveHead();
  Error resolveMaskedLMHead();
  Error ignoreBuffers();
  Error refuseRest() const;

  std::string where() const;
  Required labelCount() const;

  Checkpoint &checkpoint;
  const Config &config;
  llvm::StringMap<Place> byName;
  llvm::DenseSet<Place> used;
  /// What requires the tensors that are looked up, for messages.
  std::string reason;
};

} // namespace

/// The file in which a missing tensor would be expected.
std::string Resolver::where() const {
  return checkpoint.tensors.empty() ? config.path : checkpoint.tensors.front().file;
}

Required Resolver::labelCount() const {
  return {int64_t(config.labels.size()),
          std::to_string(config.labels.size()) +
              (config.labelsGiven ? " labels of config.json" : " labels (the default; config.json names none)")};
}

/// Sets `place` to the one tensor that goes by `name`, or leaves it null if there is none and it is not required.
Error Resolver::find(StringRef name, bool inBody, bool required, Place &place) {
  llvm::SmallVector<std::string, 2> spellings = {name.str()};
  StringRef stem = name;
  if (stem.consume_back("LayerNorm.weight"))
    spellings.push_back((stem + "LayerNorm.gamma").str());
  else if (stem.consume_back("LayerNorm.bias"))
    spellings.push_back((stem + "LayerNorm.beta").str());
  for (const std::string &spelling : spellings) {
    for (StringRef prefix : {"convbert.", ""}) {
      if (!prefix.empty() && !inBody)
        continue;
      auto entry = byName.find((prefix + spelling).str());
      if (entry == byName.end())
        continue;
      if (place)
        return importError(entry->second->file + ": requires one tensor for " + quoted(name) + ", but found both " +
                           quoted(place->name) + " and " + quoted(entry->second->name));
      place = entry->second;
    }
  }
  if (place)
    used.insert(place);
  else if (required)
    return importError(where() + ": tensor " + quoted(name) + (inBody ? " (or with the prefix 'convbert.')" : "") +
                       " is missing; " + reason + " requires it");
  return Error::success();
}

Error Resolver::checkType(const TensorInfo &tensor) const {
  // TODO(#5): F16 and BF16, widened when the weights are packed.
  if (tensor.dtype != "F32")
    return importError(tensor.file + ": tensor " + quoted(tensor.name) + ": requires dtype F32, but found " +
                       tensor.dtype + ", which is not read yet; convert the checkpoint to float32");
  return Error::success();
}

Error Resolver::checkShape(const TensorInfo &tensor, llvm::ArrayRef<Required> shape) const {
  llvm::SmallVector<int64_t, 4> sizes;
  std::string what;
  for (const Required &dim : shape) {
    sizes.push_back(dim.size);
    what += (what.empty() ? "" : ", ") + dim.what;
  }
  if (tensor.shape != sizes)
    return importError(tensor.file + ": tensor " + quoted(tensor.name) + ": requires shape " + shapeText(sizes) + " (" +
                       what + "), but found " + shapeText(tensor.shape));
  return Error::success();
}

Error Resolver::take(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &place) {
  if (Error failure = find(name, inBody, /*required=*/true, place))
    return failure;
  if (Error failure = checkType(*place))
    return failure;
  return checkShape(*place, shape);
}

/// A weight and its bias, whose width is the weight's first dimension.
Error Resolver::takePair(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &weight, Place &bias) {
  if (Error failure = take((name + ".weight").str(), inBody, shape, weight))
    return failure;
  return take((name + ".bias").str(), inBody, shape.take_front(), bias);
}

Error Resolver::takeHead(StringRef name, llvm::ArrayRef<Required> shape) {
  Place weight = nullptr, bias = nullptr;
  if (Error failure = takePair(name, /*inBody=*/false, shape, weight, bias))
    return failure;
  checkpoint.head.append({weight, bias});
  return Error::success();
}

Error Resolver::resolveEmbeddings() {
  // A tied table may have been stored under the name of the output matrix only.
  StringRef wordName = "embeddings.word_embeddings.weight";
  bool decoderOnly = checkpoint.modelClass == ModelClass::MaskedLM && config.tieWordEmbeddings &&
                     !byName.contains(wordName) && !byName.contains(("convbert." + wordName).str()) &&
                     byName.contains("generator_lm_head.weight");
  if (Error failure = take(decoderOnly ? "generator_lm_head.weight" : wordName, /*inBody=*/!decoderOnly,
                           {config.vocabSize, config.embeddingSize}, checkpoint.word))
    return failure;
  if (Error failure = take("embeddings.position_embeddings.weight", true, {config.maxPositions, config.embeddingSize},
                           checkpoint.position))
    return failure;
  if (Error failure = take("embeddings.token_type_embeddings.weight", true,
                           {config.typeVocabSize, config.embeddingSize}, checkpoint.tokenType))
    return failure;
  if (Error failure =
          takePair("embeddings.LayerNorm", true, {config.embeddingSize}, checkpoint.normWeight, checkpoint.normBias))
    return failure;
  if (config.embeddingSize == config.hiddenSize)
    return Error::success();
  llvm::SaveAndRestore because(reason, config.embeddingSize.describe() + ", which is not " +
                                           config.hiddenSize.describe() + ",");
  return takePair("embeddings_project", true, {config.hiddenSize, config.embeddingSize}, checkpoint.projectionWeight,
                  checkpoint.projectionBias);
}

Error Resolver::resolveLayer(int64_t index) {
  Checkpoint::Layer layer;
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    std::string name = ("encoder.layer." + Twine(index) + "." + layerParamName(LayerParam(i))).str();
    layer.params[i] = nullptr;
    if (Error failure = find(name, /*inBody=*/true, /*required=*/true, layer.params[i]))
      return failure;
  }
  for (Place tensor : layer.params)
    if (Error failure = checkType(*tensor))
      return failure;
  llvm::Expected<DerivedGeometry> geometry = deriveLayerGeometry(layer.params, config);
  if (!geometry)
    return geometry.takeError();
  layer.geometry = geometry->layer;
  layer.rule = geometry->rule;
  checkpoint.layers.push_back(layer);
  return Error::success();
}

Error Resolver::resolveMaskedLMHead() {
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

Error Resolver::resolveHead() {
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
  }
  llvm_unreachable("all classes handled");
}

Error Resolver::ignoreBuffers() {
  llvm::SmallVector<StringRef> names = {"embeddings.position_ids", "embeddings.token_type_ids"};
  if (config.embeddingSize == config.hiddenSize)
    names.append({"embeddings_project.weight", "embeddings_project.bias"});
  for (StringRef name : names) {
    Place ignored = nullptr;
    if (Error failure = find(name, /*inBody=*/true, /*required=*/false, ignored))
      return failure;
  }
  return Error::success();
}

Error Resolver::refuseRest() const {
  for (const TensorInfo &tensor : checkpoint.tensors)
    if (!used.contains(&tensor))
      return importError(tensor.file + ": tensor " + quoted(tensor.name) + " of shape " + shapeText(tensor.shape) +
                         " is unexpected; " + reason + " has no such parameter");
  return Error::success();
}

Error Resolver::resolve() {
  llvm::Expected<ModelClass> modelClass = decideModelClass(config, byName);
  if (!modelClass)
    return modelClass.takeError();
  checkpoint.modelClass = *modelClass;
  reason = (modelClassName(checkpoint.modelClass) + " with " + config.numLayers.describe()).str();
  if (Error failure = resolveEmbeddings())
    return failure;
  for (int64_t i = 0; i < config.numLayers; ++i)
    if (Error failure = resolveLayer(i))
      return failure;
  if (Error failure = resolveHead())
    return failure;
  if (Error failure = ignoreBuffers())
    return failure;
  return refuseRest();
}

llvm::Expected<Checkpoint> resolveCheckpoint(Config config, std::vector<TensorInfo> tensors) {
  Checkpoint checkpoint;
  checkpoint.config = std::move(config);
  checkpoint.tensors = std::move(tensors);
  if (Error failure = Resolver(checkpoint).resolve())
    return std::move(failure);
  // Moving the vector keeps its elements where they are, so the pointers stay good.
  return checkpoint;
}

} // namespace mlir::convbert
