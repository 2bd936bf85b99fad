//===- LayerSchema.h - The tensors of an encoder layer ----------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_LAYERSCHEMA_H
#define CONVBERT_LIB_IMPORT_LAYERSCHEMA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <tuple>

namespace mlir::convbert {

/// Parameters of an encoder layer in the order of the arguments of `@encoder_layer`.
enum LayerParam : unsigned {
  QueryWeight,
  QueryBias,
  KeyWeight,
  KeyBias,
  ValueWeight,
  ValueBias,
  SpanDepthwise,
  SpanPointwise,
  SpanBias,
  KernelWeight,
  KernelBias,
  ConvWeight,
  ConvBias,
  OutputWeight,
  OutputBias,
  AttentionNormWeight,
  AttentionNormBias,
  UpWeight,
  UpBias,
  DownWeight,
  DownBias,
  OutputNormWeight,
  OutputNormBias,
  NumLayerParams
};

/// Head counts of a layer.  An unpruned layer of ConvBERT has as many of each; one of BERT has no convolution heads.
struct LayerHeads {
  int64_t attention = 0, conv = 0;
  /// Heads that the query is wide enough for.  While a convolution head is left, all of the query meets the span-aware
  /// key, which is as wide, so neither gets narrower.
  int64_t query = 0;
  /// The part of the query that each attention head reads, where it is not its own number.
  llvm::SmallVector<int64_t> queryHeads;

  bool operator==(const LayerHeads &other) const {
    return std::tie(attention, conv, query, queryHeads) ==
           std::tie(other.attention, other.conv, other.query, other.queryHeads);
  }
};

/// Whether a layer with these heads has the parameter.
bool hasLayerParam(LayerParam param, const LayerHeads &heads);

/// Widths of one encoder layer.
struct LayerGeometry {
  LayerHeads heads;
  /// Model width D, feed-forward width I, width of a head.
  int64_t hidden = 0, intermediate = 0, headSize = 0;
  /// Taps K of the convolutions (0 without), groups G of the feed-forward block.
  int64_t taps = 0, groups = 0;
};

/// A dimension of a layer's tensor, as a formula of the geometry: heads of one kind or another times their width, ...
enum class Dim : uint8_t { One, Query, Attention, Span, Conv, Both, D, HeadTaps, K, I, Groups, DPerGroup, IPerGroup };

/// How many heads' widths `dim` is, if it is made of heads.
std::optional<int64_t> headsIn(Dim dim, const LayerHeads &heads);

/// Name of the parameter below `encoder.layer.<i>.`.
llvm::StringRef layerParamName(LayerParam param);

/// Dimensions of the parameter; those of the feed-forward weights depend on whether there are groups.
llvm::ArrayRef<Dim> layerParamDims(LayerParam param, bool grouped);

/// Shape of the parameter in the file.
llvm::SmallVector<int64_t, 4> layerParamShape(LayerParam param, const LayerGeometry &geometry);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_LAYERSCHEMA_H
