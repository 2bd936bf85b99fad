//===- Costs.cpp - CostOpInterface ------------------------------------------===//
//
// Multiply-accumulates of matrix products and convolutions, after the formulas of the model's accounting: elementwise
// work, softmax and norms are not counted.  Attention counts as many keys as queries.  Nothing wraps: a cost that does
// not fit is the largest number.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/CostRules.h"
#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

int64_t convbert::product(ArrayRef<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    result = multiplyExtents(result, factor);
  return result;
}

/// Elements of all weights that are there: one multiply-accumulate each for every token.
static int64_t sizes(ArrayRef<Value> weights) {
  int64_t total = 0;
  for (Value weight : weights)
    if (weight)
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
int64_t LightConvOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, getFeatures(getX()), getTaps()});
}
int64_t DynamicConvOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, addExtents(sizes(getWeight()), multiplyExtents(getFeatures(getX()), getTaps()))});
}

// Gates: their papers count the squeeze and the scaling, one for each element of the sequence.
int64_t ScaleChannelsOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, getFeatures(getX())});
}
int64_t SelectBranchesOp::macCount(int64_t batch, int64_t length) {
  return product({static_cast<int64_t>(getBranches().size()), batch, length, getFeatures(getBranches().front())});
}
int64_t SqueezeExciteOp::macCount(int64_t batch, int64_t length) {
  int64_t scaled = product({2, length, getFeatures(getX())});
  return product({batch, addExtents(scaled, sizes({getW1(), getW2()}))});
}
int64_t SelectiveKernelOp::macCount(int64_t batch, int64_t length) {
  int64_t branches = static_cast<int64_t>(getBranches().size());
  int64_t weighed = product({2, branches, length, getFeatures(getBranches().front())});
  return product({batch, addExtents(weighed, sizes({getWz(), getA()}))});
}

int64_t SelfAttentionOp::macCount(int64_t batch, int64_t length) {
  return product({batch, length, length, addExtents(getFeatures(getK()), getFeatures(getV()))});
}
int64_t MixedAttentionOp::macCount(int64_t batch, int64_t length) {
  int64_t size = static_cast<int64_t>(getHeadSize()), attn = static_cast<int64_t>(getAttnHeads()) * size,
          conv = static_cast<int64_t>(getConvHeads()) * size;
  int64_t token = sizes({getWq(), getWk(), getWv(), getWd(), getWp(), getWf(), getWc(), getWo()});
  token = addExtents(token, multiplyExtents(conv, getTaps()));
  token = addExtents(token, product({2, attn, length}));
  return product({batch, length, token});
}
int64_t ActivationOp::macCount(int64_t, int64_t) { return 0; }
int64_t AttentionBiasOp::macCount(int64_t, int64_t) { return 0; }
int64_t LayerNormOp::macCount(int64_t, int64_t) { return 0; }
int64_t MaskTokensOp::macCount(int64_t, int64_t) { return 0; }
int64_t AddBiasOp::macCount(int64_t, int64_t) { return 0; }
int64_t PoolOp::macCount(int64_t, int64_t) { return 0; }
int64_t NormalizeTapsOp::macCount(int64_t, int64_t) { return 0; }
int64_t ScaleHeadsOp::macCount(int64_t, int64_t) { return 0; }

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

int64_t DenseOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t GroupedDenseOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t LayerNormOp::parameterCount() { return sizes({getGamma(), getBeta()}); }
int64_t EmbeddingsOp::parameterCount() {
  return sizes({getWord(), getPosition(), getTypeTable(), getGamma(), getBeta(), getProjection(), getProjectionBias()});
}
int64_t FeedForwardOp::parameterCount() { return sizes({getW1(), getB1(), getW2(), getB2()}); }
int64_t LMHeadOp::parameterCount() {
  return sizes({getWeight(), getBias(), getGamma(), getBeta(), getDecoder(), getDecoderBias()});
}
int64_t ClassifierHeadOp::parameterCount() { return sizes({getW1(), getB1(), getW2(), getB2()}); }
int64_t TokenHeadOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t SpanHeadOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t ChoiceHeadOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t SeparableConv1DOp::parameterCount() { return sizes({getDepthwise(), getPointwise(), getBias()}); }
int64_t DynamicKernelOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t SpanDynamicConvOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t LightConvOp::parameterCount() { return sizes({getWeight(), getBias()}); }
int64_t DynamicConvOp::parameterCount() { return sizes({getWeight(), getBias(), getChannelBias()}); }
int64_t AddBiasOp::parameterCount() { return sizes(getBias()); }
int64_t NormalizeTapsOp::parameterCount() { return sizes(getLogits()); }
int64_t SqueezeExciteOp::parameterCount() { return sizes({getW1(), getB1(), getW2(), getB2()}); }
int64_t SelectiveKernelOp::parameterCount() { return sizes({getWz(), getScale(), getShift(), getA()}); }
int64_t MixedAttentionOp::parameterCount() {
  return sizes({getWq(), getBq(), getWk(), getBk(), getWv(), getBv(), getWd(), getWp(), getBp(), getWf(), getBf(),
                getWc(), getBc(), getWo(), getBo()});
}
int64_t ActivationOp::parameterCount() { return 0; }
int64_t ApplyKernelOp::parameterCount() { return 0; }
int64_t AttentionBiasOp::parameterCount() { return 0; }
int64_t MaskTokensOp::parameterCount() { return 0; }
int64_t PoolOp::parameterCount() { return 0; }
int64_t ScaleHeadsOp::parameterCount() { return 0; }
int64_t ScaleChannelsOp::parameterCount() { return 0; }
int64_t SelectBranchesOp::parameterCount() { return 0; }
int64_t SelfAttentionOp::parameterCount() { return 0; }

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Bytes of `value`, see countBytes().
static int64_t bytes(Value value, int64_t batch, int64_t length) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return 0;
  SmallVector<int64_t> factors;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    factors.push_back(!ShapedType::isDynamic(size) ? size : dim == 0 ? batch : length);
  Type element = type.getElementType();
  factors.push_back(isa<FloatType>(element) ? 4 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  return product(factors);
}

ByteCount convbert::countBytes(Operation *op, int64_t batch, int64_t length) {
  ByteCount count;
  for (Value operand : op->getOperands())
    count.reads = addExtents(count.reads, bytes(operand, batch, length));
  for (Value result : op->getResults())
    count.writes = addExtents(count.writes, bytes(result, batch, length));
  return count;
}

/// Rows of the tables, one of each for every token, not the tables.
ByteCount EmbeddingsOp::byteCount(int64_t batch, int64_t length) {
  ByteCount count = countBytes(*this, batch, length);
  count.reads = product({getWord() ? 3 : 2, batch, length, getExtent(getPosition(), 1), 4});
  for (Value operand : getOperands())
    if (operand != getWord() && operand != getPosition() && operand != getTypeTable())
      count.reads = addExtents(count.reads, bytes(operand, batch, length));
  return count;
}
