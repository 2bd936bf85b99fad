//===- ReifyShapes.cpp - Shapes of results as values ------------------------===//

#include "dialect/IR/ReifyShapes.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

LogicalResult convbert::reifyFromFirstOperand(Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  Value first = op->getOperand(0);
  for (Value result : op->getResults()) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
      shape.push_back(ShapedType::isDynamic(size) ? tensor::getMixedSize(builder, op->getLoc(), first, dim)
                                                  : OpFoldResult(builder.getIndexAttr(size)));
  }
  return success();
}

/// The extent `dim` of `result`: a number where its type says so, else dimension `axis` of `like`.
static OpFoldResult reify(Operation *op, OpBuilder &builder, Value result, int64_t dim, Value like, int64_t axis) {
  int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? tensor::getMixedSize(builder, op->getLoc(), like, axis)
                                     : OpFoldResult(builder.getIndexAttr(size));
}

LogicalResult SelfAttentionOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  auto extent = [&](Value result, int64_t dim, Value like, int64_t axis) {
    return reify(getOperation(), builder, result, dim, like, axis);
  };
  Value y = getResult(), p = getProbabilities();
  shapes.push_back({extent(y, 0, getQ(), 0), extent(y, 1, getQ(), 1), extent(y, 2, getV(), 2)});
  if (p)
    shapes.push_back(
        {extent(p, 0, getQ(), 0), extent(p, 1, getQ(), 0), extent(p, 2, getQ(), 1), extent(p, 3, getK(), 1)});
  return success();
}

LogicalResult MixedAttentionOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  auto extent = [&](Value result, int64_t dim, int64_t axis) {
    return reify(getOperation(), builder, result, dim, getX(), axis);
  };
  Value y = getResult();
  shapes.push_back({extent(y, 0, 0), extent(y, 1, 1), extent(y, 2, 2)});
  if (Value p = getProbabilities())
    shapes.push_back({extent(p, 0, 0), extent(p, 1, 0), extent(p, 2, 1), extent(p, 3, 1)});
  if (Value k = getKernels()) // heads and taps are static
    shapes.push_back({extent(k, 0, 0), extent(k, 1, 1), extent(k, 2, 0), extent(k, 3, 0)});
  return success();
}

/// Tokens of a convolution: those of the window where the operand's are known at run time only.
template <typename Op>
static LogicalResult reifyWindow(Op op, const Window &window, OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  Location loc = op.getLoc();
  Value y = op.getResult();
  OpFoldResult batch = reify(op, b, y, 0, op.getX(), 0), features = reify(op, b, y, 2, op.getX(), 2);
  int64_t known = getExtent(y, 1);
  OpFoldResult length = b.getIndexAttr(known);
  if (ShapedType::isDynamic(known)) {
    int64_t reach = (window.taps - 1) * window.dilation;
    AffineExpr t = b.getAffineSymbolExpr(0);
    AffineExpr last = (t + (window.pads[0] + window.pads[1] - reach - 1)).floorDiv(window.stride);
    length = affine::makeComposedFoldedAffineApply(b, loc, last + 1, {tensor::getMixedSize(b, loc, op.getX(), 1)});
  }
  shapes.push_back({batch, length, features});
  return success();
}
LogicalResult Conv1DOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t taps = ConvFeatures::get(getWeight(), getLayout()).taps;
  return reifyWindow(*this, Window::get(*this, taps), builder, shapes);
}
LogicalResult DepthwiseConv1DOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWindow(*this, Window::get(*this, getTaps()), builder, shapes);
}
LogicalResult KernelAttentionConvOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t taps = ConvFeatures::get(getKernels(), getLayout()).taps;
  return reifyWindow(*this, Window::get(*this, taps), builder, shapes);
}
