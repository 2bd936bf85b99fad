//===- Depthwise.cpp - Lowering of depthwise_tile -------------------------===//
//
//   %y0 = linalg.fill         `start`  zeros; or generic (t, c), bias[c]
//   %y  = generic (t, c, j)   `conv`   fma(x[t+j,c], taps[j,c], y[t,c])
//
// Once a schedule has cut t and j to single steps this is an elementwise operation on a vector of channels; math.fma
// because such vectors are no contraction that upstream would turn into one.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Conversion/ConvBERTToLinalg/LinalgBuilder.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct DepthwiseTilePattern : OpRewritePattern<DepthwiseTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DepthwiseTileOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "requires f32");
    if (!type.hasStaticShape() || ShapedType::isDynamic(cast<RankedTensorType>(op.getTaps().getType()).getDimSize(0)))
      return rewriter.notifyMatchFailure(op, "requires static rows, channels and taps");

    LinalgBuilder b(rewriter, op.getLoc());
    AffineExpr t, c, j;
    bindDims(op.getContext(), t, c, j);
    Value result = b.generic("conv", {op.getX(), op.getTaps()}, buildStart(b, op, type), {{t + j, c}, {j, c}, {t, c}},
                             3, 1, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                               return math::FmaOp::create(b, loc, args[0], args[1], args[2]);
                             });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// What the sums start from.
  static Value buildStart(LinalgBuilder &b, DepthwiseTileOp op, RankedTensorType type) {
    AffineExpr t, c;
    bindDims(op.getContext(), t, c);
    if (Value bias = op.getBias())
      return b.generic("start", bias, b.empty(type.getShape()), {{c}, {t, c}}, 2, 0,
                       [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    Value zeros = b.filled(0.0, type.getShape());
    zeros.getDefiningOp()->setAttr("start", UnitAttr::get(op.getContext()));
    return zeros;
  }
};

} // namespace

void mlir::convbert::populateDepthwisePatterns(RewritePatternSet &patterns) {
  patterns.add<DepthwiseTilePattern>(patterns.getContext());
}
