//===- Costs.cpp - CostOpInterface ------------------------------------------===//
//
// Multiply-accumulates of matrix products and convolutions, after the formulas of the model's accounting: elementwise
// work, softmax and norms are not counted.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

/// Elements of a weight: one multiply-accumulate each for every token.
static int64_t size(Value weight) { return cast<RankedTensorType>(weight.getType()).getNumElements(); }

/// Tokens of an activation: pooled ones have one a sequence.
static int64_t tokens(Value x, int64_t batch, int64_t length) {
  return cast<RankedTensorType>(x.getType()).getRank() == 3 ? batch * length : batch;
}

int64_t DenseOp::macCount(int64_t batch, int64_t length) { return tokens(getX(), batch, length) * size(getWeight()); }
int64_t GroupedDenseOp::macCount(int64_t batch, int64_t length) {
  return tokens(getX(), batch, length) * size(getWeight());
}
int64_t EmbeddingsOp::macCount(int64_t batch, int64_t length) {
  return getProjection() ? batch * length * size(getProjection()) : 0;
}
int64_t FeedForwardOp::macCount(int64_t batch, int64_t length) {
  return batch * length * (size(getW1()) + size(getW2()));
}
int64_t LMHeadOp::macCount(int64_t batch, int64_t length) {
  return batch * length * (size(getWeight()) + size(getDecoder()));
}
int64_t ClassifierHeadOp::macCount(int64_t batch, int64_t) { return batch * (size(getW1()) + size(getW2())); }
int64_t TokenHeadOp::macCount(int64_t batch, int64_t length) { return batch * length * size(getWeight()); }
int64_t SpanHeadOp::macCount(int64_t batch, int64_t length) { return batch * length * size(getWeight()); }
int64_t ChoiceHeadOp::macCount(int64_t batch, int64_t) { return batch * size(getWeight()); }

int64_t DepthwiseConv1DOp::macCount(int64_t batch, int64_t length) { return batch * length * size(getWeight()); }
int64_t SeparableConv1DOp::macCount(int64_t batch, int64_t length) {
  return batch * length * (size(getDepthwise()) + size(getPointwise()));
}
int64_t DynamicKernelOp::macCount(int64_t batch, int64_t length) { return batch * length * size(getWeight()); }
int64_t ApplyKernelOp::macCount(int64_t batch, int64_t length) {
  return batch * length * getFeatures(getV()) * getFeatures(getTaps());
}
int64_t SpanDynamicConvOp::macCount(int64_t batch, int64_t length) {
  int64_t taps = getOutFeatures(cast<RankedTensorType>(getWeight().getType()), getLayout()) / getHeads();
  return batch * length * (size(getWeight()) + getFeatures(getV()) * taps);
}

int64_t SelfAttentionOp::macCount(int64_t batch, int64_t length) {
  return batch * length * length * (getFeatures(getQ()) + getFeatures(getV()));
}
int64_t MixedAttentionOp::macCount(int64_t batch, int64_t length) {
  int64_t weights = size(getWq()) + size(getWk()) + size(getWv()) + size(getWd()) + size(getWp()) + size(getWf()) +
                    size(getWc()) + size(getWo());
  int64_t attn = getAttnHeads() * getHeadSize(), conv = getConvHeads() * getHeadSize();
  return batch * length * (weights + conv * getTaps() + 2 * attn * length);
}
