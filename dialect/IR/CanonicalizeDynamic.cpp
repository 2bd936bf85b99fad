//===- CanonicalizeDynamic.cpp - Algebra of convolutions by heads -----------===//
//
// Guards that speak of weights need a constant operand: a parameter that a checkpoint holds is opaque here.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Constants.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::convbert;

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// The softmax of one tap is 1: the convolution copies.
template <typename Op> static bool copies(Op op) {
  return op.getTaps() == 1 && op.getNormalize() == KernelNorm::Softmax;
}

OpFoldResult LightConvOp::fold(FoldAdaptor) {
  return copies(*this) && !getBias() ? OpFoldResult(getX()) : OpFoldResult();
}
OpFoldResult DynamicConvOp::fold(FoldAdaptor) {
  return copies(*this) && !getChannelBias() ? OpFoldResult(getX()) : OpFoldResult();
}

/// Taps that somebody looks at stay.
LogicalResult ApplyKernelOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getMask() || getTapCount() != 1 || getWithTaps() || !getTaps().hasOneUse())
    return failure();
  auto kernel = getTaps().getDefiningOp<DynamicKernelOp>();
  bool sumsToOne = getNormalize() == KernelNorm::Softmax || (kernel && kernel.getNormalize() == KernelNorm::Softmax);
  if (sumsToOne)
    results.push_back(getV());
  return success(sumsToOne);
}

OpFoldResult SpanDynamicConvOp::fold(FoldAdaptor) {
  return !getMask() && getTaps() == 1 ? OpFoldResult(getV()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

Value getOutputBias(LightConvOp op) { return op.getBias(); }
Value getOutputBias(DynamicConvOp op) { return op.getChannelBias(); }

/// Of a convolution that copies, the bias is left.
template <typename Op> struct OneTap : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!copies(op) || !getOutputBias(op))
      return rewriter.notifyMatchFailure(op, "has no tap that is 1, or no bias");
    rewriter.replaceOpWithNewOp<AddBiasOp>(op, op.getX(), getOutputBias(op));
    return success();
  }
};

struct FoldConstantTaps : OpRewritePattern<NormalizeTapsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NormalizeTapsOp op, PatternRewriter &rewriter) const override {
    DenseFPElementsAttr logits;
    if (!matchPattern(op.getLogits(), m_Constant(&logits)))
      return rewriter.notifyMatchFailure(op, "has no constant logits");
    DenseFPElementsAttr taps = foldSoftmax(logits, getFeatures(op.getLogits()));
    if (!taps)
      return rewriter.notifyMatchFailure(op, "has logits that are not finite");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, taps);
    return success();
  }
};

/// The softmax of constant weights is constant.
struct NormalizeConstant : OpRewritePattern<LightConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LightConvOp op, PatternRewriter &rewriter) const override {
    DenseFPElementsAttr weight;
    // What decomposition may do ahead of time: the softmax rests on the weights alone, and nothing is rounded.
    if (!op.isDecomposable() || !matchPattern(op.getWeight(), m_Constant(&weight)))
      return rewriter.notifyMatchFailure(op, "has no softmax of constant weights");
    DenseFPElementsAttr taps = foldSoftmax(weight, op.getTaps());
    if (!taps)
      return rewriter.notifyMatchFailure(op, "has weights that are not finite");
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), taps);
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().assign(constant);
      op.setNormalize(KernelNorm::None);
    });
    return success();
  }
};

KernelNorm getNorm(DynamicKernelOp op) { return op.getNormalize(); }
KernelNorm getNorm(DynamicConvOp op) { return op.getNormalize(); }
KernelNorm getNorm(SpanDynamicConvOp) { return KernelNorm::Softmax; }

template <typename Op> struct DropTapBias : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (getNorm(op) != KernelNorm::Softmax || !isConstantOverTaps(op.getBias(), op.getTaps()))
      return rewriter.notifyMatchFailure(op, "has no bias that the softmax takes off");
    rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
    return success();
  }
};

struct DropSpanKey : OpRewritePattern<DynamicKernelOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicKernelOp op, PatternRewriter &rewriter) const override {
    if (!isOne(op.getSpanKey()))
      return rewriter.notifyMatchFailure(op, "has no span-aware key of ones");
    rewriter.modifyOpInPlace(op, [&] { op.getSpanKeyMutable().clear(); });
    return success();
  }
};

