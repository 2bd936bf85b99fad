//===- VerifyDynamic.cpp - Verifiers of lightweight and dynamic convolution -===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

int64_t LightConvOp::getTaps() { return getExtent(getWeight(), 1); }
int64_t DynamicKernelOp::getTaps() { return getFeatures(getResult()); }
int64_t ApplyKernelOp::getTapCount() { return getFeatures(getTaps()); }
int64_t DynamicConvOp::getTaps() { return getOutFeatures(getWeight(), getLayout()) / static_cast<int64_t>(getHeads()); }
int64_t SpanDynamicConvOp::getTaps() {
  return getOutFeatures(getWeight(), getLayout()) / static_cast<int64_t>(getHeads());
}

/// Tokens between the first and the last tap, at most: a padded sequence still has a length.
static constexpr int64_t kWidestWindow = int64_t(1) << 31;

/// Where a window of taps lies: `dilation` is positive, and `pads` keep the number of tokens.
static LogicalResult requireWindow(EmitError error, ArrayRef<int64_t> pads, int64_t taps, int64_t dilation) {
  if (dilation < 1)
    return error() << "requires a positive dilation, but found " << dilation;
  int64_t reach = multiplyExtents(taps - 1, dilation);
  if (dilation > 1 && reach > kWidestWindow)
    return error() << "requires a window of at most " << kWidestWindow << " tokens, but found " << taps
                   << " taps with dilation " << dilation;
  return requirePads(error, pads, reach + 1);
}

/// `edge = renorm` needs a softmax that can leave taps out, and one tap on the token itself, so that one is left.
static LogicalResult requireEdge(EmitError error, Edge edge, KernelNorm normalize, ArrayRef<int64_t> pads,
                                 int64_t dilation) {
  if (edge == Edge::Zero)
    return success();
  if (normalize != KernelNorm::Softmax)
    return error() << "requires `normalize = softmax` for `edge = renorm`, but found `"
                   << stringifyKernelNorm(normalize) << "`";
  if (pads[0] % dilation != 0)
    return error() << "requires a low pad that is a multiple of the dilation, " << dilation
                   << ", for `edge = renorm`, but found " << pads[0];
  return success();
}

CONVBERT_VERIFY(LightConvOp) {
  int64_t channels = getFeatures(op.getX()), dilation = static_cast<int64_t>(op.getDilation());
  // LIGHT_CONV-C1, LIGHT_CONV-C2
  if (failed(requireHeads(error, "the channels of `x`", getExtent(op.getWeight(), 0), channels)) ||
      failed(requireVector(error, "bias", op.getBias(), channels)))
    return failure();
  // LIGHT_CONV-C3, LIGHT_CONV-C4
  if (failed(requireWindow(error, op.getPads(), op.getTaps(), dilation)))
    return failure();
  return requireEdge(error, op.getEdge(), op.getNormalize(), op.getPads(), dilation);
}

CONVBERT_VERIFY(DynamicKernelOp) {
  // DYNAMIC_KERNEL-C2, DYNAMIC_KERNEL-C3; C1 is a condition of type inference.
  if (failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getQ()),
                           getInFeatures(op.getWeight(), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), getOutFeatures(op.getWeight(), op.getLayout()))))
    return failure();
  // DYNAMIC_KERNEL-C4
  if (op.getSpanKey() && failed(requireShape(error, "span_key", op.getSpanKey(), op.getQ())))
    return failure();
  // DYNAMIC_KERNEL-C5
  int64_t dilation = static_cast<int64_t>(op.getDilation());
  if (op.getEdge() == Edge::Zero) {
    if (op.getPads() || dilation != 1)
      return error() << "requires `edge = renorm` for `pads` and `dilation`, but found `zero`";
    return success();
  }
  if (!op.getPads())
    return error() << "requires `pads` for `edge = renorm`, but found none";
  // DYNAMIC_KERNEL-C6
  if (failed(requireWindow(error, *op.getPads(), op.getTaps(), dilation)))
    return failure();
  return requireEdge(error, op.getEdge(), op.getNormalize(), *op.getPads(), dilation);
}

CONVBERT_VERIFY(ApplyKernelOp) {
  int64_t dilation = static_cast<int64_t>(op.getDilation());
  // APPLY_KERNEL-C1, APPLY_KERNEL-C2
  if (failed(requireTokens(error, "taps", op.getTaps(), op.getV())) ||
      failed(requireHeads(error, "the features of `v`", getExtent(op.getTaps(), 2), getFeatures(op.getV()))))
    return failure();
  // APPLY_KERNEL-C3, APPLY_KERNEL-C4
  if (failed(requireWindow(error, op.getPads(), getExtent(op.getTaps(), 3), dilation)))
    return failure();
  if (op.getMask() && failed(requireTokens(error, "mask", op.getMask(), op.getV())))
    return failure();
  // APPLY_KERNEL-C5
  if (op.getWithTaps() && op.getNormalize() != KernelNorm::Softmax)
    return error() << "requires `normalize = softmax` for `with_taps`, but found `"
                   << stringifyKernelNorm(op.getNormalize()) << "`";
  // APPLY_KERNEL-C6
  return requireEdge(error, op.getEdge(), op.getNormalize(), op.getPads(), dilation);
}

CONVBERT_VERIFY(AddBiasOp) {
  return requireVector(error, "bias", op.getBias(), getFeatures(op.getX())); // ADD_BIAS-C1
}

CONVBERT_VERIFY(DynamicConvOp) {
  int64_t features = getOutFeatures(op.getWeight(), op.getLayout()), channels = getFeatures(op.getX());
  int64_t heads = static_cast<int64_t>(op.getHeads()), dilation = static_cast<int64_t>(op.getDilation());
  // DYNAMIC_CONV-C1
  if (op.getQuery() && failed(requireTokens(error, "query", op.getQuery(), op.getX())))
    return failure();
  // DYNAMIC_CONV-C2 to DYNAMIC_CONV-C5
  if (failed(requireHeads(error, "the channels of `x`", heads, channels)) ||
      failed(requireHeads(error, "the output features of `weight`", heads, features)) ||
      failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getGeneratorInput()),
                           getInFeatures(op.getWeight(), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), features)) ||
      failed(requireVector(error, "channel_bias", op.getChannelBias(), channels)))
    return failure();
  // DYNAMIC_CONV-C6, DYNAMIC_CONV-C7
  if (failed(requireWindow(error, op.getPads(), features / heads, dilation)))
    return failure();
  return requireEdge(error, op.getEdge(), op.getNormalize(), op.getPads(), dilation);
}

CONVBERT_VERIFY(SpanDynamicConvOp) {
  int64_t features = getOutFeatures(op.getWeight(), op.getLayout());
  int64_t heads = static_cast<int64_t>(op.getHeads()), dilation = static_cast<int64_t>(op.getDilation());
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
  if (failed(requireWindow(error, op.getPads(), features / heads, dilation)))
    return failure();
  if (op.getMask() && failed(requireTokens(error, "mask", op.getMask(), op.getV())))
    return failure();
  // SPAN_DYNAMIC_CONV-C8
  return requireEdge(error, op.getEdge(), KernelNorm::Softmax, op.getPads(), dilation);
}
