//===- Norm.cpp - Lowering of norm_tile -----------------------------------===//
//
// A row of C elements is cut into C / lanes slices, tensor<(C / lanes) x lanes>: sums run over the slices first, one
// partial sum a lane, which keeps them in vector registers, and then over the lanes.
//
//   %s        tagged `sum`:   sum of the addends, zero at and beyond `width`; not there if it is the one addend
//   %partial  tagged `lane`:  sum of s over the slices; then over the lanes: the mean
//   %partial2 tagged `lane`:  sum of (s - mean)^2 over the slices; then over the lanes: the variance.  Two passes,
//                             since E[s^2] - E[s]^2 cancels.
//   %y        tagged `scale`: (s - mean) * rsqrt * gamma + beta, zero at and beyond `width`
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// Elements a slice: the largest power of two up to 32 that divides the row, whatever the vector width: a slice below
/// it still is one vector.  Two slices at least, where they are not below 8: the loop over one slice would disappear,
/// and writes of its parts to a fresh tensor are bufferized into copies.
static int64_t lanesOf(int64_t row) {
  int64_t lanes = 32;
  while (lanes > 1 && (row % lanes != 0 || (row == lanes && lanes > 8)))
    lanes /= 2;
  return lanes;
}

/// Replaces `op` by `value`, the same row in slices.  Where the row is stored, the destination is cut instead of the
/// value: a collapsed tensor would be bufferized into a temporary and a copy.
static void replaceBySlices(PatternRewriter &rewriter, NormTileOp op, Value value) {
  SmallVector<ReassociationIndices> all{{0, 1}};
  auto store = op->hasOneUse() ? dyn_cast<bufferization::MaterializeInDestinationOp>(*op->user_begin()) : nullptr;
  if (!store || !isa<MemRefType>(store.getDest().getType())) {
    rewriter.replaceOp(op, tensor::CollapseShapeOp::create(rewriter, op.getLoc(), value, all));
    return;
  }
  rewriter.setInsertionPoint(store);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  Value dest = memref::ExpandShapeOp::create(rewriter, store.getLoc(), shape, store.getDest(), all);
  auto sliced = bufferization::MaterializeInDestinationOp::create(rewriter, store.getLoc(), value, dest);
  sliced.setRestrict(store.getRestrict());
  sliced.setWritable(store.getWritable());
  rewriter.eraseOp(store);
  rewriter.eraseOp(op);
}

namespace {

/// Builds the operations of one row.
struct NormBuilder {
  PatternRewriter &rewriter;
  Location loc;
  Value params;
  RankedTensorType slices;
  int64_t row, lanes, width;

  NormBuilder(PatternRewriter &rewriter, NormTileOp op)
      : rewriter(rewriter), loc(op.getLoc()), params(op.getParams()),
        row(cast<RankedTensorType>(op.getResult().getType()).getDimSize(0)), lanes(lanesOf(row)), width(op.getWidth()) {
    slices = RankedTensorType::get({row / lanes, lanes}, rewriter.getF32Type());
  }

  Value constant(double value) const {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
  }
  Value empty(ArrayRef<int64_t> shape) const {
    return tensor::EmptyOp::create(rewriter, loc, shape, rewriter.getF32Type());
  }
  Value zeros(ArrayRef<int64_t> shape) const {
    return linalg::FillOp::create(rewriter, loc, constant(0.0), empty(shape)).getResult(0);
  }
  Value cut(Value vector) const {
    SmallVector<ReassociationIndices> all{{0, 1}};
    return tensor::ExpandShapeOp::create(rewriter, loc, slices, vector, all);
  }
  /// Row `i` of `params`, in slices.
  Value param(int64_t i) const {
    OpBuilder &b = rewriter;
    SmallVector<OpFoldResult> offsets{b.getIndexAttr(i), b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(row)};
    SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
    auto type = RankedTensorType::get({row}, b.getF32Type());
    return cut(tensor::ExtractSliceOp::create(b, loc, type, params, offsets, sizes, strides));
  }
  AffineMap map(unsigned dims, ArrayRef<unsigned> results) const {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : results)
      exprs.push_back(rewriter.getAffineDimExpr(d));
    return AffineMap::get(dims, 0, exprs, rewriter.getContext());
  }

