//===- StepDynamic.cpp - Lowering of lightweight and dynamic convolution --===//
//
// Tokens outside a sequence are zeros of a padded copy, B x (T + (K - 1) d) x C; no window is ever written down.
//
//   normalize_taps     softmax over the taps
//
//   light_conv         softmax over the taps of the weights, H x K (T x H x K where some are left out at the ends),
//   then
//                      the generic of apply_kernel with these taps, then the bias
//
//   dynamic_kernel     generic (b, t, c)   q * span_key in the compute type, if there is a span-aware key,
//                      the product of a dense layer, its features split in heads, then softmax over the taps
//
//   apply_kernel       softmax over the taps, then generic (b, t, h, k, r), k reduced:
//                      y[b,t,h,r] + v[b,t+k*d,h,r] * taps[b,t,h,k]
//
//   add_bias           generic (.., c)   x + bias[c]
//
// Interleaved heads are columns: features are r, h instead of h, r.  With `edge = renorm` a logit whose tap reads
// beyond an end is -inf before the softmax.
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Where the taps of one operation lie.
struct Window {
  template <typename Op>
  Window(Op op, ArrayRef<int64_t> pads)
      : pads(pads), dilation(static_cast<int64_t>(op.getDilation())), edge(op.getEdge()) {}

  ArrayRef<int64_t> pads;
  int64_t dilation;
  Edge edge;
};

/// Softmax of `logits`, whose last two dimensions are heads and taps, over the taps that read one of `length` tokens.
/// `sizes` and `map` say which dimensions the result has and which of them `logits`; dimension `token` counts tokens.
Value buildRenormalised(PatternRewriter &rewriter, const StepBuilder &b, Value logits, ArrayRef<AffineExpr> map,
                        ArrayRef<OpFoldResult> sizes, unsigned token, OpFoldResult length, const Window &window) {
  Location loc = logits.getLoc();
  Value least = b.constant(-std::numeric_limits<double>::infinity());
  Value end = getValueOrCreateConstantIndexOp(rewriter, loc, length);
  Value low = arith::ConstantIndexOp::create(rewriter, loc, window.pads[0]);
  Value dilation = arith::ConstantIndexOp::create(rewriter, loc, window.dilation);
  unsigned tap = sizes.size() - 1;
  Value masked = b.elementwise(
      logits, {map}, sizes, b.getComputeType(), [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        Value t = linalg::IndexOp::create(builder, loc, token);
        Value k = linalg::IndexOp::create(builder, loc, tap);
        Value read = arith::AddIOp::create(builder, loc, t, arith::MulIOp::create(builder, loc, k, dilation));
        read = arith::SubIOp::create(builder, loc, read, low);
        // Unsigned: what lies before the first token is a large number.
        Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, read, end);
        return arith::SelectOp::create(builder, loc, inside, args[0], least);
      });
  return b.softmax(masked, /*inPlace=*/true);
}

/// The convolution of `v` with `taps`, of which `tapsMap` says which of (sequence, token, head, tap) they have.
Value buildConvolution(const StepBuilder &b, Value v, Value taps, ArrayRef<unsigned> tapsMap, int64_t heads,
                       const Window &window, HeadMap headMap) {
  bool isBlocked = headMap == HeadMap::Blocked;
  int64_t features = cast<RankedTensorType>(v.getType()).getDimSize(2);
  Value padded = b.splitFeatures(b.padTokens(v, window.pads), isBlocked ? heads : features / heads);
  SmallVector<OpFoldResult> sizes{b.getSize(v, 0), b.getSize(v, 1), b.getSize(padded, 2), b.getSize(padded, 3)};
  // n: sequences.  The taps are reduced outside of the last dimension, which lies side by side.
  SmallVector<AffineExpr> all = b.dims(5);
  AffineExpr n = all[0], t = all[1], k = all[3], outer = all[2], inner = all[4];
  SmallVector<AffineExpr> tapDims{n, t, isBlocked ? outer : inner, k}, from;
  for (unsigned dim : tapsMap)
    from.push_back(tapDims[dim]);
  Value y =
      b.generic({padded, taps}, b.filled(0.0, sizes),
                {{n, t + k * window.dilation, outer, inner}, from, {n, t, outer, inner}}, 5, 3u, body::multiplyAdd);
  return b.joinFeatures(y);
}

struct NormalizeTapsPattern : OpRewritePattern<NormalizeTapsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormalizeTapsOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getLogits()));
    b.replace(op, b.convert(b.softmax(op.getLogits(), /*inPlace=*/false), b.getElementType()));
    return success();
  }
};

