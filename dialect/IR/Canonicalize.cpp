//===- Canonicalize.cpp - Folds and canonicalisations -----------------------===//
//
// Guards that speak of weights and masks need a constant operand: a parameter that a checkpoint holds is opaque here.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Constants.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
#include "dialect/IR/Canonicalize.inc"
} // namespace

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
  if (!weight || getBias() || getType() != getX().getType() || !keepsTokens())
    return {};
  int64_t taps = getTaps(), channels = getFeatures(getX()), dilation = static_cast<int64_t>(getDilation());
  for (auto [i, value] : llvm::enumerate(weight.getValues<APFloat>())) {
    int64_t tap = getLayout() == WeightLayout::OutIn ? i % taps : i / channels;
    if (tap * dilation == getPads()[0] ? !value.isExactlyValue(1.0) : !value.isZero())
      return {};
  }
  return getX();
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

} // namespace

void ActivationOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ActivationTwice>(context);
}
void MaskTokensOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MaskTwice>(context);
}
void SelfAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropAttentionSlices, DropHeadMask<SelfAttentionOp>>(context);
}
void MixedAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropHeadMask<MixedAttentionOp>, DropMixedSlices>(context);
}
