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
  GeometryDeriver(llvm::ArrayRef<const TensorInfo *> params, const Config &config) : params(params), config(config) {}

  llvm::Expected<DerivedGeometry> derive();

private:
  Error error(LayerParam param, const Twine &message) const {
    const TensorInfo &tensor = *params[param];
    return importError(Twine(tensor.file) + ": tensor " + quoted(tensor.name) + ": " + message);
  }
  llvm::ArrayRef<int64_t> shape(LayerParam param) const { return params[param]->shape; }

  Error refuseEmpty() const;
  int64_t deriveGroups() const;
  int64_t vote(Dim wanted, int64_t otherwise) const;
  Error deriveHeads();
  Error checkShapes() const;
  Error compare(const ConfigSize &size, int64_t found, LayerParam evidence) const;
  Error checkConfig() const;
  llvm::Expected<HeadRule> matchRule() const;

  llvm::ArrayRef<const TensorInfo *> params;
  const Config &config;
  LayerGeometry geometry;
};

} // namespace

Error GeometryDeriver::refuseEmpty() const {
  for (unsigned i = 0; i < NumLayerParams; ++i)
    if (llvm::is_contained(shape(LayerParam(i)), 0))
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

/// The value of A, D or I that most tensors have.
int64_t GeometryDeriver::vote(Dim wanted, int64_t otherwise) const {
  llvm::MapVector<int64_t, unsigned> votes;
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    llvm::ArrayRef<Dim> dims = layerParamDims(LayerParam(i), geometry.groups > 1);
    llvm::ArrayRef<int64_t> sizes = shape(LayerParam(i));
    if (dims.size() != sizes.size())
      continue;
    for (auto [dim, size] : llvm::zip_equal(dims, sizes)) {
      if (dim == wanted)
        ++votes[size];
      else if (dim == Dim::TwoA && wanted == Dim::A && size % 2 == 0)
        ++votes[size / 2];
    }
  }
  unsigned most = 0;
  for (auto [size, count] : votes) {
    if (count > most) {
      otherwise = size;
      most = count;
    }
  }
  return otherwise;
}

/// Taps from the depthwise filters, heads from the rows of the kernel layer.
Error GeometryDeriver::deriveHeads() {
  llvm::ArrayRef<int64_t> depthwise = shape(SpanDepthwise);
  if (depthwise.size() != 3 || depthwise[0] != geometry.hidden || depthwise[1] != 1)
    return error(SpanDepthwise, "requires one filter a channel, shape " +
                                    shapeText({geometry.hidden, 1, config.kernelSize.value}) + " (hidden width, 1, " +
                                    config.kernelSize.describe() + "), but found " + shapeText(depthwise));
  geometry.taps = depthwise[2];
  if (geometry.taps % 2 == 0)
    return error(SpanDepthwise, "requires an odd number of taps (last dimension), but found the even " +
                                    Twine(geometry.taps) + " of shape " + shapeText(depthwise));
  llvm::ArrayRef<int64_t> kernel = shape(KernelWeight);
  if (kernel.size() != 2 || kernel[0] % geometry.taps != 0)
    return error(KernelWeight, "requires rows that are a multiple of the " + Twine(geometry.taps) +
                                   " taps (heads * taps), but found shape " + shapeText(kernel));
  geometry.heads = kernel[0] / geometry.taps;
  if (geometry.attention % geometry.heads != 0)
    return error(QueryWeight, "requires rows that are a multiple of the " + Twine(geometry.heads) +
                                  " heads that conv_kernel_layer.weight " + shapeText(kernel) + " has with " +
                                  Twine(geometry.taps) + " taps, but found shape " + shapeText(shape(QueryWeight)));
  geometry.headSize = geometry.attention / geometry.heads;
  return Error::success();
}

Error GeometryDeriver::checkShapes() const {
  for (unsigned i = 0; i < NumLayerParams; ++i) {
    llvm::SmallVector<int64_t, 4> required = layerParamShape(LayerParam(i), geometry);
    if (shape(LayerParam(i)) != llvm::ArrayRef<int64_t>(required))
      return error(LayerParam(i),
                   "requires shape " + shapeText(required) +
                       (geometry.groups > 1 ? " with " + Twine(geometry.groups) + " groups" : Twine("")).str() +
                       " like the layer's other tensors, but found " + shapeText(shape(LayerParam(i))));
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
  if (Error failure = compare(config.kernelSize, geometry.taps, SpanDepthwise))
    return failure;
  if (Error failure = compare(config.numGroups, geometry.groups, UpWeight))
    return failure;
  if (Error failure = compare(config.intermediateSize, geometry.intermediate, UpWeight))
    return failure;
  if (geometry.heads != config.builtHeads())
    return importError(Twine(config.path) + ": num_attention_heads " + Twine(config.numHeads) + " and head_ratio " +
                       Twine(config.headRatio) + " leave " + Twine(config.builtHeads()) +
                       " attention heads, but tensor " + quoted(params[KernelWeight]->name) + " of shape " +
                       shapeText(shape(KernelWeight)) + " in " + params[KernelWeight]->file + " requires " +
                       Twine(geometry.heads) + " (with " + Twine(geometry.taps) + " taps)");
  return Error::success();
}

llvm::Expected<HeadRule> GeometryDeriver::matchRule() const {
  int64_t width = geometry.hidden;
  bool half = width % (2 * geometry.heads) == 0 && geometry.headSize == width / (2 * geometry.heads);
  bool nominal = width % config.numHeads == 0 && geometry.headSize == width / config.numHeads;
  if (half)
    return nominal ? HeadRule::All : HeadRule::HalfWidth;
  if (nominal)
    return HeadRule::NominalHeads;
  return error(QueryWeight, "requires " + Twine(geometry.heads) +
                                " heads of width hidden_size / (2 * heads) or hidden_size / "
                                "num_attention_heads, with hidden_size " +
                                Twine(width) + " and num_attention_heads " + Twine(config.numHeads) +
                                ", but found heads of width " + Twine(geometry.headSize) + " (shape " +
                                shapeText(shape(QueryWeight)) + ")");
}

llvm::Expected<DerivedGeometry> GeometryDeriver::derive() {
  if (Error failure = refuseEmpty())
    return std::move(failure);
  geometry.groups = deriveGroups();
  geometry.hidden = vote(Dim::D, config.hiddenSize);
  geometry.attention = vote(Dim::A, config.hiddenSize / 2);
  geometry.intermediate = vote(Dim::I, config.intermediateSize);
  // Grouped weights are checked by division below.
  if (geometry.hidden % geometry.groups != 0 || geometry.intermediate % geometry.groups != 0)
    return error(UpWeight, "requires groups that divide the widths " + Twine(geometry.hidden) + " and " +
                               Twine(geometry.intermediate) + ", but found " + Twine(geometry.groups) +
                               " groups (shape " + shapeText(shape(UpWeight)) + ")");
  if (Error failure = deriveHeads())
    return std::move(failure);
  if (Error failure = checkShapes())
    return std::move(failure);
  if (Error failure = checkConfig())
    return std::move(failure);
  llvm::Expected<HeadRule> rule = matchRule();
  if (!rule)
    return rule.takeError();
  return DerivedGeometry{geometry, *rule};
}

llvm::Expected<DerivedGeometry> deriveLayerGeometry(llvm::ArrayRef<const TensorInfo *> params, const Config &config) {
  return GeometryDeriver(params, config).derive();
}

} // namespace mlir::convbert
