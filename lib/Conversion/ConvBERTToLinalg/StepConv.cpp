//===- StepConv.cpp - Lowering of convolutions over tokens ----------------===//
//
// Tokens outside a sequence are zeros of a padded copy, B x (T + K - 1) x C; no window is ever written down.
//
//   depthwise_conv1d   linalg.depthwise_conv_1d_nwc_wc of the padded copy; weights C x K are transposed first
//
//   mask_tokens        generic (b, t, c)   mask[b,t] ? x : 0
//
//   dynamic_kernel     generic (b, t, c)   q * span_key in the compute type, if there is a span-aware key,
//                      the product of a dense layer, its features split in heads, then softmax over the taps
//
//   apply_kernel       softmax over the taps, then generic (b, t, h, k, r), k reduced:
//                      y[b,t,h,r] + v[b,t+k,h,r] * taps[b,t,h,k]
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct DepthwiseConv1DPattern : OpRewritePattern<DepthwiseConv1DOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DepthwiseConv1DOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Location loc = op.getLoc();
    Value weight = op.getWeight();
    if (op.getLayout() == WeightLayout::OutIn) {
      auto type = cast<RankedTensorType>(weight.getType());
      Value init = b.empty({b.getSize(weight, 1), b.getSize(weight, 0)}, type.getElementType());
      weight = linalg::TransposeOp::create(rewriter, loc, weight, init, ArrayRef<int64_t>{1, 0}).getResult().front();
    }
    Value padded = b.padTokens(op.getX(), op.getPads());
    Value start = b.filled(0.0, b.getSizes(op.getX()));
    Attribute one = rewriter.getI64VectorAttr({1});
    Value y = linalg::DepthwiseConv1DNwcWcOp::create(rewriter, loc, start.getType(), ValueRange{padded, weight}, start,
                                                     /*strides=*/one, /*dilations=*/one)
                  .getResult(0);
    b.replace(op, b.convert(y, b.getElementType()));
    return success();
  }
};

struct MaskTokensPattern : OpRewritePattern<MaskTokensOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskTokensOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    SmallVector<AffineExpr> all = b.dims(3);
    Value zero = b.constant(0.0);
    Value y = b.elementwise({op.getX(), op.getMask()}, {all, ArrayRef(all).drop_back()}, b.getSizes(op.getX()),
                            b.getElementType(), [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                              return arith::SelectOp::create(builder, loc, args[1], args[0], zero);
                            });
    b.replace(op, y);
    return success();
  }
};

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
      taps = b.softmax(taps, /*inPlace=*/true);
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
    Value taps = op.getTaps();
    if (op.getNormalize() == KernelNorm::Softmax)
      taps = b.softmax(taps, /*inPlace=*/false);
    int64_t heads = cast<RankedTensorType>(taps.getType()).getDimSize(2);
    Value v = b.splitFeatures(b.padTokens(op.getV(), op.getPads()), heads);
    SmallVector<OpFoldResult> sizes{b.getSize(op.getV(), 0), b.getSize(op.getV(), 1), b.getSize(v, 2), b.getSize(v, 3)};

    AffineExpr n, t, h, k, r; // n: sequences
    bindDims(op.getContext(), n, t, h, k, r);
    // The taps are reduced outside of the columns: columns lie side by side.
    Value y = b.generic({v, taps}, b.filled(0.0, sizes), {{n, t + k, h, r}, {n, t, h, k}, {n, t, h, r}}, 5, 3u,
                        body::multiplyAdd);
    SmallVector<Value> results{b.convert(b.joinFeatures(y), b.getElementType())};
    if (op.getWithTaps())
      results.push_back(b.convert(taps, b.getElementType()));
    b.replace(op, results);
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepConvPatterns(RewritePatternSet &patterns) {
  patterns.add<MaskTokensPattern, DepthwiseConv1DPattern, DynamicKernelPattern, ApplyKernelPattern>(
      patterns.getContext());
}
