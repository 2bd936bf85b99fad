//===- StepAttention.cpp - Lowering of attention --------------------------===//
//
// b sequences, t queries, s keys, h heads, c columns of a head.
//
//   attention_bias   generic (b, s)   mask ? 0 : lowest finite number
//
//   scale_heads      generic (.., h, c)   x[..,h,c] * scales[h]
//
//   self_attention   %q = slices of the query, where it has more than heads
//                    %x = generic (b, h, t, s, c)   q[b,t,h,c] * k[b,s,h,c]
//                    %x = generic (b, h, t, s)      x * scale + bias[b,s], in place
//                    %p = softmax over s            in place
//                    %p = generic (b, h, t, s)      p * head_mask[h], in place
//                    %y = generic (b, h, t, s, c)   y[b,t,h,c] + p[b,h,t,s] * v[b,s,h,c], s reduced
//
// The lowest finite number absorbs every score, so a row whose keys are all masked is uniform; a row whose keys all
// have -inf is NaN, as 0 / 0.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Blocks.h"
#include "dialect/IR/ShapeRules.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"

using namespace mlir;
using namespace mlir::convbert;

/// Scores B x H x Tq x Tk of queries and keys split in heads, B x T x H x d.
static Value buildScores(StepBuilder &b, Value q, Value k) {
  AffineExpr n, h, t, s, c;
  bindDims(q.getContext(), n, h, t, s, c);
  Value start = b.filled(0.0, {b.getSize(q, 0), b.getSize(q, 2), b.getSize(q, 1), b.getSize(k, 1)});
  return b.generic({q, k}, start, {{n, t, h, c}, {n, s, h, c}, {n, h, t, s}}, 5, 4u, body::multiplyAdd);
}

/// scores * scale + bias[b,s], in place; `bias` may be null.
static Value buildScaleAndBias(StepBuilder &b, Value scores, double scale, Value bias) {
  if (scale == 1.0 && !bias)
    return scores;
  AffineExpr n, h, t, s;
  bindDims(scores.getContext(), n, h, t, s);
  SmallVector<Value> inputs;
  if (bias)
    inputs.push_back(bias);
  SmallVector<AffineExpr> key{n, s};
  SmallVector<ArrayRef<AffineExpr>> maps(inputs.size(), key);
  Value factor = b.constant(scale);
  return b.update(scores, inputs, maps, [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
    Value score = scale == 1.0 ? args[0] : body::multiply(builder, loc, {args[0], factor});
    return bias ? body::add(builder, loc, {score, args[1]}) : score;
  });
}

/// The values of all keys, B x Tk x H x d, mixed with the probabilities B x H x Tq x Tk: B x Tq x H x d.
static Value buildMix(StepBuilder &b, Value probabilities, Value v) {
  AffineExpr n, h, t, s, c;
  bindDims(v.getContext(), n, h, t, s, c);
  Value start = b.filled(0.0, {b.getSize(v, 0), b.getSize(probabilities, 2), b.getSize(v, 2), b.getSize(v, 3)});
  // The keys are reduced outside of the columns: columns lie side by side.
  return b.generic({probabilities, v}, start, {{n, h, t, s}, {n, s, h, c}, {n, t, h, c}}, 5, 3u, body::multiplyAdd);
}

namespace {

struct AttentionBiasPattern : OpRewritePattern<AttentionBiasOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionBiasOp op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getBias());
    StepBuilder b(rewriter, op, element);
    // Computed where it is stored: the lowest number of a wider type would become -inf.
    const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
    auto number = [&](const APFloat &value) -> Value {
      return arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(element, value));
    };
    Value zero = number(APFloat::getZero(semantics));
    Value lowest = number(APFloat::getLargest(semantics, /*Negative=*/true));
    Value bias = b.elementwise(op.getMask(), {b.dims(2)}, b.getSizes(op.getMask()), element,
                               [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                                 return arith::SelectOp::create(builder, loc, args[0], zero, lowest);
                               });
    b.replace(op, bias);
    return success();
  }
};

struct ScaleHeadsPattern : OpRewritePattern<ScaleHeadsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScaleHeadsOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Value x = b.splitFeatures(op.getX(), cast<RankedTensorType>(op.getScales().getType()).getDimSize(0));
    SmallVector<OpFoldResult> sizes = b.getSizes(x);
    SmallVector<AffineExpr> all = b.dims(sizes.size());
    Value y =
        b.elementwise({x, op.getScales()}, {all, all[sizes.size() - 2]}, sizes, b.getElementType(), body::multiply);
    b.replace(op, b.joinFeatures(y));
    return success();
  }
};

struct SelfAttentionPattern : OpRewritePattern<SelfAttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelfAttentionOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getQ()));
    int64_t heads = static_cast<int64_t>(op.getHeads()), slices = getFeatures(op.getQ()) / op.getHeadSize();
    Value q = b.splitFeatures(op.getQ(), slices), k = b.splitFeatures(op.getK(), heads);
    Value v = b.splitFeatures(op.getV(), heads);
    if (op.getQueryHeads())
      q = selectBlocks(rewriter, op.getLoc(), q, /*axis=*/2, /*size=*/1, *op.getQueryHeads());
    Value scores = buildScaleAndBias(b, buildScores(b, q, k), op.getScale().convertToDouble(), op.getBias());
    Value probabilities = b.softmax(scores, /*inPlace=*/true);
    if (Value mask = op.getHeadMask())
      probabilities = b.update(probabilities, mask, {{b.dims(2).back()}}, body::multiply);
    Value mixed = buildMix(b, probabilities, v);
    SmallVector<Value> results{b.convert(b.joinFeatures(mixed), b.getElementType())};
    if (op.getProbabilities())
      results.push_back(b.convert(probabilities, b.getElementType()));
    b.replace(op, results);
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<AttentionBiasPattern, ScaleHeadsPattern, SelfAttentionPattern>(patterns.getContext());
}
