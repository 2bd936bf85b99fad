//===- VerifyConv.cpp - Verifiers of convolutions over tokens ---------------===//

#include "dialect/IR/Verify.h"
#include "dialect/IR/WindowRules.h"

using namespace mlir;
using namespace mlir::convbert;

bool Conv1DOp::hasSequenceWeights() { return cast<RankedTensorType>(getWeight().getType()).getRank() == 4; }

CONVBERT_VERIFY(Conv1DOp) {
  int64_t groups = static_cast<int64_t>(op.getGroups()), channels = getFeatures(op.getX());
  ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
  // CONV1D-C2
  if (groups < 1)
    return error() << "requires a positive number of groups, but found " << groups;
  for (auto [what, size] :
       {std::pair{"the features of `x`", channels}, std::pair{"the output features of `weight`", features.out}})
    if (size % groups != 0)
      return error() << "requires " << what << " to be a multiple of the " << groups << " groups, but found " << size;
  // CONV1D-C3
  if (failed(requireExtent(error, "the input features of `weight`", channels / groups, features.in)))
    return failure();
  // CONV1D-C4, CONV1D-C5
  if (op.hasSequenceWeights() &&
      failed(requireExtent(error, "the batch of `weight`", getExtent(op.getX(), 0), getExtent(op.getWeight(), 0))))
    return failure();
  if (Value bias = op.getBias()) {
    int64_t rank = cast<RankedTensorType>(bias.getType()).getRank(), expected = op.hasSequenceWeights() ? 2 : 1;
    if (failed(requireExtent(error, "the rank of `bias`", expected, rank)) ||
        failed(requireExtent(error, "the size of `bias`", features.out, getFeatures(bias))) ||
        (expected == 2 &&
         failed(requireExtent(error, "the batch of `bias`", getExtent(op.getX(), 0), getExtent(bias, 0)))))
      return failure();
  }
  return requireWindow(error, Window::get(op, features.taps), getExtent(op.getX(), 1)); // CONV1D-C6
}

int64_t DepthwiseConv1DOp::getTaps() { return getInFeatures(getWeight(), getLayout()); }
bool DepthwiseConv1DOp::keepsTokens() { return Window::get(*this, getTaps()).keepsTokens(); }

CONVBERT_VERIFY(DepthwiseConv1DOp) {
  int64_t channels = getFeatures(op.getX()), filters = getOutFeatures(op.getWeight(), op.getLayout());
  // DEPTHWISE_CONV1D-C1
  if (filters % channels != 0)
    return error() << "requires the channels of `weight` to be a multiple of the " << channels
                   << " channels of `x`, but found " << filters;
  // DEPTHWISE_CONV1D-C2
  if (failed(requireWindow(error, Window::get(op, op.getTaps()), getExtent(op.getX(), 1))))
    return failure();
  return requireVector(error, "bias", op.getBias(), filters); // DEPTHWISE_CONV1D-C3
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
  // SEPARABLE_CONV1D-C5, SEPARABLE_CONV1D-C4
  int64_t dilation = static_cast<int64_t>(op.getDilation());
  if (dilation < 1)
    return error() << "requires a positive dilation, but found " << dilation;
  return requirePads(error, op.getPads(), getInFeatures(op.getDepthwise(), op.getLayout()), dilation);
}

CONVBERT_VERIFY(MaskTokensOp) { return requireTokens(error, "mask", op.getMask(), op.getX()); } // MASK_TOKENS-C1

CONVBERT_VERIFY(BatchNormOp) {
  int64_t features = getFeatures(op.getX());
  // BATCH_NORM-C1
  if (failed(requireVector(error, "mean", op.getMean(), features)) ||
      failed(requireVector(error, "variance", op.getVariance(), features)) ||
      failed(requireVector(error, "gamma", op.getGamma(), features)) ||
      failed(requireVector(error, "beta", op.getBeta(), features)))
    return failure();
  return requireEps(error, op.getEps()); // BATCH_NORM-C2
}

/// The temperature of a softmax.
static LogicalResult requireTemperature(EmitError error, const APFloat &temperature) {
  if (temperature.isFinite() && !temperature.isZero() && !temperature.isNegative())
    return success();
  return error() << "requires a temperature that is finite and positive, but found " << temperature.convertToDouble();
}

// SOFTMAX-C1
LogicalResult SoftmaxOp::verify() {
  return requireTemperature([&] { return emitOpError(); }, getTemperature());
}

CONVBERT_VERIFY(WeightedSumOp) {
  // WEIGHTED_SUM-C2; C1 is a condition of type inference.
  return requireExtent(error, "the batch of `weights`", getExtent(op.getX(), 0), getExtent(op.getWeights(), 0));
}

int64_t KernelAttentionConvOp::getKernelCount() { return getExtent(getKernels(), 0); }

CONVBERT_VERIFY(KernelAttentionConvOp) {
  WeightLayout layout = op.getLayout();
  int64_t channels = getFeatures(op.getX()), hidden = getOutFeatures(op.getF1(), layout), count = op.getKernelCount();
  ConvFeatures features = ConvFeatures::get(op.getKernels(), layout);
  // KERNEL_ATTENTION_CONV-C1, KERNEL_ATTENTION_CONV-C2
  if (failed(requireExtent(error, "the input features of `f1`", channels, getInFeatures(op.getF1(), layout))) ||
      failed(requireVector(error, "b1", op.getB1(), hidden)) ||
      failed(requireWeight(error, "f2", op.getF2(), layout, hidden, count)) ||
      failed(requireVector(error, "b2", op.getB2(), count)))
    return failure();
  // KERNEL_ATTENTION_CONV-C3
  if (failed(requireExtent(error, "the input features of `kernels`", channels, features.in)))
    return failure();
  // KERNEL_ATTENTION_CONV-C4
  if (Value biases = op.getBiases())
    if (failed(requireExtent(error, "the kernels of `biases`", count, getExtent(biases, 0))) ||
        failed(requireExtent(error, "the output features of `biases`", features.out, getExtent(biases, 1))))
      return failure();
  // KERNEL_ATTENTION_CONV-C5, KERNEL_ATTENTION_CONV-C6
  if (failed(requireWindow(error, Window::get(op, features.taps), getExtent(op.getX(), 1))))
    return failure();
  return requireTemperature(error, op.getTemperature());
}