  /// `value` where the element lies within the width, else zero.  `slice` and `lane` are the loops that count them.
  Value masked(OpBuilder &b, Location loc, Value value, unsigned slice, unsigned lane) const {
    if (width == row)
      return value;
    auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
    Value first = arith::MulIOp::create(b, loc, linalg::IndexOp::create(b, loc, slice), index(lanes));
    Value at = arith::AddIOp::create(b, loc, first, linalg::IndexOp::create(b, loc, lane));
    Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, index(width));
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0.0f));
    return arith::SelectOp::create(b, loc, within, value, zero);
  }

  using Body = function_ref<Value(OpBuilder &, Location, ValueRange)>;
  Value generic(ValueRange inputs, Value init, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                StringRef tag, Body body) const {
    auto generic = linalg::GenericOp::create(
        rewriter, loc, init.getType(), inputs, init, maps, iterators,
        [&](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, body(b, loc, args)); });
    if (!tag.empty())
      generic->setAttr(tag, rewriter.getUnitAttr());
    return generic.getResult(0);
  }

  /// Elementwise over slices; scalars among the inputs are read by every element.
  Value elementwise(ValueRange inputs, StringRef tag, Body body) const {
    SmallVector<AffineMap> maps;
    for (Value input : inputs)
      maps.push_back(isa<TensorType>(input.getType()) ? map(2, {0, 1}) : map(2, {}));
    maps.push_back(map(2, {0, 1}));
    SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
    return generic(inputs, empty(slices.getShape()), maps, iterators, tag, body);
  }

  /// Sum over all elements of `term(element, extra)`.
  Value sum(Value s, Value extra, Body term) const {
    SmallVector<Value> inputs{s};
    SmallVector<AffineMap> maps{map(2, {1, 0})}; // lanes outside, slices inside
    if (extra) {
      inputs.push_back(extra);
      maps.push_back(map(2, {}));
    }
    maps.push_back(map(2, {0}));
    Value partial =
        generic(inputs, zeros({lanes}), maps, {utils::IteratorType::parallel, utils::IteratorType::reduction}, "lane",
                [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                  return arith::AddFOp::create(b, loc, args.back(), term(b, loc, args));
                });
    Value total = generic(partial, zeros({}), {map(1, {0}), map(1, {})}, utils::IteratorType::reduction, "",
                          [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                            return arith::AddFOp::create(b, loc, args[1], args[0]);
                          });
    return tensor::ExtractOp::create(rewriter, loc, total, ValueRange{});
  }
};

struct NormTilePattern : OpRewritePattern<NormTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormTileOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (!type.getElementType().isF32() || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "requires a static row of f32");
    NormBuilder n(rewriter, op);
    Location loc = op.getLoc();

    SmallVector<Value> addends;
    for (Value addend : op.getAddends())
      addends.push_back(n.cut(addend));
    Value s = addends.front();
    // An identity would be folded away; the tag with it.
    if (addends.size() > 1 || n.width != n.row)
      s = n.elementwise(addends, "sum", [&](OpBuilder &b, Location loc, ValueRange args) {
        Value sum = args[0];
        for (Value other : args.drop_front().drop_back())
          sum = arith::AddFOp::create(b, loc, sum, other);
        return n.masked(b, loc, sum, 0, 1);
      });
    Value inverse = n.constant(1.0 / static_cast<double>(op.getWidth()));
    Value total = n.sum(s, {}, [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    Value mean = arith::MulFOp::create(rewriter, loc, total, inverse);
    Value squares = n.sum(s, mean, [&](OpBuilder &b, Location loc, ValueRange args) {
      Value d = n.masked(b, loc, arith::SubFOp::create(b, loc, args[0], args[1]), 1, 0);
      return arith::MulFOp::create(b, loc, d, d).getResult();
    });
    Value variance = arith::MulFOp::create(rewriter, loc, squares, inverse);
    Value shifted = arith::AddFOp::create(rewriter, loc, variance, n.constant(op.getEps().convertToDouble()));
    Value root = math::SqrtOp::create(rewriter, loc, shifted);
    Value scale = arith::DivFOp::create(rewriter, loc, n.constant(1.0), root);
    Value y = n.elementwise({s, mean, scale, n.param(0), n.param(1)}, "scale",
                            [&](OpBuilder &b, Location loc, ValueRange args) {
                              Value d = arith::SubFOp::create(b, loc, args[0], args[1]);
                              Value normal = arith::MulFOp::create(b, loc, d, args[2]);
                              Value value = math::FmaOp::create(b, loc, normal, args[3], args[4]);
                              return n.masked(b, loc, value, 0, 1);
                            });
    replaceBySlices(rewriter, op, y);
    return success();
  }
};

} // namespace

void mlir::convbert::populateNormPatterns(RewritePatternSet &patterns) {
  patterns.add<NormTilePattern>(patterns.getContext());
}
