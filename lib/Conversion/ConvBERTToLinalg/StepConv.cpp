//===- StepConv.cpp - Lowering of convolutions over tokens ----------------===//
//
// Tokens outside a sequence are zeros of a padded copy, B x (T + K - 1) x C; no window is ever written down.
//
//   depthwise_conv1d   linalg.depthwise_conv_1d_nwc_wc of the padded copy; weights C x K are transposed first
//
//   mask_tokens        generic (b, t, c)   mask[b,t] ? x : 0
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

} // namespace

void mlir::convbert::populateStepConvPatterns(RewritePatternSet &patterns) {
  patterns.add<MaskTokensPattern, DepthwiseConv1DPattern>(patterns.getContext());
}
