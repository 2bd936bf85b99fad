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

int64_t DynamicKernelOp::getTaps() { return getFeatures(getResult()); }
int64_t ApplyKernelOp::getTapCount() { return getFeatures(getTaps()); }
int64_t SpanDynamicConvOp::getTaps() {
  return getOutFeatures(getWeight(), getLayout()) / static_cast<int64_t>(getHeads());
}

CONVBERT_VERIFY(DynamicKernelOp) {
  // DYNAMIC_KERNEL-C2, DYNAMIC_KERNEL-C3; C1 is a condition of type inference.
  if (failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getQ()),
                           getInFeatures(op.getWeight(), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), getOutFeatures(op.getWeight(), op.getLayout()))))
    return failure();
  // DYNAMIC_KERNEL-C4
  return op.getSpanKey() ? requireShape(error, "span_key", op.getSpanKey(), op.getQ()) : success();
}

CONVBERT_VERIFY(ApplyKernelOp) {
  // APPLY_KERNEL-C1, APPLY_KERNEL-C2
  if (failed(requireTokens(error, "taps", op.getTaps(), op.getV())) ||
      failed(requireHeads(error, "the features of `v`", getExtent(op.getTaps(), 2), getFeatures(op.getV()))))
    return failure();
  // APPLY_KERNEL-C3, APPLY_KERNEL-C4
  if (failed(requirePads(error, op.getPads(), getExtent(op.getTaps(), 3))))
    return failure();
  if (op.getMask() && failed(requireTokens(error, "mask", op.getMask(), op.getV())))
    return failure();
  // APPLY_KERNEL-C5
  if (op.getWithTaps() && op.getNormalize() != KernelNorm::Softmax)
    return error() << "requires `normalize = softmax` for `with_taps`, but found `"
                   << stringifyKernelNorm(op.getNormalize()) << "`";
  return success();
}

CONVBERT_VERIFY(SpanDynamicConvOp) {
  int64_t features = getOutFeatures(op.getWeight(), op.getLayout());
  int64_t heads = static_cast<int64_t>(op.getHeads());
  // SPAN_DYNAMIC_CONV-C1: equal types, so that the product of both is one.
  if (op.getSpanKey().getType() != op.getQ().getType())
    return error() << "requires `span_key` to have the type of `q`, " << op.getQ().getType() << ", but found "
                   << op.getSpanKey().getType();
  // SPAN_DYNAMIC_CONV-C2 to SPAN_DYNAMIC_CONV-C5
  if (failed(requireTokens(error, "v", op.getV(), op.getQ())) ||
      failed(requireHeads(error, "the features of `v`", heads, getFeatures(op.getV()))) ||
      failed(requireHeads(error, "the output features of `weight`", heads, features)) ||
      failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getQ()),
                           getInFeatures(op.getWeight(), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), features)))
    return failure();
  // SPAN_DYNAMIC_CONV-C6, SPAN_DYNAMIC_CONV-C7
  if (failed(requirePads(error, op.getPads(), features / heads)))
    return failure();
  return op.getMask() ? requireTokens(error, "mask", op.getMask(), op.getV()) : success();
}
