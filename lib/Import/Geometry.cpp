//===- Geometry.cpp - Widths of an encoder layer from its tensors -*- C++ -*-===//

#include "lib/Import/Geometry.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/MapVector.h"

using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace mlir::convbert {

StringRef headRuleName(HeadRule rule) {
  switch (rule) {
  case HeadRule::All:
    return "all implementations";
  case HeadRule::HalfWidth:
    return "transformers >= 4.27";
  case HeadRule::NominalHeads:
    return "original TensorFlow";
  }
  llvm_unreachable("all rules handled");
}

namespace {

class GeometryDeriver {
public:
  GeometryDeriver(llvm::ArrayRef<const TensorInfo *> params, const Config &config, int64_t index)
      : params(params), config(config), index(index) {}

  llvm::Expected<DerivedGeometry> derive();

private:
  Error error(LayerParam param, const Twine &message) const {
    const TensorInfo &tensor = *params[param];
    return importError(Twine(tensor.file) + ": tensor " + quoted(tensor.name) + ": " + message);
  }
  llvm::ArrayRef<int64_t> shape(LayerParam param) const { return params[param]->shape; }

  Error refuseEmpty() const;
  int64_t deriveGroups() const;
  bool isPruned() const { return config.prunedHeads.count(index); }
  std::string describePruning() const;
  void forEachDim(llvm::function_ref<void(Dim, int64_t)> visit) const;
  int64_t vote(Dim wanted, int64_t otherwise) const;
  int64_t voteHeadWidth(const LayerHeads &heads, int64_t otherwise) const;
  Error deriveTaps();
  Error deriveHeads();
  Error checkShapes() const;
  Error compare(const ConfigSize &size, int64_t found, LayerParam evidence) const;
  Error checkConfig() const;
  llvm::Expected<std::optional<HeadRule>> matchRule() const;

  llvm::ArrayRef<const TensorInfo *> params;
  const Config &config;
  int64_t index;
  LayerGeometry geometry;
};

} // namespace

Error GeometryDeriver::refuseEmpty() const {
  for (unsigned i = 0; i < NumLayerParams; ++i)
    if (params[i] && llvm::is_contained(shape(LayerParam(i)), 0))
      return error(LayerParam(i),
                   "requires a tensor with elements, but found shape " + shapeText(shape(LayerParam(i))));
  return Error::success();
}

int64_t GeometryDeriver::deriveGroups() const {
  llvm::ArrayRef<int64_t> up = shape(UpWeight), down = shape(DownWeight);
  if (up.size() == 2 && down.size() == 2)
    return 1;
  if (up.size() == 3 && down.size() == 3 && up[0] == down[0] && up[0] > 1)
    return up[0];
  // The two contradict each other: the configuration decides which one is named.
  return config.numGroups;
}

/// All dimensions of tensors that have as many as they should.
void GeometryDeriver::forEachDim(llvm::function_ref<void(Dim, int64_t)> visit) const {
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    llvm::ArrayRef<Dim> dims = layerParamDims(LayerParam(i), geometry.groups > 1);
    if (params[i] && dims.size() == params[i]->shape.size())
      for (auto [dim, size] : llvm::zip_equal(dims, params[i]->shape))
        visit(dim, size);
  }
}

static int64_t mostVotes(const llvm::MapVector<int64_t, unsigned> &votes, int64_t otherwise) {
  unsigned most = 0;
  for (auto [size, count] : votes) {
    if (count > most) {
      otherwise = size;
      most = count;
    }
  }
  return otherwise;
}

/// The value of D or I that most tensors have.
int64_t GeometryDeriver::vote(Dim wanted, int64_t otherwise) const {
  llvm::MapVector<int64_t, unsigned> votes;
  forEachDim([&](Dim dim, int64_t size) {
    if (dim == wanted)
      ++votes[size];
  });
  return mostVotes(votes, otherwise);
}

/// The width of a head that most tensors have, with these heads.
int64_t GeometryDeriver::voteHeadWidth(const LayerHeads &heads, int64_t otherwise) const {
  llvm::MapVector<int64_t, unsigned> votes;
  forEachDim([&](Dim dim, int64_t size) {
    if (std::optional<int64_t> count = headsIn(dim, heads); count && *count > 0 && size % *count == 0)
      ++votes[size / *count];
  });
  return mostVotes(votes, otherwise);
}

