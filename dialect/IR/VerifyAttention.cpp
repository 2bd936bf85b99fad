//===- VerifyAttention.cpp - Verifiers of attention -------------------------===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

CONVBERT_VERIFY(ScaleHeadsOp) {
  // SCALE_HEADS-C1
  return requireHeads(error, "the features of `x`", getExtent(op.getScales(), 0), getFeatures(op.getX()));
}

//===----------------------------------------------------------------------===//
// Self-attention
//===----------------------------------------------------------------------===//

int64_t SelfAttentionOp::getHeadSize() { return getFeatures(getK()) / static_cast<int64_t>(getHeads()); }

int64_t SelfAttentionOp::getQuerySlice(int64_t head) { return getQueryHeads() ? (*getQueryHeads())[head] : head; }

LogicalResult SelfAttentionOp::verify() {
  auto error = [&] { return emitOpError(); };
  int64_t heads = static_cast<int64_t>(getHeads());
  // SELF_ATTENTION-C5
  if (failed(requireElementTypes(error, getOperands(), getBias())))
    return failure();
  // SELF_ATTENTION-C1
  if (failed(requireExtent(error, "the batch of `k`", getExtent(getQ(), 0), getExtent(getK(), 0))) ||
      failed(requireExtent(error, "the batch of `v`", getExtent(getQ(), 0), getExtent(getV(), 0))) ||
      failed(requireTokens(error, "v", getV(), getK())))
    return failure();
  // SELF_ATTENTION-C2
  if (failed(requireHeads(error, "the features of `k`", heads, getFeatures(getK()))) ||
      failed(requireHeads(error, "the features of `v`", heads, getFeatures(getV()))))
    return failure();
  // SELF_ATTENTION-C3
  int64_t query = getFeatures(getQ()), size = getHeadSize();
  if (!getQueryHeads() && failed(requireExtent(error, "the features of `q`", getFeatures(getK()), query)))
    return failure();
  if (query % size != 0)
    return error() << "requires a query of whole heads of " << size << " features, but found " << query;
  // SELF_ATTENTION-C4
  if (getBias() && failed(requireTokens(error, "bias", getBias(), getK())))
    return failure();
  // SELF_ATTENTION-C6
  if (!getScale().isFinite())
    return error() << "requires a finite scale, but found " << getScale().convertToDouble();
  // SELF_ATTENTION-C7, SELF_ATTENTION-C8
  if (failed(requireVector(error, "head_mask", getHeadMask(), heads)))
    return failure();
  return requireSlices(error, "query_heads", getQueryHeads(), heads, query / size);
}

//===----------------------------------------------------------------------===//
// Mixed attention
//===----------------------------------------------------------------------===//

int64_t MixedAttentionOp::getTaps() { return getWd() ? getInFeatures(getWd(), getLayout()) : 0; }

int64_t MixedAttentionOp::getQuerySlice(int64_t head) { return getQueryHeads() ? (*getQueryHeads())[head] : head; }

namespace {
/// An operand or flag, and whether it is there.
struct Part {
  StringRef name;
  bool present;
};

/// A dense layer, where it is there.
struct Projection {
  StringRef weightName;
  Value weight;
  StringRef biasName;
  Value bias;
  int64_t in, out;
};
} // namespace

/// The parts of a branch are there if it has heads; `allowed` ones may be.
static LogicalResult requireBranch(EmitError error, StringRef branch, int64_t heads, ArrayRef<Part> needed,
                                   ArrayRef<Part> allowed) {
  for (const Part &part : needed)
    if (heads > 0 && !part.present)
      return error() << "requires `" << part.name << "` for " << heads << " " << branch << " heads, but found none";
  for (const Part &part : llvm::concat<const Part>(needed, allowed))
    if (heads == 0 && part.present)
      return error() << "requires no `" << part.name << "` without " << branch << " heads, but found one";
  return success();
}