/// With a span-aware key of ones it is the dynamic convolution of the query.
struct SpanOfOnes : OpRewritePattern<SpanDynamicConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SpanDynamicConvOp op, PatternRewriter &rewriter) const override {
    if (!isOne(op.getSpanKey()))
      return rewriter.notifyMatchFailure(op, "has no span-aware key of ones");
    bool renorm = op.getEdge() == Edge::Renorm;
    Value taps =
        DynamicKernelOp::create(rewriter, op.getLoc(), op.getQ(), op.getWeight(), op.getBias(),
                                /*span_key=*/Value(), op.getHeads(), KernelNorm::Softmax, op.getLayout(), op.getEdge(),
                                renorm ? op.getPadsAttr() : DenseI64ArrayAttr(), renorm ? op.getDilation() : 1);
    auto apply = ApplyKernelOp::create(rewriter, op.getLoc(), op.getV(), taps, op.getMask(), op.getPadsAttr(),
                                       KernelNormAttr::get(op.getContext(), KernelNorm::None),
                                       /*with_taps=*/UnitAttr(), op.getDilationAttr(),
                                       EdgeAttr::get(op.getContext(), Edge::Zero), op.getHeadMapAttr());
    rewriter.replaceOp(op, apply.getResult());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Taps that no token changes
//===----------------------------------------------------------------------===//

/// `heads x taps` weights of a generator whose weight is zero: its bias.
Value buildConstantTaps(PatternRewriter &rewriter, Location loc, Value weight, Value bias, int64_t heads,
                        int64_t taps) {
  auto type = RankedTensorType::get({heads, taps}, getElementTypeOrSelf(weight));
  if (!bias)
    return arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  return tensor::ExpandShapeOp::create(rewriter, loc, type, bias, ArrayRef<ReassociationIndices>{{0, 1}});
}

Value getValues(DynamicConvOp op) { return op.getX(); }
Value getValues(SpanDynamicConvOp op) { return op.getV(); }
Value getBiasOf(DynamicConvOp op) { return op.getChannelBias(); }
Value getBiasOf(SpanDynamicConvOp) { return {}; }
Value getMaskOf(DynamicConvOp) { return {}; }
Value getMaskOf(SpanDynamicConvOp op) { return op.getMask(); }

/// A generator of zero weight makes the same taps for every token.
template <typename Op> struct ZeroGenerator : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isZero(op.getWeight()))
      return rewriter.notifyMatchFailure(op, "has no generator of zeros");
    Value v = getValues(op);
    if (Value mask = getMaskOf(op))
      v = MaskTokensOp::create(rewriter, op.getLoc(), v, mask);
    Value taps = buildConstantTaps(rewriter, op.getLoc(), op.getWeight(), op.getBias(),
                                   static_cast<int64_t>(op.getHeads()), op.getTaps());
    rewriter.replaceOpWithNewOp<LightConvOp>(op, v, taps, getBiasOf(op), op.getPadsAttr(), op.getDilationAttr(),
                                             KernelNormAttr::get(op.getContext(), getNorm(op)), op.getEdgeAttr(),
                                             op.getHeadMapAttr());
    return success();
  }
};

/// The same of the steps.
struct ApplyConstantTaps : OpRewritePattern<ApplyKernelOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ApplyKernelOp op, PatternRewriter &rewriter) const override {
    auto kernel = op.getTaps().getDefiningOp<DynamicKernelOp>();
    if (!kernel || !isZero(kernel.getWeight()) || op.getWithTaps() || op.getMask())
      return rewriter.notifyMatchFailure(op,
                                         "has no taps of a generator of zeros, or a mask, or its taps are looked at");
    bool isNormalized = kernel.getNormalize() == KernelNorm::Softmax;
    if (isNormalized && op.getNormalize() == KernelNorm::Softmax)
      return rewriter.notifyMatchFailure(op, "has a softmax of a softmax");
    bool isElsewhere =
        kernel.getPads() && (*kernel.getPads() != op.getPads() || kernel.getDilation() != op.getDilation());
    if (isElsewhere)
      return rewriter.notifyMatchFailure(op, "has taps of another window");
    Value taps = buildConstantTaps(rewriter, op.getLoc(), kernel.getWeight(), kernel.getBias(),
                                   static_cast<int64_t>(kernel.getHeads()), kernel.getTaps());
    rewriter.replaceOpWithNewOp<LightConvOp>(
        op, op.getV(), taps, /*bias=*/Value(), op.getPadsAttr(), op.getDilationAttr(),
        isNormalized ? kernel.getNormalizeAttr() : op.getNormalizeAttr(),
        isNormalized ? kernel.getEdgeAttr() : op.getEdgeAttr(), op.getHeadMapAttr());
    return success();
  }
};

} // namespace

void NormalizeTapsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldConstantTaps>(context);
}
void LightConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<NormalizeConstant, OneTap<LightConvOp>>(context);
}
void DynamicKernelOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropSpanKey, DropTapBias<DynamicKernelOp>>(context);
}
void ApplyKernelOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ApplyConstantTaps>(context);
}
void DynamicConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTapBias<DynamicConvOp>, OneTap<DynamicConvOp>, ZeroGenerator<DynamicConvOp>>(context);
}
void SpanDynamicConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropTapBias<SpanDynamicConvOp>, SpanOfOnes, ZeroGenerator<SpanDynamicConvOp>>(context);
}