Error GeometryDeriver::deriveTaps() {
  llvm::ArrayRef<int64_t> depthwise = shape(SpanDepthwise);
  if (depthwise.size() != 3 || depthwise[0] != geometry.hidden || depthwise[1] != 1)
    return error(SpanDepthwise, "requires one filter a channel, shape " +
                                    shapeText({geometry.hidden, 1, config.kernelSize.value}) + " (hidden width, 1, " +
                                    config.kernelSize.describe() + "), but found " + shapeText(depthwise));
  geometry.taps = depthwise[2];
  if (geometry.taps % 2 == 0)
    return error(SpanDepthwise, "requires an odd number of taps (last dimension), but found the even " +
                                    Twine(geometry.taps) + " of shape " + shapeText(depthwise));
  return Error::success();
}

/// As many heads of each kind as the rows of the kernel layer tell.
Error GeometryDeriver::deriveHeads() {
  // As if all heads were one.
  int64_t width = voteHeadWidth({1, 1, 1, {}}, config.hiddenSize / 2);
  llvm::ArrayRef<int64_t> kernel = shape(KernelWeight);
  if (kernel.size() != 2 || kernel[0] % geometry.taps != 0)
    return error(KernelWeight, "requires rows that are a multiple of the " + Twine(geometry.taps) +
                                   " taps (heads * taps), but found shape " + shapeText(kernel));
  int64_t heads = kernel[0] / geometry.taps;
  if (width % heads != 0)
    return error(QueryWeight, "requires rows that are a multiple of the " + Twine(heads) +
                                  " heads that conv_kernel_layer.weight " + shapeText(kernel) + " has with " +
                                  Twine(geometry.taps) + " taps, but found shape " + shapeText(shape(QueryWeight)));
  geometry.heads = {heads, heads, heads, {}};
  geometry.headSize = width / heads;
  return Error::success();
}

/// What a pruned layer should have, for messages.
std::string GeometryDeriver::describePruning() const {
  if (!isPruned())
    return "";
  int64_t built = config.builtHeads();
  std::string text = " where " + std::string(kPrunedHeadsKey) + " of " + config.path + " leaves " +
                     std::to_string(geometry.heads.attention) + " of " + std::to_string(built) + " attention heads";
  if (config.hasConvHeads())
    text += " and " + std::to_string(geometry.heads.conv) + " of " + std::to_string(built) + " convolution heads";
  return text;
}

Error GeometryDeriver::checkShapes() const {
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    if (!params[i])
      continue;
    llvm::SmallVector<int64_t, 4> required = layerParamShape(LayerParam(i), geometry);
    if (shape(LayerParam(i)) != llvm::ArrayRef<int64_t>(required))
      return error(LayerParam(i),
                   "requires shape " + shapeText(required) +
                       (geometry.groups > 1 ? " with " + Twine(geometry.groups) + " groups" : Twine("")).str() +
                       " like the layer's other tensors" + describePruning() + ", but found " +
                       shapeText(shape(LayerParam(i))));
  }
  return Error::success();
}

Error GeometryDeriver::compare(const ConfigSize &size, int64_t found, LayerParam evidence) const {
  if (size == found)
    return Error::success();
  return importError(Twine(config.path) + ": has " + size.describe() + ", but tensor " +
                     quoted(params[evidence]->name) + " of shape " + shapeText(shape(evidence)) + " in " +
                     params[evidence]->file + " requires " + Twine(found));
}

