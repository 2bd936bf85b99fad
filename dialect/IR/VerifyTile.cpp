//===- VerifyTile.cpp - Verifiers of the bodies of outlined kernels ---------===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

CONVBERT_VERIFY(WeightViewOp) {
  // WEIGHT_VIEW-C1
  if (op.getPacked().empty() || op.getWeights().empty())
    return error() << "requires at least one packed tensor and one weight, but found " << op.getPacked().size()
                   << " and " << op.getWeights().size();
  // WEIGHT_VIEW-C2
  Type stored = getElementTypeOrSelf(op.getPacked().front());
  for (Value weight : op.getWeights())
    if (Type element = getElementTypeOrSelf(weight); element != stored && !(stored.isBF16() && element.isF32()))
      return error() << "requires weights of the packed element type " << stored << ", but found " << element;
  // WEIGHT_VIEW-C3
  auto count = [](ValueRange values) {
    int64_t total = 0;
    for (Value value : values) {
      int64_t elements = 1;
      for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
        elements = multiplyExtents(elements, size);
      total = addExtents(total, elements);
    }
    return total;
  };
  int64_t packed = count(op.getPacked()), weights = count(op.getWeights());
  if (packed < weights)
    return error() << "requires room for " << weights << " elements of the weights, but found " << packed
                   << " packed ones";
  return success();
}

LogicalResult PackedDenseOp::verify() {
  auto error = [&] { return emitOpError(); };
  PackedDenseOp op = *this;
  auto rows = cast<RankedTensorType>(getRows().getType()), panels = cast<RankedTensorType>(getPanels().getType());
  // PACKED_DENSE-C7
  SmallVector<Value> others{getBias()};
  if (getMultiplier())
    others.push_back(getMultiplier());
  if (!getElementTypeOrSelf(getBias()).isF32() || !panels.getElementType().isBF16())
    others.push_back(getPanels());
  if (!getElementTypeOrSelf(getBias()).isF32() || !rows.getElementType().isBF16())
    others.push_back(getRows());
  if (failed(requireSameElementType(error, others)))
    return failure();
  // PACKED_DENSE-C1
  if (rows.isDynamicDim(1) || panels.isDynamicDim(2))
    return error() << "requires static tile sizes, but found " << rows << " and " << panels;
  // PACKED_DENSE-C6
  if (rows.getRank() != panels.getRank() ||
      (rows.getRank() == 4 && (rows.getDimSize(3) != 2 || panels.getDimSize(3) != 2 ||
                               !rows.getElementType().isBF16() || !panels.getElementType().isBF16())))
    return error() << "requires rows and panels both of three dimensions or both of pairs of bf16, but found " << rows
                   << " and " << panels;
  // PACKED_DENSE-C2, PACKED_DENSE-C3
  if (failed(requireExtent(error, "the depth of `panels`", rows.getDimSize(2), panels.getDimSize(1))) ||
      failed(requireExtent(error, "the panels of `bias`", panels.getDimSize(0), getExtent(op.getBias(), 0))) ||
      failed(requireExtent(error, "the panel width of `bias`", panels.getDimSize(2), getExtent(op.getBias(), 1))))
    return failure();
  // PACKED_DENSE-C5
  if (op.getBiasFirst() && (op.getMultiplier() || op.getActivation() != ActivationKind::Identity))
    return error() << "requires neither multiplier nor activation with `bias_first`, but found "
                   << (op.getMultiplier() ? "`multiplier`" : stringifyActivationKind(op.getActivation()));
  // PACKED_DENSE-C8
  if (op.getWidenFirst() && (rows.getElementType().isBF16() || !panels.getElementType().isBF16()))
    return error() << "requires rows of f32 and panels of bf16 with `widen_first`, but found " << rows << " and "
                   << panels;
  // PACKED_DENSE-C4
  return op.getMultiplier() ? requireShape(error, "multiplier", op.getMultiplier(), op.getResult()) : success();
}

CONVBERT_VERIFY(NormTileOp) {
  int64_t padded = getExtent(op.getParams(), 1), width = static_cast<int64_t>(op.getWidth());
  // NORM_TILE-C2; C1 is a condition of type inference.
  if (failed(requireExtent(error, "the rows of `params`", 2, getExtent(op.getParams(), 0))))
    return failure();
  // NORM_TILE-C3
  for (Value addend : op.getAddends())
    if (failed(requireExtent(error, "the padded width of every addend", padded, getFeatures(addend))))
      return failure();
  // NORM_TILE-C4
  if (width < 1 || width > padded)
    return error() << "requires a width between 1 and " << padded << ", but found " << width;
  return requireEps(error, op.getEps()); // NORM_TILE-C5
}

CONVBERT_VERIFY(DepthwiseTileOp) {
  // DEPTHWISE_TILE-C1, DEPTHWISE_TILE-C3; C2 is a condition of type inference.
  if (failed(requireExtent(error, "the channels of `taps`", getFeatures(op.getX()), getFeatures(op.getTaps()))))
    return failure();
  return requireVector(error, "bias", op.getBias(), getFeatures(op.getX()));
}

CONVBERT_VERIFY(SpanTileOp) {
  int64_t tokens = addExtents(addExtents(getExtent(op.getLogits(), 0), getExtent(op.getLogits(), 1)), -1);
  int64_t heads = getExtent(op.getV(), 1), logitHeads = getExtent(op.getLogits(), 2);
  // SPAN_TILE-C1
  if (failed(requireExtent(error, "the tokens of `v` (tokens + taps - 1)", tokens, getExtent(op.getV(), 0))))
    return failure();
  // SPAN_TILE-C2
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(logitHeads) && heads > logitHeads)
    return error() << "requires at least " << heads << " heads of logits, but found " << logitHeads;
  return success();
}

CONVBERT_VERIFY(AttentionTileOp) {
  int64_t rows = getExtent(op.getQ(), 0), headSize = getExtent(op.getQ(), 1);
  int64_t panels = getExtent(op.getKeys(), 0), width = getExtent(op.getKeys(), 2);
  // ATTENTION_TILE-C1
  if (failed(requireExtent(error, "the head size of `keys`", headSize, getExtent(op.getKeys(), 1))))
    return failure();
  // ATTENTION_TILE-C2, ATTENTION_TILE-C3
  if (failed(requireExtent(error, "the panels of `values`", panels, getExtent(op.getValues(), 0))) ||
      failed(requireExtent(error, "the panel width of `values`", width, getExtent(op.getValues(), 1))) ||
      failed(requireExtent(error, "the panels of `bias`", panels, getExtent(op.getBias(), 0))) ||
      failed(requireExtent(error, "the panel width of `bias`", width, getExtent(op.getBias(), 1))))
    return failure();
  // ATTENTION_TILE-C4
  if (failed(requireExtent(error, "the rows of `scores`", rows, getExtent(op.getScores(), 0))) ||
      failed(requireExtent(error, "the panels of `scores`", panels, getExtent(op.getScores(), 1))))
    return failure();
  return requireExtent(error, "the panel width of `scores`", width, getExtent(op.getScores(), 2));
}
