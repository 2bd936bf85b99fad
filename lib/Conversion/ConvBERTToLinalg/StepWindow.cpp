//===- StepWindow.cpp - Lowering of convolutions with a window ------------===//
//
// Tokens outside a sequence are zeros of a padded copy, x; no window is ever written down, no weight transposed.
//
//   conv1d         %y0 = generic (n, t, g, o)         bias[g,o] (or bias[n,g,o]), or a fill
//                  %y  = generic (n, t, g, o, k, i)   y + x[n, t stride + k dilation, g, i] * w[g,o,i,k] (or
//                  w[k,i,g,o])
//
//   batch_norm     %s = generic (c)         gamma / sqrt(variance + eps)
//                  %y = generic (n, t, c)   (x - mean[c]) * s[c] + beta[c]
//
//   softmax        %z = generic (.., c)     x / temperature, then the softmax of all last dimensions
//
//   weighted_sum   %y = generic (n, t, j, c)   y + x[n,t,j,c] * weights[n,j]
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct Conv1DPattern : OpRewritePattern<Conv1DOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(Conv1DOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Window window = Window::get(op, ConvFeatures::get(op.getWeight(), op.getLayout()).taps);
    int64_t groups = static_cast<int64_t>(op.getGroups());
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(rewriter, shapes)))
      return rewriter.notifyMatchFailure(op, "requires the shape of its result");
    Value x = b.splitFeatures(b.padTokens(op.getX(), op.getPads()), groups);
    // Output features of the weight are split like those of the result.
    bool outFirst = op.getLayout() == WeightLayout::OutIn;
    int64_t first = op.hasSequenceWeights() ? 1 : 0;
    Value weight = b.splitAxis(op.getWeight(), outFirst ? first : first + 2, groups);
    SmallVector<OpFoldResult> sizes(shapes.front());
    int64_t features = cast<RankedTensorType>(op.getType()).getDimSize(2);
    sizes.back() = b.getIndex(groups);
    sizes.push_back(b.getIndex(features / groups));

    SmallVector<AffineExpr> all = b.dims(6); // sequence, token, group, output feature, tap, input feature
    AffineExpr n = all[0], t = all[1], g = all[2], o = all[3], k = all[4], i = all[5];
    SmallVector<AffineExpr> at = outFirst ? SmallVector<AffineExpr>{g, o, i, k} : SmallVector<AffineExpr>{k, i, g, o};
    if (op.hasSequenceWeights())
      at.insert(at.begin(), n);
    SmallVector<AffineExpr> biasAt{g, o};
    if (op.hasSequenceWeights())
      biasAt.insert(biasAt.begin(), n);
    Value start = op.getBias() ? b.elementwise(b.splitFeatures(op.getBias(), groups), {biasAt}, sizes,
                                               b.getComputeType(), body::first)
                               : b.filled(0.0, sizes);
    Value y = b.generic({x, weight}, start, {{n, t * window.stride + k * window.dilation, g, i}, at, {n, t, g, o}}, 6,
                        {4u, 5u}, body::multiplyAdd);
    b.replace(op, b.convert(b.joinFeatures(y), b.getElementType()));
    return success();
  }
};

struct BatchNormPattern : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    SmallVector<AffineExpr> all = b.dims(3), column = b.dims(1);
    Value epsilon = b.constant(op.getEps().convertToDouble());
    Value scale =
        b.elementwise({op.getGamma(), op.getVariance()}, {column, column}, b.getSizes(op.getGamma()),
                      b.getComputeType(), [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                        Value sum = arith::AddFOp::create(builder, loc, args[1], epsilon);
                        return arith::DivFOp::create(builder, loc, args[0], math::SqrtOp::create(builder, loc, sum));
                      });
    ArrayRef<AffineExpr> c = ArrayRef(all).take_back();
    Value y = b.elementwise({op.getX(), op.getMean(), scale, op.getBeta()}, {all, c, c, c}, b.getSizes(op.getX()),
                            b.getElementType(), [](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                              Value d = arith::SubFOp::create(builder, loc, args[0], args[1]);
                              return body::multiplyAdd(builder, loc, {d, args[2], args[3]});
                            });
    b.replace(op, y);
    return success();
  }
};

struct SoftmaxPattern : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    double temperature = op.getTemperature().convertToDouble();
    Value logits = op.getX();
    if (temperature != 1.0) {
      SmallVector<OpFoldResult> sizes = b.getSizes(logits);
      Value divisor = b.constant(temperature);
      logits = b.elementwise(logits, {b.dims(sizes.size())}, sizes, b.getComputeType(),
                             [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                               return arith::DivFOp::create(builder, loc, args[0], divisor);
                             });
    }
    b.replace(op, b.convert(b.softmax(logits, /*inPlace=*/logits != op.getX()), b.getElementType()));
    return success();
  }
};

struct WeightedSumPattern : OpRewritePattern<WeightedSumOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WeightedSumOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    int64_t blocks = cast<RankedTensorType>(op.getWeights().getType()).getDimSize(1);
    Value x = b.splitFeatures(op.getX(), blocks);
    SmallVector<OpFoldResult> sizes = b.getSizes(x);
    sizes.erase(sizes.begin() + 2);
    SmallVector<AffineExpr> all = b.dims(4);
    AffineExpr n = all[0], t = all[1], j = all[2], c = all[3];
    // Blocks are summed outside of the columns: columns lie side by side.
    Value y = b.generic({x, op.getWeights()}, b.filled(0.0, sizes), {all, {n, j}, {n, t, c}}, 4, 2u, body::multiplyAdd);
    b.replace(op, b.convert(y, b.getElementType()));
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<Conv1DPattern, BatchNormPattern, SoftmaxPattern, WeightedSumPattern>(patterns.getContext());
}
