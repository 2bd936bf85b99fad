//===- Canonicalize.cpp - Folds and canonicalisations -----------------------===//
//
// Guards that speak of weights and masks need a constant operand: a parameter that a checkpoint holds is opaque here.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
#include "dialect/IR/Canonicalize.inc"
} // namespace

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// True for a constant of ones.  A splat is one number, however many elements its type has.
static bool isOne(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  auto isOne = [](const APFloat &value) { return value.isExactlyValue(1.0); };
  return elements && (elements.isSplat() ? isOne(elements.getSplatValue<APFloat>())
                                         : llvm::all_of(elements.getValues<APFloat>(), isOne));
}
static bool isOne(Value value) {
  if (!value)
    return false;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return matchPattern(splat.getInput(), m_OneFloat());
  Attribute attr;
  return matchPattern(value, m_Constant(&attr)) && isOne(attr);
}

/// True if every run of `taps` elements holds one finite number: a softmax over the taps does not see it.
static bool isConstantOverTaps(Value bias, int64_t taps) {
  DenseFPElementsAttr elements;
  if (!bias || !matchPattern(bias, m_Constant(&elements)))
    return false;
  if (elements.isSplat())
    return elements.getSplatValue<APFloat>().isFinite();
  SmallVector<APFloat> values(elements.getValues<APFloat>());
  for (auto [i, value] : llvm::enumerate(values))
    if (!value.isFinite() || !value.bitwiseIsEqual(values[i - i % taps]))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

OpFoldResult ActivationOp::fold(FoldAdaptor) {
  return getKind() == ActivationKind::Identity ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult ScaleHeadsOp::fold(FoldAdaptor adaptor) {
  return isOne(adaptor.getScales()) ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult MaskTokensOp::fold(FoldAdaptor adaptor) {
  auto mask = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getMask());
  bool keepsAll = mask && (mask.isSplat() ? mask.getSplatValue<bool>()
                                          : llvm::all_of(mask.getValues<bool>(), [](bool keep) { return keep; }));
  return keepsAll ? OpFoldResult(getX()) : OpFoldResult();
}

/// One tap of 1 at the token itself copies.  Elsewhere it shifts, and no operation says that better than this one.
OpFoldResult DepthwiseConv1DOp::fold(FoldAdaptor adaptor) {
  auto weight = dyn_cast_or_null<DenseFPElementsAttr>(adaptor.getWeight());
  if (!weight)
    return {};
  int64_t taps = getTaps(), channels = getFeatures(getX());
  for (auto [i, value] : llvm::enumerate(weight.getValues<APFloat>())) {
    int64_t tap = getLayout() == WeightLayout::OutIn ? i % taps : i / channels;
    if (tap == getPads()[0] ? !value.isExactlyValue(1.0) : !value.isZero())
      return {};
  }
  return getX();
}

/// The softmax of one tap is 1: the convolution copies.  Taps that somebody looks at stay.
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

/// A head mask of ones masks nothing.
template <typename Op> struct DropHeadMask : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isOne(op.getHeadMask()))
      return rewriter.notifyMatchFailure(op, "has no head mask of ones");
    rewriter.modifyOpInPlace(op, [&] { op.getHeadMaskMutable().clear(); });
    return success();
  }
};

/// True if there are slices, and they are 0, 1, 2, ...
bool isDefault(std::optional<ArrayRef<int64_t>> slices) {
  return slices && *slices == ArrayRef<int64_t>(getSlices(std::nullopt, slices->size()));
}

/// Slices 0, 1, 2, ... of a query that has no more are what an operation without the attribute reads.
struct DropAttentionSlices : OpRewritePattern<SelfAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelfAttentionOp op, PatternRewriter &rewriter) const override {
    std::optional<ArrayRef<int64_t>> slices = op.getQueryHeads();
    if (getFeatures(op.getQ()) != getFeatures(op.getK()) || !isDefault(slices))
      return rewriter.notifyMatchFailure(op, "reads other slices of the query than its default");
    rewriter.modifyOpInPlace(op, [&] { op.removeQueryHeadsAttr(); });
    return success();
  }
};

struct DropMixedSlices : OpRewritePattern<MixedAttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MixedAttentionOp op, PatternRewriter &rewriter) const override {
    bool dropQuery = isDefault(op.getQueryHeads()), dropSpan = isDefault(op.getSpanQueryHeads());
    if (!dropQuery && !dropSpan)
      return rewriter.notifyMatchFailure(op, "reads other slices of the query than its default");
    rewriter.modifyOpInPlace(op, [&] {
      if (dropQuery)
        op.removeQueryHeadsAttr();
      if (dropSpan)
        op.removeSpanQueryHeadsAttr();
    });
    return success();
  }
};

bool isNormalized(DynamicKernelOp op) { return op.getNormalize() == KernelNorm::Softmax; }
bool isNormalized(SpanDynamicConvOp) { return true; }

template <typename Op> struct DropTapBias : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isNormalized(op) || !isConstantOverTaps(op.getBias(), op.getTaps()))
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
    Value taps = DynamicKernelOp::create(rewriter, op.getLoc(), op.getQ(), op.getWeight(), op.getBias(),
                                         /*span_key=*/Value(), op.getHeads(), KernelNorm::Softmax, op.getLayout());
    rewriter.replaceOpWithNewOp<ApplyKernelOp>(op, op.getV(), taps, op.getMask(), op.getPadsAttr(),
                                               KernelNormAttr::get(op.getContext(), KernelNorm::None));
    return success();
  }
};

} // namespace

void ActivationOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ActivationTwice>(context);
}
void MaskTokensOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MaskTwice>(context);
}
void DynamicKernelOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropSpanKey, DropTapBias<DynamicKernelOp>>(context);
}
void SpanDynamicConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SpanOfOnes, DropTapBias<SpanDynamicConvOp>>(context);
}
void SelfAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropAttentionSlices, DropHeadMask<SelfAttentionOp>>(context);
}
void MixedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropHeadMask<MixedAttentionOp>, DropMixedSlices>(context);
}