struct LightConvPattern : OpRewritePattern<LightConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LightConvOp op, PatternRewriter &rewriter) const override {
    if (op.isDecomposable())
      return rewriter.notifyMatchFailure(op, "requires the softmax of its weights to be decomposed into a step");
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Window window(op, op.getPads());
    Value x = op.getX(), taps = op.getWeight();
    SmallVector<unsigned> map{2, 3};
    OpFoldResult heads = b.getSize(taps, 0), count = b.getSize(taps, 1), length = b.getSize(x, 1);
    if (window.edge == Edge::Renorm) {
      SmallVector<AffineExpr> all = b.dims(3);
      taps =
          buildRenormalised(rewriter, b, taps, ArrayRef(all).drop_front(), {length, heads, count}, 0, length, window);
      map = {1, 2, 3};
    } else if (op.getNormalize() == KernelNorm::Softmax) {
      taps = b.softmax(taps, /*inPlace=*/false);
    }
    int64_t headCount = cast<RankedTensorType>(op.getWeight().getType()).getDimSize(0);
    Value y = buildConvolution(b, x, taps, map, headCount, window, op.getHeadMap());
    if (op.getBias())
      y = b.update(y, op.getBias(), {{b.dims(3).back()}}, body::add);
    b.replace(op, b.convert(y, b.getElementType()));
    return success();
  }
};

/// Softmax over the taps of each token and head, B x T x H x K.
Value buildSoftmax(PatternRewriter &rewriter, const StepBuilder &b, Value logits, const Window &window, bool inPlace) {
  if (window.edge == Edge::Zero)
    return b.softmax(logits, inPlace);
  SmallVector<AffineExpr> all = b.dims(4);
  SmallVector<OpFoldResult> sizes = b.getSizes(logits);
  return buildRenormalised(rewriter, b, logits, all, sizes, 1, sizes[1], window);
}

struct DynamicKernelPattern : OpRewritePattern<DynamicKernelOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DynamicKernelOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getQ()));
    Value q = op.getQ();
    if (Value key = op.getSpanKey()) {
      SmallVector<OpFoldResult> sizes = b.getSizes(q);
      SmallVector<AffineExpr> all = b.dims(3);
      // Never stored with elements of the operation: the product of two activations does not fit f16.
      q = b.elementwise({q, key}, {all, all}, sizes, b.getComputeType(), body::multiply);
    }
    Value logits = b.dense(q, op.getWeight(), op.getBias(), op.getLayout());
    Value taps = b.splitFeatures(logits, static_cast<int64_t>(op.getHeads()));
    if (op.getNormalize() == KernelNorm::Softmax)
      taps = buildSoftmax(rewriter, b, taps, Window(op, op.getPads().value_or(ArrayRef<int64_t>())), /*inPlace=*/true);
    b.replace(op, b.convert(taps, b.getElementType()));
    return success();
  }
};

struct ApplyKernelPattern : OpRewritePattern<ApplyKernelOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ApplyKernelOp op, PatternRewriter &rewriter) const override {
    if (op.isDecomposable())
      return rewriter.notifyMatchFailure(op, "requires the mask to be decomposed into a step of its own");
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getV()));
    Window window(op, op.getPads());
    Value taps = op.getTaps();
    if (op.getNormalize() == KernelNorm::Softmax)
      taps = buildSoftmax(rewriter, b, taps, window, /*inPlace=*/false);
    int64_t heads = cast<RankedTensorType>(taps.getType()).getDimSize(2);
    Value y = buildConvolution(b, op.getV(), taps, {0, 1, 2, 3}, heads, window, op.getHeadMap());
    SmallVector<Value> results{b.convert(y, b.getElementType())};
    if (op.getWithTaps())
      results.push_back(b.convert(taps, b.getElementType()));
    b.replace(op, results);
    return success();
  }
};

struct AddBiasPattern : OpRewritePattern<AddBiasOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddBiasOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    SmallVector<OpFoldResult> sizes = b.getSizes(op.getX());
    SmallVector<AffineExpr> all = b.dims(sizes.size());
    b.replace(op, b.elementwise({op.getX(), op.getBias()}, {all, all.back()}, sizes, b.getElementType(), body::add));
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepDynamicPatterns(RewritePatternSet &patterns) {
  patterns.add<NormalizeTapsPattern, LightConvPattern, DynamicKernelPattern, ApplyKernelPattern, AddBiasPattern>(
      patterns.getContext());
}
