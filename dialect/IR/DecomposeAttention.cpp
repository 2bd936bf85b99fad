//===- DecomposeAttention.cpp - DecomposeOpInterface: mixed attention -------===//

#include "dialect/IR/Blocks.h"
#include "dialect/IR/Decompose.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

namespace {

/// Builds the branches of one mixed attention.
struct MixedBuilder {
  MixedAttentionOp op;
  OpBuilder &b;
  Location loc = op.getLoc();
  WeightLayout layout = op.getLayout();
  int64_t attnHeads = static_cast<int64_t>(op.getAttnHeads()), convHeads = static_cast<int64_t>(op.getConvHeads()),
          size = static_cast<int64_t>(op.getHeadSize());

  Value dense(StringRef step, Value weight, Value bias) {
    return buildDense(b, nameStep(loc, step), op.getX(), weight, bias, layout);
  }

  Value headMask(int64_t first, int64_t count) {
    return op.getHeadMask() ? extractBlock(b, loc, op.getHeadMask(), 0, first, count) : Value();
  }

  /// The part of the query that meets the span-aware key.  What is no run of slices is computed again, from a part of
  /// the weights: slices side by side in memory are worth more than a few rows of a product.
  Value spanQuery(Value query) {
    std::optional<ArrayRef<int64_t>> slices = op.getSpanQueryHeads();
    if (!slices)
      return extractBlock(b, loc, query, 2, 0, getExtent(op.getBp(), 0));
    for (auto [i, slice] : llvm::enumerate(*slices))
      if (slice != slices->front() + static_cast<int64_t>(i)) {
        int64_t axis = layout == WeightLayout::OutIn ? 0 : 1;
        return dense("span_query", selectBlocks(b, loc, op.getWq(), axis, size, *slices),
                     selectBlocks(b, loc, op.getBq(), 0, size, *slices));
      }
    return selectBlocks(b, loc, query, 2, size, *slices);
  }

  SelfAttentionOp attention(Value query, Value key, Value value) {
    double scale = 1.0 / std::sqrt(static_cast<double>(size));
    if (!op.getQueryHeads())
      query = extractBlock(b, loc, query, 2, 0, attnHeads * size);
    return SelfAttentionOp::create(b, nameStep(loc, "self_attention"), query, key, value, op.getBias(),
                                   headMask(0, attnHeads), op.getAttnHeadsAttr(), b.getF64FloatAttr(scale),
                                   op.getQueryHeadsAttr(), op.getWithProbabilitiesAttr());
  }

  /// The convolution of `values`, and its taps where they are asked for.
  std::pair<Value, Value> convolution(Value query, Value values) {
    int64_t pad = (op.getTaps() - 1) / 2;
    DenseI64ArrayAttr pads = b.getDenseI64ArrayAttr({pad, pad});
    Value x = op.getX(), mask = op.getConvMask(), taps, result;
    if (mask)
      x = MaskTokensOp::create(b, loc, x, mask);
    Location span = nameStep(loc, "span"), conv = nameStep(loc, "conv");
    Value key = SeparableConv1DOp::create(b, span, x, op.getWd(), op.getWp(), op.getBp(), pads,
                                          /*dilation=*/b.getI64IntegerAttr(1), op.getLayoutAttr());
    if (op.getWithKernels()) {
      taps = DynamicKernelOp::create(b, nameStep(conv, "kernel"), query, op.getWf(), op.getBf(), key, convHeads,
                                     KernelNorm::Softmax, layout);
      result = ApplyKernelOp::create(b, conv, values, taps, mask, pads,
                                     KernelNormAttr::get(b.getContext(), KernelNorm::None), /*with_taps=*/UnitAttr())
                   .getResult();
    } else {
      result = SpanDynamicConvOp::create(b, conv, query, key, values, op.getWf(), op.getBf(), mask,
                                         op.getConvHeadsAttr(), pads, op.getLayoutAttr());
    }
    if (Value scales = headMask(attnHeads, convHeads))
      result = ScaleHeadsOp::create(b, conv, result, scales);
    return {result, taps};
  }
};

} // namespace

Values MixedAttentionOp::decompose(OpBuilder &b) {
  MixedBuilder builder{*this, b};
  SmallVector<Value> results(1), branches;
  Value query = builder.dense("query", getWq(), getBq()), key, value, convValue;
  if (getWk()) {
    key = builder.dense("key", getWk(), getBk());
    value = builder.dense("value", getWv(), getBv());
  }
  if (getWd())
    convValue = sharesValues() ? value : builder.dense("conv_value", getWc(), getBc());
  std::pair<Value, Value> conv;
  if (getWd())
    conv = builder.convolution(builder.spanQuery(query), convValue);
  if (getWk()) {
    SelfAttentionOp attention = builder.attention(query, key, value);
    branches.push_back(attention.getResult());
    if (getWithProbabilities())
      results.push_back(attention.getProbabilities());
  }
  if (getWd())
    branches.push_back(conv.first);
  if (getWithKernels())
    results.push_back(conv.second);
  Value both = branches.front();
  if (branches.size() > 1)
    both = tensor::ConcatOp::create(b, getLoc(), /*dim=*/2, branches);
  results.front() = buildDense(b, nameStep(getLoc(), "output"), both, getWo(), getBo(), getLayout());
  return results;
}
