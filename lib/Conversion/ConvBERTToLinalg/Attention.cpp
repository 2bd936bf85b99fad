//===- Attention.cpp - Lowering of attention_tile -------------------------===//
//
// m rows, o panels, i keys of a panel, c columns of the head.  Scores, masked scores and probabilities are one buffer,
// the operand `scores`; everything else that is kept is static and small.
//
//   %s0 = generic (m, o, i)      `bias`       bias[o,i]: the accumulators of the product start from the mask
//   %s  = generic (m, o, i, c)   `qk`         q[m,c] * keys[o,c,i]
//   %x  = generic (m, i, o)      `panel_max`  over the panels, then `lane_max` (m, i) over the lanes
//   %p  = generic (m, o, i)      `exp`        exp(s - max)
//   %l  = generic (m, i, o)      `panel_sum`  and `lane_sum` (m, i)
//   %f  = generic (m)            `factor`     1 / sum, or the head's factor / sum
//   %a  = generic (m, c, o, i)   `pv`         p[m,o,i] * values[o,i,c]
//   %y  = generic (m, c)         `scale`      a * factor; also tagged `wide` if 32 divides c, `narrow` if not
//   %p' = generic (m, o, i)      `probability`  p * factor, where probabilities are a result
//
// A key whose bias is -inf gets exp(-inf) = 0 exactly.  The maximum ignores a NaN, the exponential does not: the sum
// and with it the row become NaN.  A row whose keys all have -inf is NaN, as 0 / 0.
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

// As math.fma: cut to single rows and reduction steps, the products are elementwise operations on vectors of lanes.
static Value multiplyAdd(OpBuilder &b, Location loc, ValueRange args) {
  return math::FmaOp::create(b, loc, args[0], args[1], args[2]);
}

static Value maximum(OpBuilder &b, Location loc, ValueRange args) {
  return arith::MaxNumFOp::create(b, loc, args[1], args[0]);
}

static Value sum(OpBuilder &b, Location loc, ValueRange args) {
  return arith::AddFOp::create(b, loc, args[1], args[0]);
}

namespace {

struct AttentionTilePattern : OpRewritePattern<AttentionTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionTileOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto panelType = cast<RankedTensorType>(op.getKeys().getType());
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "requires f32");
    int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), lanes = panelType.getDimSize(2);
    if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || ShapedType::isDynamic(lanes))
      return rewriter.notifyMatchFailure(op, "requires static rows, columns and panel width");

    LinalgBuilder b(rewriter, op.getLoc());
    AffineExpr m, o, i, c;
    bindDims(op.getContext(), m, o, i);
    Value start = b.generic("bias", op.getBias(), op.getScores(), {{o, i}, {m, o, i}}, 3, 0,
                            [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    bindDims(op.getContext(), m, o, i, c);
    Value scores = b.generic("qk", {op.getQ(), op.getKeys()}, start, {{m, c}, {o, c, i}, {m, o, i}}, 4, 1, multiplyAdd);

    Value greatest = reduce(b, rewriter, "max", -std::numeric_limits<double>::infinity(), scores, rows, lanes, maximum);
    bindDims(op.getContext(), m, o, i);
    Value weights =
        b.generic("exp", greatest, scores, {{m}, {m, o, i}}, 3, 0, [](OpBuilder &b, Location loc, ValueRange args) {
          Value x = arith::SubFOp::create(b, loc, args[1], args[0]);
          return buildExpOfNonPositive(b, loc, x);
        });
    Value total = reduce(b, rewriter, "sum", 0.0, weights, rows, lanes, sum);
    Value numerator = op.getFactor();
    Value factor = b.generic("factor", total, b.empty(rows), {{m}, {m}}, 1, 0,
                             [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                               Value one = numerator;
                               if (!one)
                                 one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
                               return arith::DivFOp::create(b, loc, one, args[0]);
                             });

    bindDims(op.getContext(), m, c, o, i);
    Value product = b.generic("pv", {weights, op.getValues()}, b.filled(0.0, {rows, columns}),
                              {{m, o, i}, {o, i, c}, {m, c}}, 4, 2, multiplyAdd);
    bindDims(op.getContext(), m, c);
    Value result = b.generic("scale", {product, factor}, b.empty({rows, columns}), {{m, c}, {m}, {m, c}}, 2, 0,
                             [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                               return arith::MulFOp::create(b, loc, args[0], args[1]);
                             });
    result.getDefiningOp()->setAttr(columns % 32 == 0 ? "wide" : "narrow", rewriter.getUnitAttr());
    SmallVector<Value> results{result};
    if (op.getWithProbabilities()) {
      bindDims(op.getContext(), m, o, i);
      results.push_back(b.generic("probability", factor, weights, {{m}, {m, o, i}}, 3, 0,
                                  [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                    return arith::MulFOp::create(b, loc, args[1], args[0]);
                                  }));
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Reduces tensor<rows x panels x lanes> to tensor<rows>: the panels lane by lane, then the lanes.
  static Value reduce(LinalgBuilder &b, PatternRewriter &rewriter, StringRef name, double start, Value values,
                      int64_t rows, int64_t lanes, LinalgBuilder::Body combine) {
    AffineExpr m, i, o;
    bindDims(rewriter.getContext(), m, i, o);
    Value partial =
        b.generic(("panel_" + name).str(), values, b.filled(start, {rows, lanes}), {{m, o, i}, {m, i}}, 3, 1, combine);
    return b.generic(("lane_" + name).str(), partial, b.filled(start, rows), {{m, i}, {m}}, 2, 1, combine);
  }
};

} // namespace

void mlir::convbert::populateAttentionPatterns(RewritePatternSet &patterns) {
  patterns.add<AttentionTilePattern>(patterns.getContext());
}
