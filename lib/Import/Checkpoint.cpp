//===- Checkpoint.cpp - A checkpoint whose every tensor has its place -*- C++ -*-===//

#include "lib/Import/Checkpoint.h"
#include "lib/Import/CheckpointResolver.h"
#include "lib/Import/JSONText.h"
#include "lib/Import/ParameterNames.h"
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
    for (const TensorInfo *tensor : layer.params)
      if (tensor)
        all.insert(tensor);
  all.insert(head.begin(), head.end());
  return {all.begin(), all.end()};
}

/// The file in which a missing tensor would be expected.
std::string CheckpointResolver::where() const {
  return checkpoint.tensors.empty() ? config.path : checkpoint.tensors.front().file;
}

/// Sets `place` to the one tensor that goes by `name`, or leaves it null if there is none and it is not required.
Error CheckpointResolver::find(StringRef name, bool inBody, bool required, Place &place) {
  for (const std::string &spelling : parameterSpellings(name, inBody, config.family)) {
    auto entry = byName.find(spelling);
    if (entry == byName.end())
      continue;
    if (place)
      return importError(entry->second->file + ": requires one tensor for " + quoted(name) + ", but found both " +
                         quoted(place->name) + " and " + quoted(entry->second->name));
    place = entry->second;
  }
  if (place)
    used.insert(place);
  else if (required)
    return importError(
        where() + ": tensor " + quoted(name) +
        (inBody ? " (or with the prefix '" + familyNames(config.family).prefix + "')" : Twine("")).str() +
        " is missing; " + reason + " requires it");
  return Error::success();
}

Error CheckpointResolver::checkType(const TensorInfo &tensor) const {
  if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16")
    return importError(tensor.file + ": tensor " + quoted(tensor.name) +
                       ": requires dtype F32, F16 or BF16, but found " + tensor.dtype +
                       "; convert the checkpoint to float32");
  return Error::success();
}

