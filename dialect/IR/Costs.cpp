//===- Costs.cpp - CostOpInterface ------------------------------------------===//
//
// Multiply-accumulates of matrix products and convolutions, after the formulas of the model's accounting: elementwise
// work, softmax and norms are not counted.  Nothing wraps: a cost that does not fit is the largest number.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

static int64_t product(ArrayRef<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    result = multiplyExtents(result, factor);
  return result;
}

/// Elements of all weights: one multiply-accumulate each for every token.
static int64_t sizes(ValueRange weights) {
  int64_t total = 0;
  for (Value weight : weights)
    total = addExtents(total, product(cast<RankedTensorType>(weight.getType()).getShape()));
  return total;
}

/// Tokens of an activation: pooled ones have one a sequence.
static int64_t tokens(Value x, int64_t batch, int64_t length) {
  return cast<RankedTensorType>(x.getType()).getRank() == 3 ? multiplyExtents(batch, length) : batch;
}

int64_t DenseOp::macCount(int64_t batch, int64_t length) {
  return product({tokens(getX(), batch, length), sizes(getWeight())});
}
int64_t GroupedDenseOp::macCount(int64_t batch, int64_t length) {
  return product({tokens(getX(), batch, length), sizes(getWeight())});
}
int64_t EmbeddingsOp::macCount(int64_t batch, int64_t length) {
  return getProjection() ? product({batch, length, sizes(getProjection())}) : 0;
}
int64_t FeedForwardOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, sizes({getW1(), getW2()})});
}
int64_t LMHeadOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, sizes({getWeight(), getDecoder()})});
}
int64_t ClassifierHeadOp::macCount(int64_t batch, int64_t) { return product({batch, sizes({getW1(), getW2()})}); }
int64_t TokenHeadOp::macCount(int64_t batch, int64_t length) { return product({batch, length, sizes(getWeight())}); }
int64_t SpanHeadOp::macCount(int64_t batch, int64_t length) { return product({batch, length, sizes(getWeight())}); }
int64_t ChoiceHeadOp::macCount(int64_t batch, int64_t) { return product({batch, sizes(getWeight())}); }

int64_t DepthwiseConv1DOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, sizes(getWeight())});
}
int64_t SeparableConv1DOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, sizes({getDepthwise(), getPointwise()})});
}
int64_t DynamicKernelOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, sizes(getWeight())});
}
int64_t ApplyKernelOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, getFeatures(getV()), getFeatures(getTaps())});
}
int64_t SpanDynamicConvOp::macCount(int64_t batch, int64_t length) {
  int64_t taps = getOutFeatures(getWeight(), getLayout()) / static_cast<int64_t>(getHeads());
  int64_t apply = multiplyExtents(getFeatures(getV()), taps);
  return product({batch, length, addExtents(sizes(getWeight()), apply)});
}

int64_t SelfAttentionOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, length, addExtents(getFeatures(getQ()), getFeatures(getV()))});
}
int64_t MixedAttentionOp::macCount(int64_t batch, int64_t length) {
  int64_t size = static_cast<int64_t>(getHeadSize()), attn = static_cast<int64_t>(getAttnHeads()) * size,
          conv = static_cast<int64_t>(getConvHeads()) * size;
  int64_t token = sizes({getWq(), getWk(), getWv(), getWd(), getWp(), getWf(), getWc(), getWo()});
  token = addExtents(token, multiplyExtents(conv, getTaps()));
  token = addExtents(token, product({2, attn, length}));
  return product({batch, length, token});
}
