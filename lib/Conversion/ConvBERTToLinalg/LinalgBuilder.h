//===- LinalgBuilder.h - Tagged linalg operations ---------------*- C++ -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_LINALGBUILDER_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_LINALGBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// Builds the linalg operations of one tile operation: f32, static temporaries, a unit attribute as the tag by which
/// a schedule finds an operation.
class LinalgBuilder {
public:
  using Body = function_ref<Value(OpBuilder &, Location, ValueRange)>;

  LinalgBuilder(PatternRewriter &rewriter, Location loc) : rewriter(rewriter), loc(loc) {}

  /// A tensor of its own: one shared by several operations would be allocated.
  Value empty(ArrayRef<int64_t> shape) { return tensor::EmptyOp::create(rewriter, loc, shape, rewriter.getF32Type()); }

  /// A tensor of `shape` that holds `value` everywhere.
  Value filled(double value, ArrayRef<int64_t> shape) {
    Value scalar = arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
    return linalg::FillOp::create(rewriter, loc, scalar, empty(shape)).getResult(0);
  }

  /// `linalg.generic` of which the last `reductions` dimensions are reduced.  `maps` has the dimensions of each input
  /// and then of `init`.  `body` gets one scalar an input and that of `init`.
  Value generic(StringRef tag, ValueRange inputs, Value init, ArrayRef<ArrayRef<AffineExpr>> maps, unsigned dimensions,
                unsigned reductions, Body body) {
    SmallVector<AffineMap> indexing;
    for (ArrayRef<AffineExpr> map : maps)
      indexing.push_back(AffineMap::get(dimensions, 0, map, rewriter.getContext()));
    SmallVector<utils::IteratorType> iterators(dimensions - reductions, utils::IteratorType::parallel);
    iterators.append(reductions, utils::IteratorType::reduction);
    auto op = linalg::GenericOp::create(
        rewriter, loc, init.getType(), inputs, init, indexing, iterators,
        [&](OpBuilder &b, Location l, ValueRange args) { linalg::YieldOp::create(b, l, body(b, l, args)); });
    op->setAttr(tag, rewriter.getUnitAttr());
    return op.getResult(0);
  }

private:
  PatternRewriter &rewriter;
  Location loc;
};

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_LINALGBUILDER_H