Error GeometryDeriver::checkConfig() const {
  if (Error failure = compare(config.hiddenSize, geometry.hidden, QueryWeight))
    return failure;
  if (geometry.heads.conv > 0)
    if (Error failure = compare(config.kernelSize, geometry.taps, SpanDepthwise))
      return failure;
  if (Error failure = compare(config.numGroups, geometry.groups, UpWeight))
    return failure;
  if (Error failure = compare(config.intermediateSize, geometry.intermediate, UpWeight))
    return failure;
  LayerHeads required = requiredHeads(config, index);
  if (!(geometry.heads == required))
    return importError(Twine(config.path) + ": num_attention_heads " + Twine(config.numHeads) + " and head_ratio " +
                       Twine(config.headRatio) + " leave " + Twine(required.conv) + " attention heads, but tensor " +
                       quoted(params[KernelWeight]->name) + " of shape " + shapeText(shape(KernelWeight)) + " in " +
                       params[KernelWeight]->file + " requires " + Twine(geometry.heads.conv) + " (with " +
                       Twine(geometry.taps) + " taps)");
  return Error::success();
}

llvm::Expected<std::optional<HeadRule>> GeometryDeriver::matchRule() const {
  int64_t width = geometry.hidden, built = config.builtHeads();
  bool half = config.hasConvHeads() && width % (2 * built) == 0 && geometry.headSize == width / (2 * built);
  bool nominal = width % config.numHeads == 0 && geometry.headSize == width / config.numHeads;
  if (nominal && !config.hasConvHeads())
    return std::nullopt;
  if (half)
    return nominal ? HeadRule::All : HeadRule::HalfWidth;
  if (nominal)
    return HeadRule::NominalHeads;
  return error(QueryWeight, "requires " + Twine(built) + " heads of width " +
                                (config.hasConvHeads() ? "hidden_size / (2 * heads) or " : "") +
                                "hidden_size / num_attention_heads, with hidden_size " + Twine(width) +
                                " and num_attention_heads " + Twine(config.numHeads) + ", but found heads of width " +
                                Twine(geometry.headSize) + " (shape " + shapeText(shape(QueryWeight)) + ")");
}

llvm::Expected<DerivedGeometry> GeometryDeriver::derive() {
  if (Error failure = refuseEmpty())
    return std::move(failure);
  geometry.groups = deriveGroups();
  geometry.hidden = vote(Dim::D, config.hiddenSize);
  geometry.intermediate = vote(Dim::I, config.intermediateSize);
  // Grouped weights are checked by division below.
  if (geometry.hidden % geometry.groups != 0 || geometry.intermediate % geometry.groups != 0)
    return error(UpWeight, "requires groups that divide the widths " + Twine(geometry.hidden) + " and " +
                               Twine(geometry.intermediate) + ", but found " + Twine(geometry.groups) +
                               " groups (shape " + shapeText(shape(UpWeight)) + ")");
  geometry.heads = requiredHeads(config, index);
  if (geometry.heads.conv > 0)
    if (Error failure = deriveTaps())
      return std::move(failure);
  if (config.hasConvHeads() && !isPruned()) {
    if (Error failure = deriveHeads())
      return std::move(failure);
  } else {
    geometry.headSize = voteHeadWidth(geometry.heads, config.hiddenSize / config.numHeads);
  }
  if (Error failure = checkShapes())
    return std::move(failure);
  if (Error failure = checkConfig())
    return std::move(failure);
  llvm::Expected<std::optional<HeadRule>> rule = matchRule();
  if (!rule)
    return rule.takeError();
  return DerivedGeometry{geometry, *rule};
}

LayerHeads requiredHeads(const Config &config, int64_t index) {
  int64_t built = config.builtHeads();
  LayerHeads heads{built, config.hasConvHeads() ? built : 0, built, {}};
  auto pruned = config.prunedHeads.find(index);
  if (pruned == config.prunedHeads.end())
    return heads;
  heads.conv -= pruned->second.conv.size();
  llvm::SmallVector<int64_t> kept;
  for (int64_t head = 0; head < built; ++head)
    if (!llvm::is_contained(pruned->second.attention, head))
      kept.push_back(head);
  heads.attention = kept.size();
  if (heads.conv == 0)
    heads.query = heads.attention;
  else if (heads.attention < built)
    heads.queryHeads = kept;
  return heads;
}

llvm::Expected<DerivedGeometry> deriveLayerGeometry(llvm::ArrayRef<const TensorInfo *> params, const Config &config,
                                                    int64_t index) {
  return GeometryDeriver(params, config, index).derive();
}

} // namespace mlir::convbert
