//===- Span.cpp - Lowering of span_tile -----------------------------------===//
//
// t tokens, j taps, h heads, c columns of a head.  The logits may have more heads than `v`: whole vectors of heads go
// through the softmax, the surplus is cut off before the convolution.
//
//   %x = generic (t, h, j)      `tap_reduction`    maximum over the taps
//   %e = generic (t, j, h)      `tap_elementwise`  exp(logits - max)
//   %s = generic (t, h, j)      `tap_reduction`    sum over the taps
//   %f = generic (t, h)         `tap_factor`       1 / sum
//   %a = generic (t, j, h)      `softmax`          e * f
//   %y = generic (t, h, c, j)   `conv`             fma(v[t+j,h,c], a[t,j,h], y[t,h,c]), on a fill; also tagged `wide`
//                                                  if 32 divides the columns of a head, `narrow` if not
//
// A NaN among the logits of (t, h) makes all weights of (t, h) NaN and no others.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Conversion/ConvBERTToLinalg/LinalgBuilder.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineExpr.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

/// softmax over the taps of tensor<t x j x h>.
static Value buildTapSoftmax(PatternRewriter &rewriter, Location loc, Value logits) {
  LinalgBuilder b(rewriter, loc);
  auto type = cast<RankedTensorType>(logits.getType());
  SmallVector<int64_t> reduced{type.getDimSize(0), type.getDimSize(2)};
  AffineExpr t, j, h;
  auto reduce = [&](Value values, double start, LinalgBuilder::Body combine) {
    bindDims(rewriter.getContext(), t, h, j);
    return b.generic("tap_reduction", values, b.filled(start, reduced), {{t, j, h}, {t, h}}, 3, 1, combine);
  };
  auto elementwise = [&](StringRef tag, Value values, Value perHead, LinalgBuilder::Body body) {
    bindDims(rewriter.getContext(), t, j, h);
    return b.generic(tag, {values, perHead}, b.empty(type.getShape()), {{t, j, h}, {t, h}, {t, j, h}}, 3, 0, body);
  };
  Value greatest = reduce(logits, -std::numeric_limits<double>::infinity(),
                          [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                            return arith::MaxNumFOp::create(b, loc, args[1], args[0]);
                          });
  Value weights = elementwise("tap_elementwise", logits, greatest, [](OpBuilder &b, Location loc, ValueRange args) {
    return buildExpOfNonPositive(b, loc, arith::SubFOp::create(b, loc, args[0], args[1]));
  });
  Value total = reduce(weights, 0.0, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
    return arith::AddFOp::create(b, loc, args[1], args[0]);
  });
  bindDims(rewriter.getContext(), t, h);
  Value factor = b.generic("tap_factor", total, b.empty(reduced), {{t, h}, {t, h}}, 2, 0,
                           [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
                             return arith::DivFOp::create(b, loc, one, args[0]);
                           });
  return elementwise("softmax", weights, factor, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
    return arith::MulFOp::create(b, loc, args[0], args[1]);
  });
}

namespace {

struct SpanTilePattern : OpRewritePattern<SpanTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SpanTileOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto logitsType = cast<RankedTensorType>(op.getLogits().getType());
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "requires f32");
    if (!type.hasStaticShape() || !logitsType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "requires static shapes");

    Location loc = op.getLoc();
    Value weights = buildTapSoftmax(rewriter, loc, op.getLogits());
    AffineExpr t, h, c, j;
    bindDims(op.getContext(), t, h, c, j);
    auto [used, map] = separate(rewriter, loc, weights, type.getDimSize(1), {t, j, h});
    LinalgBuilder b(rewriter, loc);
    Value result = b.generic("conv", {op.getV(), used}, b.filled(0.0, type.getShape()), {{t + j, h, c}, map, {t, h, c}},
                             4, 1, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                               return math::FmaOp::create(b, loc, args[0], args[1], args[2]);
                             });
    result.getDefiningOp()->setAttr(type.getDimSize(2) % 32 == 0 ? "wide" : "narrow", rewriter.getUnitAttr());
    rewriter.replaceOp(op, op.getWithTaps() ? ValueRange{result, weights} : ValueRange{result});
    return success();
  }

private:
  /// The weights of the heads there are, and the map that reads them.  A view stands between softmax and convolution in
  /// any case: fusion of the convolution's loops ends there, and the softmax is not taken again for each block.
  static std::pair<Value, SmallVector<AffineExpr>> separate(PatternRewriter &rewriter, Location loc, Value weights,
                                                            int64_t heads, SmallVector<AffineExpr> map) {
    auto type = cast<RankedTensorType>(weights.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (shape[2] == heads) {
      shape.push_back(1);
      map.push_back(rewriter.getAffineConstantExpr(0));
      ArrayRef<ReassociationIndices> groups{{0}, {1}, {2, 3}};
      return {tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), weights, groups), map};
    }
    shape[2] = heads;
    SmallVector<OpFoldResult> offsets(3, rewriter.getIndexAttr(0)), strides(3, rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), shape);
    return {tensor::ExtractSliceOp::create(rewriter, loc, weights, offsets, sizes, strides), map};
  }
};

} // namespace

void mlir::convbert::populateSpanPatterns(RewritePatternSet &patterns) {
  patterns.add<SpanTilePattern>(patterns.getContext());
}
