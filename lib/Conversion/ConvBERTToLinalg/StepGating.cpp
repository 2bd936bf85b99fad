//===- StepGating.cpp - Lowering of masked means and gates ----------------===//
//
//   pool with a mask   generic (b, t, c), t reduced   sum of mask[b,t] ? x : 0
//                      generic (b, t), t reduced      number of tokens in the mask
//                      generic (b, c)                 sum / max(number, 1)
//
//   scale_channels     generic (b, t, c)   x * gate[b,c]
//
//   select_branches    generic (b, c)      the greatest logit, exp(logit - greatest) of each, their sum
//                      generic (b, t, c)   sum of exponential * branch, divided by that sum
//
// The operations of select_branches are as many as it has operands, and depend on no extent.
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct MaskedMeanPattern : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    if (!op.getMask())
      return rewriter.notifyMatchFailure(op, "has no mask");
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    SmallVector<AffineExpr> all = b.dims(3), token(b.dims(2));
    AffineExpr n = all[0], t = all[1], c = all[2];
    OpFoldResult batch = b.getSize(op.getX(), 0), features = b.getSize(op.getX(), 2);
    Value zero = b.constant(0.0), one = b.constant(1.0);
    // A token that the mask leaves out may hold anything, NaN too.
    Value total = b.generic({op.getX(), op.getMask()}, b.filled(0.0, {batch, features}), {all, {n, t}, {n, c}}, 3, 1u,
                            [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                              Value x = arith::SelectOp::create(builder, loc, args[1], args[0], zero);
                              return arith::AddFOp::create(builder, loc, args[2], x);
                            });
    Value count = b.generic(op.getMask(), b.filled(0.0, {batch}), {token, token[0]}, 2, 1u,
                            [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                              Value set = arith::SelectOp::create(builder, loc, args[0], one, zero);
                              return arith::AddFOp::create(builder, loc, args[1], set);
                            });
    Value mean = b.elementwise({total, count}, {token, token[0]}, {batch, features}, b.getElementType(),
                               [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                                 Value some = arith::MaximumFOp::create(builder, loc, args[1], one);
                                 return arith::DivFOp::create(builder, loc, args[0], some);
                               });
    b.replace(op, mean);
    return success();
  }
};

struct ScaleChannelsPattern : OpRewritePattern<ScaleChannelsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScaleChannelsOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    SmallVector<AffineExpr> all = b.dims(3), gate{all[0], all[2]};
    b.replace(op, b.elementwise({op.getX(), op.getGate()}, {all, gate}, b.getSizes(op.getX()), b.getElementType(),
                                body::multiply));
    return success();
  }
};

struct SelectBranchesPattern : OpRewritePattern<SelectBranchesOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SelectBranchesOp op, PatternRewriter &rewriter) const override {
    Value first = op.getBranches().front();
    StepBuilder b(rewriter, op, getElementTypeOrSelf(first));
    size_t branches = op.getBranches().size();
    SmallVector<AffineExpr> all = b.dims(3), channel{all[0], all[2]}, pooled = b.dims(2);
    SmallVector<OpFoldResult> sizes{b.getSize(first, 0), b.getSize(first, 2)};
    SmallVector<ArrayRef<AffineExpr>> everywhere(branches, pooled);
    Value greatest = b.elementwise(op.getLogits(), everywhere, sizes, b.getComputeType(),
                                   [](OpBuilder &builder, Location loc, ValueRange args) {
                                     Value value = args.front();
                                     for (Value other : args.slice(1, args.size() - 2))
                                       value = body::maximum(builder, loc, {value, other});
                                     return value;
                                   });
    SmallVector<Value> operands(op.getBranches());
    for (Value logits : op.getLogits())
      operands.push_back(b.elementwise({logits, greatest}, {pooled, pooled}, sizes, b.getComputeType(),
                                       [](OpBuilder &builder, Location loc, ValueRange args) {
                                         Value below = arith::SubFOp::create(builder, loc, args[0], args[1]);
                                         return buildExpOfNonPositive(builder, loc, below);
                                       }));
    // One division for all tokens.
    Value factor = b.elementwise(ArrayRef(operands).drop_front(branches), everywhere, sizes, b.getComputeType(),
                                 [](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                                   Value sum = args.front();
                                   for (Value other : args.slice(1, args.size() - 2))
                                     sum = body::add(builder, loc, {sum, other});
                                   Value one =
                                       arith::ConstantOp::create(builder, loc, builder.getFloatAttr(sum.getType(), 1));
                                   return arith::DivFOp::create(builder, loc, one, sum);
                                 });
    operands.push_back(factor);
    SmallVector<ArrayRef<AffineExpr>> maps(branches, all);
    maps.append(branches + 1, channel);
    Value y = b.elementwise(operands, maps, b.getSizes(first), b.getElementType(),
                            [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                              Value sum;
                              for (size_t m = 0; m < branches; ++m) {
                                Value term = body::multiply(builder, loc, {args[m], args[branches + m]});
                                sum = sum ? body::add(builder, loc, {sum, term}) : term;
                              }
                              return body::multiply(builder, loc, {sum, args[2 * branches]});
                            });
    b.replace(op, y);
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepGatingPatterns(RewritePatternSet &patterns) {
  patterns.add<MaskedMeanPattern, ScaleChannelsPattern, SelectBranchesPattern>(patterns.getContext());
}
