//===- ReifyShapes.cpp - Shapes of results as values ------------------------===//

#include "dialect/IR/ReifyShapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

LogicalResult convbert::reifyFromFirstOperand(Operation *op, OpBuilder &builder,
                                              ReifiedRankedShapedTypeDims &shapes) {
  Value first = op->getOperand(0);
  for (Value result : op->getResults()) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
      shape.push_back(ShapedType::isDynamic(size) ? tensor::getMixedSize(builder, op->getLoc(), first, dim)
                                                  : OpFoldResult(builder.getIndexAttr(size)));
  }
  return success();
}
