//===- VerifyConv.cpp - Verifiers of convolutions over tokens ---------------===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

int64_t DepthwiseConv1DOp::getTaps() { return getInFeatures(getWeight(), getLayout()); }

CONVBERT_VERIFY(DepthwiseConv1DOp) {
  // DEPTHWISE_CONV1D-C1
  if (failed(requireExtent(error, "the channels of `weight`", getFeatures(op.getX()),
                           getOutFeatures(op.getWeight(), op.getLayout()))))
    return failure();
  return requirePads(error, op.getPads(), op.getTaps()); // DEPTHWISE_CONV1D-C2
}

CONVBERT_VERIFY(SeparableConv1DOp) {
  int64_t channels = getFeatures(op.getX());
  // SEPARABLE_CONV1D-C1 to SEPARABLE_CONV1D-C3
  if (failed(requireExtent(error, "the channels of `depthwise`", channels,
                           getOutFeatures(op.getDepthwise(), op.getLayout()))) ||
      failed(requireExtent(error, "the input features of `pointwise`", channels,
                           getInFeatures(op.getPointwise(), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), getOutFeatures(op.getPointwise(), op.getLayout()))))
    return failure();
  return requirePads(error, op.getPads(), getInFeatures(op.getDepthwise(), op.getLayout())); // SEPARABLE_CONV1D-C4
}

CONVBERT_VERIFY(MaskTokensOp) { return requireTokens(error, "mask", op.getMask(), op.getX()); } // MASK_TOKENS-C1