static LogicalResult requireBranches(EmitError error, MixedAttentionOp op, int64_t attnHeads, int64_t convHeads) {
  auto part = [](StringRef name, Value value) { return Part{name, static_cast<bool>(value)}; };
  // MIXED_ATTENTION-C3, MIXED_ATTENTION-C4
  if (failed(requireBranch(
          error, "attention", attnHeads,
          {part("wk", op.getWk()), part("bk", op.getBk()), part("wv", op.getWv()), part("bv", op.getBv())},
          {part("bias", op.getBias()), {"with_probabilities", op.getWithProbabilities()}})) ||
      failed(requireBranch(error, "convolution", convHeads,
                           {part("wd", op.getWd()), part("wp", op.getWp()), part("bp", op.getBp()),
                            part("wf", op.getWf()), part("bf", op.getBf())},
                           {part("wc", op.getWc()),
                            part("bc", op.getBc()),
                            part("conv_mask", op.getConvMask()),
                            {"with_kernels", op.getWithKernels()}})))
    return failure();
  if (!op.getWc() != !op.getBc()) {
    StringRef found = op.getWc() ? "wc" : "bc";
    return error() << "requires `wc` and `bc` together, but found `" << found << "` alone";
  }
  if (op.sharesValues() && attnHeads != convHeads)
    return error() << "requires as many attention as convolution heads where they share values, but found " << attnHeads
                   << " and " << convHeads;
  return success();
}

LogicalResult MixedAttentionOp::verify() {
  auto error = [&] { return emitOpError(); };
  // MIXED_ATTENTION-C10
  if (failed(requireElementTypes(error, getOperands(), getBias())))
    return failure();
  int64_t attnHeads = static_cast<int64_t>(getAttnHeads()), convHeads = static_cast<int64_t>(getConvHeads()),
          size = static_cast<int64_t>(getHeadSize()), width = getFeatures(getX());
  // MIXED_ATTENTION-C1
  if (attnHeads < 0 || convHeads < 0 || size < 1 || attnHeads + convHeads == 0)
    return error() << "requires a positive head size and one positive head count, none negative, but found head size "
                   << size << " and " << attnHeads << " and " << convHeads << " heads";
  if (failed(requireBranches(error, *this, attnHeads, convHeads)))
    return failure();
  WeightLayout layout = getLayout();
  int64_t taps = getTaps(), attn = multiplyExtents(attnHeads, size), conv = multiplyExtents(convHeads, size);
  int64_t query = getOutFeatures(getWq(), layout), span = getWp() ? getOutFeatures(getWp(), layout) : 0;
  // MIXED_ATTENTION-C2
  if (convHeads > 0 && taps % 2 == 0)
    return error() << "requires an odd number of taps, but found " << taps;
  // MIXED_ATTENTION-C5
  for (const Projection &p :
       {Projection{"wq", getWq(), "bq", getBq(), width, query}, Projection{"wk", getWk(), "bk", getBk(), width, attn},
        Projection{"wv", getWv(), "bv", getBv(), width, attn}, Projection{"wp", getWp(), "bp", getBp(), width, span},
        Projection{"wf", getWf(), "bf", getBf(), span, multiplyExtents(convHeads, taps)},
        Projection{"wc", getWc(), "bc", getBc(), width, conv}})
    if (p.weight && (failed(requireWeight(error, p.weightName, p.weight, layout, p.in, p.out)) ||
                     failed(requireVector(error, p.biasName, p.bias, p.out))))
      return failure();
  for (auto [what, features] : {std::pair("query", query), std::pair("span-aware key", span)})
    if (features % size != 0)
      return error() << "requires a " << what << " of whole heads of " << size << " features, but found " << features;
  // MIXED_ATTENTION-C6
  if (failed(requireSlices(error, "query_heads", getQueryHeads(), attnHeads, query / size)) ||
      failed(requireSlices(error, "span_query_heads", getSpanQueryHeads(), span / size, query / size)))
    return failure();
  // MIXED_ATTENTION-C7, MIXED_ATTENTION-C8
  if ((getWd() && failed(requireExtent(error, "the channels of `wd`", width, getOutFeatures(getWd(), layout)))) ||
      failed(
          requireExtent(error, "the input features of `wo`", addExtents(attn, conv), getInFeatures(getWo(), layout))) ||
      failed(requireVector(error, "bo", getBo(), getOutFeatures(getWo(), layout))))
    return failure();
  // MIXED_ATTENTION-C9, MIXED_ATTENTION-C11
  if ((getBias() && failed(requireTokens(error, "bias", getBias(), getX()))) ||
      (getConvMask() && failed(requireTokens(error, "conv_mask", getConvMask(), getX()))))
    return failure();
  return requireVector(error, "head_mask", getHeadMask(), addExtents(attnHeads, convHeads));
}
