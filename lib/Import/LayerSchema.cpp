//===- LayerSchema.cpp - The 23 tensors of an encoder layer -----*- C++ -*-===//

#include "lib/Import/LayerSchema.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::convbert {

namespace {
struct ParamSchema {
  llvm::StringLiteral name;
  llvm::SmallVector<Dim, 3> dims;
};
} // namespace

static const ParamSchema &schema(LayerParam param) {
  static const ParamSchema table[NumLayerParams] = {
      {"attention.self.query.weight", {Dim::Query, Dim::D}},
      {"attention.self.query.bias", {Dim::Query}},
      {"attention.self.key.weight", {Dim::Attention, Dim::D}},
      {"attention.self.key.bias", {Dim::Attention}},
      {"attention.self.value.weight", {Dim::Attention, Dim::D}},
      {"attention.self.value.bias", {Dim::Attention}},
      {"attention.self.key_conv_attn_layer.depthwise.weight", {Dim::D, Dim::One, Dim::K}},
      {"attention.self.key_conv_attn_layer.pointwise.weight", {Dim::Span, Dim::D, Dim::One}},
      {"attention.self.key_conv_attn_layer.bias", {Dim::Span, Dim::One}},
      {"attention.self.conv_kernel_layer.weight", {Dim::HeadTaps, Dim::Span}},
      {"attention.self.conv_kernel_layer.bias", {Dim::HeadTaps}},
      {"attention.self.conv_out_layer.weight", {Dim::Conv, Dim::D}},
      {"attention.self.conv_out_layer.bias", {Dim::Conv}},
      {"attention.output.dense.weight", {Dim::D, Dim::Both}},
      {"attention.output.dense.bias", {Dim::D}},
      {"attention.output.LayerNorm.weight", {Dim::D}},
      {"attention.output.LayerNorm.bias", {Dim::D}},
      {"intermediate.dense.weight", {Dim::I, Dim::D}},
      {"intermediate.dense.bias", {Dim::I}},
      {"output.dense.weight", {Dim::D, Dim::I}},
      {"output.dense.bias", {Dim::D}},
      {"output.LayerNorm.weight", {Dim::D}},
      {"output.LayerNorm.bias", {Dim::D}},
  };
  return table[param];
}

bool hasLayerParam(LayerParam param, const LayerHeads &heads) {
  switch (param) {
  case KeyWeight:
  case KeyBias:
  case ValueWeight:
  case ValueBias:
    return heads.attention > 0;
  case SpanDepthwise:
  case SpanPointwise:
  case SpanBias:
  case KernelWeight:
  case KernelBias:
  case ConvWeight:
  case ConvBias:
    return heads.conv > 0;
  default:
    return true;
  }
}

llvm::StringRef layerParamName(LayerParam param) { return schema(param).name; }

llvm::ArrayRef<Dim> layerParamDims(LayerParam param, bool grouped) {
  // Grouped weights are [groups, in, out] and used as they are; dense ones are [out, in].
  static const Dim up[] = {Dim::Groups, Dim::DPerGroup, Dim::IPerGroup};
  static const Dim down[] = {Dim::Groups, Dim::IPerGroup, Dim::DPerGroup};
  if (grouped && param == UpWeight)
    return up;
  if (grouped && param == DownWeight)
    return down;
  return schema(param).dims;
}

std::optional<int64_t> headsIn(Dim dim, const LayerHeads &heads) {
  switch (dim) {
  case Dim::Query:
  case Dim::Span:
    return heads.query;
  case Dim::Attention:
    return heads.attention;
  case Dim::Conv:
    return heads.conv;
  case Dim::Both:
    return heads.attention + heads.conv;
  default:
    return std::nullopt;
  }
}

static int64_t dimSize(Dim dim, const LayerGeometry &geometry) {
  if (std::optional<int64_t> heads = headsIn(dim, geometry.heads))
    return *heads * geometry.headSize;
  switch (dim) {
  case Dim::One:
    return 1;
  case Dim::D:
    return geometry.hidden;
  case Dim::HeadTaps:
    return geometry.heads.conv * geometry.taps;
  case Dim::K:
    return geometry.taps;
  case Dim::I:
    return geometry.intermediate;
  case Dim::Groups:
    return geometry.groups;
  case Dim::DPerGroup:
    return geometry.hidden / geometry.groups;
  case Dim::IPerGroup:
    return geometry.intermediate / geometry.groups;
  default:
    llvm_unreachable("all dimensions handled");
  }
}

llvm::SmallVector<int64_t, 4> layerParamShape(LayerParam param, const LayerGeometry &geometry) {
  llvm::SmallVector<int64_t, 4> shape;
  for (Dim dim : layerParamDims(param, geometry.groups > 1))
    shape.push_back(dimSize(dim, geometry));
  return shape;
}

} // namespace mlir::convbert
