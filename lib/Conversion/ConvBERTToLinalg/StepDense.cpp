//===- StepDense.cpp - Lowering of dense, grouped_dense, activation -------===//
//
//   dense          %y0 = generic (.., o)      bias[o], or a fill
//                  %y  = generic (.., o, i)   y + x[..,i] * w[o,i] (or w[i,o])
//                  %r  = generic (.., o)      act(y) * multiplier, if there is any
//
//   grouped_dense  the same on features split in groups: (.., g, o, i)   y + x[..,g,i] * w[g,i,o]
//
// `..` are the dimensions of the rows: b, t, or b alone.
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"

using namespace mlir;
using namespace mlir::convbert;

/// act(sum) * multiplier (may be null) with the elements of the operation; `sum` itself where nothing is to be done.
static Value buildEpilogue(StepBuilder &b, Value sum, ActivationKind activation, Value multiplier) {
  if (activation == ActivationKind::Identity && !multiplier)
    return b.convert(sum, b.getElementType());
  SmallVector<OpFoldResult> sizes = b.getSizes(sum);
  SmallVector<AffineExpr> all = b.dims(sizes.size());
  SmallVector<Value> inputs{sum};
  if (multiplier)
    inputs.push_back(multiplier);
  SmallVector<ArrayRef<AffineExpr>> maps(inputs.size(), all);
  return b.elementwise(inputs, maps, sizes, b.getElementType(),
                       [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                         Value value = buildActivation(builder, loc, activation, args[0]);
                         return multiplier ? body::multiply(builder, loc, {value, args[1]}) : value;
                       });
}

namespace {

struct DensePattern : OpRewritePattern<DenseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DenseOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Value sum = b.dense(op.getX(), op.getWeight(), op.getBias(), op.getLayout());
    b.replace(op, buildEpilogue(b, sum, op.getActivation(), op.getMultiplier()));
    return success();
  }
};

struct GroupedDensePattern : OpRewritePattern<GroupedDenseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupedDenseOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    int64_t groups = cast<RankedTensorType>(op.getWeight().getType()).getDimSize(0);
    Value x = b.splitFeatures(op.getX(), groups);
    SmallVector<OpFoldResult> sizes = b.getSizes(x);
    unsigned rank = sizes.size();
    sizes.back() = b.getSize(op.getWeight(), 2);
    SmallVector<AffineExpr> all = b.dims(rank + 1), from(ArrayRef(all).drop_back(2));
    AffineExpr g = all[rank - 2], o = all[rank - 1], i = all[rank];
    from.push_back(i);
    Value start = op.getBias() ? b.elementwise(b.splitFeatures(op.getBias(), groups), {{g, o}}, sizes,
                                               b.getComputeType(), body::first)
                               : b.filled(0.0, sizes);
    Value sum = b.generic({x, op.getWeight()}, start, {from, {g, i, o}, ArrayRef(all).drop_back()}, rank + 1, rank,
                          body::multiplyAdd);
    b.replace(op, buildEpilogue(b, b.joinFeatures(sum), op.getActivation(), /*multiplier=*/Value()));
    return success();
  }
};

struct ActivationPattern : OpRewritePattern<ActivationOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ActivationOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    b.replace(op, buildEpilogue(b, op.getX(), op.getKind(), /*multiplier=*/Value()));
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepDensePatterns(RewritePatternSet &patterns) {
  patterns.add<DensePattern, GroupedDensePattern, ActivationPattern>(patterns.getContext());
}
