//===- LayerSchema.h - The 23 tensors of an encoder layer -------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_LAYERSCHEMA_H
#define CONVBERT_LIB_IMPORT_LAYERSCHEMA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

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

/// Widths of one encoder layer. There are as many convolution heads as attention heads.
struct LayerGeometry {
  /// Model width D, width of all attention heads A = heads * headSize, feed-forward width I.
  int64_t hidden = 0, attention = 0, intermediate = 0;
  /// Attention heads, width of one, taps K of the convolutions, groups G of the feed-forward block.
  int64_t heads = 0, headSize = 0, taps = 0, groups = 0;
};

/// A dimension of a layer's tensor, as a formula of the geometry.
enum class Dim : uint8_t { One, A, TwoA, D, HeadTaps, K, I, Groups, DPerGroup, IPerGroup };

/// Name of the parameter below `encoder.layer.<i>.`.
llvm::StringRef layerParamName(LayerParam param);

/// Dimensions of the parameter; those of the feed-forward weights depend on whether there are groups.
llvm::ArrayRef<Dim> layerParamDims(LayerParam param, bool grouped);

/// The value of a dimension.
int64_t dimSize(Dim dim, const LayerGeometry &geometry);

/// Shape of the parameter in the file.
llvm::SmallVector<int64_t, 4> layerParamShape(LayerParam param, const LayerGeometry &geometry);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_LAYERSCHEMA_H
