//===- VerifyAttention.cpp - Verifiers of attention -------------------------===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

/// All operands but the key bias, the last one, have the same elements (TYPE-C6).  The bias may be f32 beside narrower
/// activations: scores are accumulated in f32, and the lowest f32 is no finite f16.
static LogicalResult requireElementTypes(EmitError error, ValueRange operands, Value bias) {
  if (failed(requireSameElementType(error, operands.drop_back(bias ? 1 : 0))))
    return failure();
  if (!bias)
    return success();
  Type found = getElementTypeOrSelf(bias), element = getElementTypeOrSelf(operands.front());
  if (found.isF32() || found == element)
    return success();
  return error() << "requires a bias of f32 or " << element << ", but found " << found;
}

LogicalResult SelfAttentionOp::verify() {
  auto error = [&] { return emitOpError(); };
  int64_t heads = static_cast<int64_t>(getHeads());
  // SELF_ATTENTION-C5
  if (failed(requireElementTypes(error, getOperands(), getBias())))
    return failure();
  // SELF_ATTENTION-C1 to SELF_ATTENTION-C3
  if (failed(requireTokens(error, "k", getK(), getQ())) || failed(requireTokens(error, "v", getV(), getQ())) ||
      failed(requireExtent(error, "the features of `k`", getFeatures(getQ()), getFeatures(getK()))) ||
      failed(requireHeads(error, "the features of `q`", heads, getFeatures(getQ()))) ||
      failed(requireHeads(error, "the features of `v`", heads, getFeatures(getV()))))
    return failure();
  // SELF_ATTENTION-C4
  if (getBias() && failed(requireTokens(error, "bias", getBias(), getK())))
    return failure();
  // SELF_ATTENTION-C6
  if (!getScale().isFinite())
    return error() << "requires a finite scale, but found " << getScale().convertToDouble();
  return success();
}

int64_t MixedAttentionOp::getTaps() { return getInFeatures(getWd(), getLayout()); }

LogicalResult MixedAttentionOp::verify() {
  auto error = [&] { return emitOpError(); };
  // MIXED_ATTENTION-C7
  if (failed(requireElementTypes(error, getOperands(), getBias())))
    return failure();
  int64_t attnHeads = static_cast<int64_t>(getAttnHeads()), convHeads = static_cast<int64_t>(getConvHeads()),
          size = static_cast<int64_t>(getHeadSize()), width = getFeatures(getX()), taps = getTaps();
  // MIXED_ATTENTION-C1
  if (attnHeads < 1 || convHeads < 1 || size < 1)
    return error() << "requires positive head counts and head size, but found " << attnHeads << ", " << convHeads
                   << " and " << size;
  // MIXED_ATTENTION-C2
  if (taps % 2 == 0)
    return error() << "requires an odd number of taps, but found " << taps;
  int64_t attn = multiplyExtents(attnHeads, size), conv = multiplyExtents(convHeads, size);
  int64_t logits = multiplyExtents(convHeads, taps), query = std::max(attn, conv);
  WeightLayout layout = getLayout();
  // MIXED_ATTENTION-C3
  struct Projection {
    StringRef weightName;
    Value weight;
    StringRef biasName;
    Value bias;
    int64_t in, out;
  };
  for (const Projection &p : {Projection{"wq", getWq(), "bq", getBq(), width, query},
                              Projection{"wk", getWk(), "bk", getBk(), width, attn},
                              Projection{"wv", getWv(), "bv", getBv(), width, attn},
                              Projection{"wp", getWp(), "bp", getBp(), width, conv},
                              Projection{"wf", getWf(), "bf", getBf(), conv, logits},
                              Projection{"wc", getWc(), "bc", getBc(), width, conv}})
    if (failed(requireWeight(error, p.weightName, p.weight, layout, p.in, p.out)) ||
        failed(requireVector(error, p.biasName, p.bias, p.out)))
      return failure();
  // MIXED_ATTENTION-C4, MIXED_ATTENTION-C5
  if (failed(requireExtent(error, "the channels of `wd`", width, getOutFeatures(getWd(), layout))) ||
      failed(requireExtent(error, "the input features of `wo`", addExtents(attn, conv),
                           getInFeatures(getWo(), layout))) ||
      failed(requireVector(error, "bo", getBo(), getOutFeatures(getWo(), layout))))
    return failure();
  return getBias() ? requireTokens(error, "bias", getBias(), getX()) : success(); // MIXED_ATTENTION-C6
}