Error CheckpointResolver::checkShape(const TensorInfo &tensor, llvm::ArrayRef<Required> shape) const {
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

Error CheckpointResolver::take(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &place) {
  if (Error failure = find(name, inBody, /*required=*/true, place))
    return failure;
  if (Error failure = checkType(*place))
    return failure;
  return checkShape(*place, shape);
}

/// A weight and its bias, whose width is the weight's first dimension.
Error CheckpointResolver::takePair(StringRef name, bool inBody, llvm::ArrayRef<Required> shape, Place &weight,
                                   Place &bias) {
  if (Error failure = take((name + ".weight").str(), inBody, shape, weight))
    return failure;
  return take((name + ".bias").str(), inBody, shape.take_front(), bias);
}

Error CheckpointResolver::resolveEmbeddings() {
  // A tied table may have been stored under the name of the output matrix only.
  StringRef wordName = "embeddings.word_embeddings.weight", decoderName = lmHeadNames().decoder;
  bool decoderOnly =
      checkpoint.modelClass == ModelClass::MaskedLM && config.tieWordEmbeddings && !byName.contains(wordName) &&
      !byName.contains((familyNames(config.family).prefix + wordName).str()) && byName.contains(decoderName);
  if (Error failure = take(decoderOnly ? decoderName : wordName, /*inBody=*/!decoderOnly,
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

Error CheckpointResolver::resolveLayer(int64_t index) {
  Checkpoint::Layer layer;
  LayerHeads heads = requiredHeads(config, index);
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    if (!hasLayerParam(LayerParam(i), heads))
      continue;
    std::string name = ("encoder.layer." + Twine(index) + "." + layerParamName(LayerParam(i))).str();
    if (Error failure = find(name, /*inBody=*/true, /*required=*/true, layer.params[i]))
      return failure;
  }
  for (Place tensor : layer.params)
    if (tensor)
      if (Error failure = checkType(*tensor))
        return failure;
  llvm::Expected<DerivedGeometry> geometry = deriveLayerGeometry(layer.params, config, index);
  if (!geometry)
    return geometry.takeError();
  layer.geometry = geometry->layer;
  layer.rule = geometry->rule;
  checkpoint.layers.push_back(layer);
  return Error::success();
}

Error CheckpointResolver::ignoreBuffers() {
  llvm::SmallVector<std::pair<StringRef, StringRef>> names = {
      {"embeddings.position_ids", "a buffer that holds 0, 1, 2, ..."},
      {"embeddings.token_type_ids", "a buffer that holds zeros"}};
  if (config.embeddingSize == config.hiddenSize) {
    StringRef reason = "embedding_size is hidden_size, so nothing is projected";
    names.append({{"embeddings_project.weight", reason}, {"embeddings_project.bias", reason}});
  }
  for (auto [name, reason] : names)
    if (Error failure = ignore(name, /*inBody=*/true, reason))
      return failure;
  return Error::success();
}

/// Ignores a tensor that need not be there.
Error CheckpointResolver::ignore(StringRef name, bool inBody, StringRef why) {
  Place ignored = nullptr;
  if (Error failure = find(name, inBody, /*required=*/false, ignored))
    return failure;
  if (ignored)
    checkpoint.ignored.push_back({ignored, why.str()});
  return Error::success();
}

Error CheckpointResolver::refuseRest() const {
  for (const TensorInfo &tensor : checkpoint.tensors)
    if (!used.contains(&tensor))
      return importError(tensor.file + ": tensor " + quoted(tensor.name) + " of shape " + shapeText(tensor.shape) +
                         " is unexpected; " + reason + " has no such parameter");
  return Error::success();
}

/// Layers of BERT and ELECTRA are a part of ConvBERT's, so that a wrong model_type might go unnoticed.
Error CheckpointResolver::refuseOtherFamily() const {
  if (config.family == ModelFamily::ConvBERT)
    return Error::success();
  for (const TensorInfo &tensor : checkpoint.tensors)
    if (StringRef(tensor.name).contains(".key_conv_attn_layer.") || StringRef(tensor.name).starts_with("convbert."))
      return importError(config.path + ": requires model_type 'convbert' (or 'conv_bert') for tensor " +
                         quoted(tensor.name) + " in " + tensor.file + ", but found '" +
                         familyNames(config.family).modelType + "'");
  return Error::success();
}

Error CheckpointResolver::resolve() {
  if (Error failure = refuseOtherFamily())
    return failure;
  llvm::Expected<ModelClass> modelClass = decideModelClass(config, byName);
  if (!modelClass)
    return modelClass.takeError();
  checkpoint.modelClass = *modelClass;
  reason = modelClassName(checkpoint.modelClass, config.family) + " with " + config.numLayers.describe();
  if (checkpoint.modelClass != ModelClass::EncoderOnly)
    if (Error failure = resolveEmbeddings())
      return failure;
  for (int64_t i = 0; i < config.numLayers; ++i)
    if (Error failure = resolveLayer(i))
      return failure;
  if (Error failure = resolveHead())
    return failure;
  if (Error failure = ignoreBuffers())
    return failure;
  if (!checkpoint.layers.empty() && checkpoint.layers.front().rule)
    checkpoint.notes.push_back(
        ("head widths follow the rule of " + headRuleName(*checkpoint.layers.front().rule)).str());
  for (const Checkpoint::Ignored &entry : checkpoint.ignored)
    checkpoint.notes.push_back("ignored tensor '" + entry.tensor->name + "': " + entry.reason);
  return refuseRest();
}

llvm::Expected<Checkpoint> resolveCheckpoint(Config config, std::vector<TensorInfo> tensors) {
  Checkpoint checkpoint;
  checkpoint.config = std::move(config);
  checkpoint.tensors = std::move(tensors);
  if (Error failure = CheckpointResolver(checkpoint).resolve())
    return std::move(failure);
  // Moving the vector keeps its elements where they are, so the pointers stay good.
  return checkpoint;
}

} // namespace mlir::convbert
