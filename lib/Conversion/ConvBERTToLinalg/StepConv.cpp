//===- StepConv.cpp - Lowering of convolutions over tokens ----------------===//
//
// Tokens outside a sequence are zeros of a padded copy, B x (T + K - 1) x C; no window is ever written down.
//
//   depthwise_conv1d   linalg.depthwise_conv_1d_nwc_wc (_wcm with several filters a channel) of the padded copy, from
//                      the bias or zeros; weights C x K are transposed first
//
//   mask_tokens        generic (b, t, c)   mask[b,t] ? x : 0
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ShapeRules.h"
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
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(rewriter, shapes)))
      return rewriter.notifyMatchFailure(op, "requires the shape of its result");
    Value padded = b.padTokens(op.getX(), op.getPads());
    AffineExpr feature = b.dims(3).back();
    Value start = op.getBias()
                      ? b.elementwise(op.getBias(), {{feature}}, shapes.front(), b.getComputeType(), body::first)
                      : b.filled(0.0, shapes.front());
    Attribute strides = rewriter.getI64VectorAttr({static_cast<int64_t>(op.getStride())});
    Attribute dilations = rewriter.getI64VectorAttr({static_cast<int64_t>(op.getDilation())});
    int64_t channels = getFeatures(op.getX()), filters = getFeatures(op.getResult());
    Value y;
    if (filters == channels) {
      y = linalg::DepthwiseConv1DNwcWcOp::create(rewriter, loc, start.getType(), ValueRange{padded, weight}, start,
                                                 strides, dilations)
              .getResult(0);
    } else {
      start = b.splitFeatures(start, channels);
      weight = b.splitFeatures(weight, channels);
      y = b.joinFeatures(linalg::DepthwiseConv1DNwcWcmOp::create(rewriter, loc, start.getType(),
                                                                 ValueRange{padded, weight}, start, strides, dilations)
                             .getResult(0));
    }
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
