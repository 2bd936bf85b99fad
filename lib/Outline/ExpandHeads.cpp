//===- ExpandHeads.cpp - Taps of heads as taps of channels ------------------===//

#include "lib/Outline/ExpandHeads.h"
#include "dialect/IR/ShapeRules.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// `H x K` as `C x K`: blocked heads repeat each row `R` times, interleaved ones all rows.
static Value repeatRows(OpBuilder &b, Location loc, Value taps, int64_t channels, HeadMap map) {
  auto type = cast<RankedTensorType>(taps.getType());
  int64_t heads = type.getDimSize(0), count = type.getDimSize(1), size = channels / heads;
  int64_t repeated = map == HeadMap::Blocked ? 1 : 0;
  SmallVector<int64_t> shape{heads, count};
  shape.insert(shape.begin() + repeated, size);
  Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value all = linalg::BroadcastOp::create(b, loc, taps, init, ArrayRef<int64_t>{repeated})->getResult(0);
  return tensor::CollapseShapeOp::create(b, loc, all, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
}

LogicalResult convbert::expandHeads(RewriterBase &rewriter, LightConvOp op) {
  rewriter.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  if (op.getEdge() == Edge::Renorm) {
    if (Value bias = op.getBias()) {
      rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
      auto sum = AddBiasOp::create(rewriter, loc, op.getResult(), bias);
      rewriter.replaceAllUsesExcept(op.getResult(), sum.getResult(), sum);
    }
    return success();
  }
  if (op.getNormalize() != KernelNorm::None)
    return op.emitOpError() << "requires the softmax of its weights decomposed for the CPU kernel, but found normalize "
                            << stringifyKernelNorm(op.getNormalize());
  Value taps = repeatRows(rewriter, op.getWeight().getLoc(), op.getWeight(), getFeatures(op.getX()), op.getHeadMap());
  Value y = DepthwiseConv1DOp::create(rewriter, loc, op.getX(), taps, /*bias=*/Value(), op.getPadsAttr(),
                                      /*stride=*/rewriter.getI64IntegerAttr(1), op.getDilationAttr(),
                                      WeightLayoutAttr::get(op.getContext(), WeightLayout::OutIn));
  if (op.getBias())
    y = AddBiasOp::create(rewriter, loc, y, op.getBias());
  rewriter.replaceOp(op, y);
  return success();
}
