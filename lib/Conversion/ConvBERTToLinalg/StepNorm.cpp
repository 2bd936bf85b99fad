//===- StepNorm.cpp - Lowering of layer_norm, embeddings, pool ------------===//
//
//   layer_norm   %s = generic (.., c)   x + residual, if there is one
//                %m = generic (.., c)   sum of s over c, then %mean = generic (..)  sum / C
//                %q = generic (.., c)   sum of (s - mean)^2 over c, then %scale = generic (..)  1 / sqrt(sum / C + eps)
//                %y = generic (.., c)   (s - mean) * scale * gamma[c] + beta[c]
//
//   embeddings   %s = generic (b, t, e)   word[id,e] + position[p,e] + type[tt,e], then the norm
//
//   pool         a slice of one token, or generic (b, t, c), t reduced, and generic (b, c)  sum / T
//
// `..` are the dimensions of the rows: b, t, or b alone.
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::convbert;

/// The norm of the rows of `s`, in two passes; the result has the elements of the operation.
static Value buildNorm(StepBuilder &b, Value s, Value gamma, Value beta, double eps) {
  SmallVector<OpFoldResult> sizes = b.getSizes(s), rows(ArrayRef(sizes).drop_back());
  SmallVector<AffineExpr> all = b.dims(sizes.size());
  ArrayRef<AffineExpr> row = ArrayRef(all).drop_back(), column = ArrayRef(all).take_back();
  Type compute = b.getComputeType();
  // Outside of the bodies, which then need no constant of their own.
  Value width = b.constant(cast<RankedTensorType>(s.getType()).getShape().back());
  Value epsilon = b.constant(eps), one = b.constant(1.0);

  Value total = b.sumFeatures(s, {}, body::first);
  Value mean = b.elementwise(total, {row}, rows, compute, [&](OpBuilder &builder, Location loc, ValueRange args) {
    return arith::DivFOp::create(builder, loc, args[0], width).getResult();
  });
  Value squares = b.sumFeatures(s, mean, [](OpBuilder &builder, Location loc, ValueRange args) -> Value {
    Value d = arith::SubFOp::create(builder, loc, args[0], args[1]);
    return arith::MulFOp::create(builder, loc, d, d);
  });
  Value scale =
      b.elementwise(squares, {row}, rows, compute, [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        Value variance = arith::DivFOp::create(builder, loc, args[0], width);
        Value root = math::SqrtOp::create(builder, loc, arith::AddFOp::create(builder, loc, variance, epsilon));
        return arith::DivFOp::create(builder, loc, one, root);
      });
  return b.elementwise({s, mean, scale, gamma, beta}, {all, row, row, column, column}, sizes, b.getElementType(),
                       [](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                         Value d = arith::SubFOp::create(builder, loc, args[0], args[1]);
                         Value normal = arith::MulFOp::create(builder, loc, d, args[2]);
                         Value scaled = arith::MulFOp::create(builder, loc, normal, args[3]);
                         return arith::AddFOp::create(builder, loc, scaled, args[4]);
                       });
}

namespace {

struct LayerNormPattern : OpRewritePattern<LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Value s = op.getX();
    if (Value residual = op.getResidual()) {
      SmallVector<OpFoldResult> sizes = b.getSizes(s);
      SmallVector<AffineExpr> all = b.dims(sizes.size());
      s = b.elementwise({s, residual}, {all, all}, sizes, b.getComputeType(), body::add);
    }
    b.replace(op, buildNorm(b, s, op.getGamma(), op.getBeta(), op.getEps().convertToDouble()));
    return success();
  }
};

struct EmbeddingsPattern : OpRewritePattern<EmbeddingsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(EmbeddingsOp op, PatternRewriter &rewriter) const override {
    if (op.isDecomposable())
      return rewriter.notifyMatchFailure(op, "requires the projection to be decomposed into a dense layer");
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getPosition()));
    SmallVector<OpFoldResult> sizes = b.getSizes(op.getTokenTypes());
    sizes.push_back(b.getSize(op.getPosition(), 1));
    SmallVector<AffineExpr> all = b.dims(3), token{all[0], all[1]};
    // Vectors need no table.
    Value tables[] = {op.getWord(), op.getPosition(), op.getTypeTable()};
    Type compute = b.getComputeType();
    Value s = b.elementwise({op.getIds(), op.getPositionIds(), op.getTokenTypes()},
                            {op.getWord() ? token : all, token, token}, sizes, compute,
                            [&](OpBuilder &builder, Location loc, ValueRange args) {
                              Value feature = linalg::IndexOp::create(builder, loc, 2), sum;
                              for (auto [table, id] : llvm::zip(tables, args)) {
                                Value x = id;
                                if (table) {
                                  Value row = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), id);
                                  x = tensor::ExtractOp::create(builder, loc, table, ValueRange{row, feature});
                                }
                                if (x.getType() != compute)
                                  x = arith::ExtFOp::create(builder, loc, compute, x);
                                sum = sum ? arith::AddFOp::create(builder, loc, sum, x) : x;
                              }
                              return sum;
                            });
    b.replace(op, buildNorm(b, s, op.getGamma(), op.getBeta(), op.getEps().convertToDouble()));
    return success();
  }
};

struct PoolPattern : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    if (op.getMask())
      return rewriter.notifyMatchFailure(op, "has a mask"); // StepGating.cpp
    StepBuilder b(rewriter, op, getElementTypeOrSelf(op.getX()));
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes = b.getSizes(op.getX());
    OpFoldResult length = sizes[1];
    if (op.getKind() == PoolKind::Mean) {
      SmallVector<AffineExpr> all = b.dims(3), pooled{all[0], all[2]};
      sizes.erase(sizes.begin() + 1);
      Value total = b.generic(op.getX(), b.filled(0.0, sizes), {all, pooled}, 3, 1u, body::add);
      Value count = getValueOrCreateConstantIndexOp(rewriter, loc, length);
      count = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), count);
      count = arith::SIToFPOp::create(rewriter, loc, b.getComputeType(), count);
      Value mean = b.elementwise(total, {b.dims(2)}, sizes, b.getElementType(),
                                 [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                                   return arith::DivFOp::create(builder, loc, args[0], count);
                                 });
      b.replace(op, mean);
      return success();
    }
    OpFoldResult token = b.getIndex(0);
    if (op.getKind() == PoolKind::Last) {
      AffineExpr t = rewriter.getAffineSymbolExpr(0);
      token = affine::makeComposedFoldedAffineApply(rewriter, loc, t - 1, length);
    }
    sizes[1] = b.getIndex(1);
    SmallVector<OpFoldResult> offsets{b.getIndex(0), token, b.getIndex(0)}, strides(3, b.getIndex(1));
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, cast<RankedTensorType>(op.getType()), op.getX(),
                                                 offsets, sizes, strides);
    b.replace(op, slice);
    return success();
  }
};

} // namespace

void mlir::convbert::populateStepNormPatterns(RewritePatternSet &patterns) {
  patterns.add<LayerNormPattern, EmbeddingsPattern, PoolPattern>(patterns.getContext());
}
