//===- CostsConv.cpp - CostOpInterface of convolutions with a window ------===//
//
// As in Costs.cpp.  `kernel_attention_conv` also counts its squeeze, one addition an element, as published figures do.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/CostRules.h"
#include "dialect/IR/WindowRules.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

static int64_t sum(ArrayRef<int64_t> terms) {
  int64_t result = 0;
  for (int64_t term : terms)
    result = addExtents(result, term);
  return result;
}

/// Elements of a parameter; none where there is none, or where it belongs to a sequence.
static int64_t size(Value parameter) {
  auto type = parameter ? cast<RankedTensorType>(parameter.getType()) : RankedTensorType();
  return type && type.hasStaticShape() ? product(type.getShape()) : 0;
}

/// Tokens of the result for `length` tokens; none for fewer than the window has.
static int64_t countTokens(const Window &window, int64_t length) {
  // Half of the largest number leaves room for the pads.
  int64_t tokens = window.getLength(std::min(length, std::numeric_limits<int64_t>::max() / 2));
  return ShapedType::isDynamic(tokens) ? 0 : tokens;
}

static int64_t countProducts(const ConvFeatures &features) {
  return product({features.out, features.in, features.taps});
}

int64_t Conv1DOp::macCount(int64_t batch, int64_t length) {
  ConvFeatures features = ConvFeatures::get(getWeight(), getLayout());
  return product({batch, countTokens(Window::get(*this, features.taps), length), countProducts(features)});
}
int64_t DepthwiseConv1DOp::macCount(int64_t batch, int64_t length) {
  return product({batch, countTokens(Window::get(*this, getTaps()), length), size(getWeight())});
}
int64_t WeightedSumOp::macCount(int64_t batch, int64_t length) { return product({batch, length, getFeatures(getX())}); }
int64_t BatchNormOp::macCount(int64_t, int64_t) { return 0; }
int64_t SoftmaxOp::macCount(int64_t, int64_t) { return 0; }

/// Multiply-accumulates of the convolution and the mix of `form`, for one sequence.
static int64_t countForm(KernelAttentionConvOp op, Aggregate form, int64_t length) {
  ConvFeatures features = ConvFeatures::get(op.getKernels(), op.getLayout());
  int64_t tokens = countTokens(Window::get(op, features.taps), length), products = countProducts(features);
  int64_t count = op.getKernelCount();
  if (form == Aggregate::Kernels)
    return sum({product({tokens, products}), product({count, products}), size(op.getBiases())});
  return sum({product({count, tokens, products}), product({count, tokens, features.out})});
}

Aggregate KernelAttentionConvOp::chooseAggregate(int64_t length) {
  if (ShapedType::isDynamic(length))
    return Aggregate::Kernels;
  return countForm(*this, Aggregate::Outputs, length) < countForm(*this, Aggregate::Kernels, length)
             ? Aggregate::Outputs
             : Aggregate::Kernels;
}

int64_t KernelAttentionConvOp::macCount(int64_t batch, int64_t length) {
  Aggregate form = getAggregate() == Aggregate::Auto ? chooseAggregate(length) : getAggregate();
  int64_t gate = sum({product({length, getFeatures(getX())}), size(getF1()), size(getF2())});
  return product({batch, addExtents(gate, countForm(*this, form, length))});
}

int64_t Conv1DOp::parameterCount() { return hasSequenceWeights() ? 0 : addExtents(size(getWeight()), size(getBias())); }
int64_t DepthwiseConv1DOp::parameterCount() { return addExtents(size(getWeight()), size(getBias())); }
int64_t WeightedSumOp::parameterCount() { return 0; }
int64_t BatchNormOp::parameterCount() {
  return sum({size(getMean()), size(getVariance()), size(getGamma()), size(getBeta())});
}
int64_t SoftmaxOp::parameterCount() { return 0; }
int64_t KernelAttentionConvOp::parameterCount() {
  return sum({size(getF1()), size(getB1()), size(getF2()), size(getB2()), size(getKernels()), size(getBiases())});
}
