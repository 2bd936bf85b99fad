//===- ReifyShapes.h - Shapes of results as values --------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_REIFYSHAPES_H
#define CONVBERT_DIALECT_IR_REIFYSHAPES_H

#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::convbert {

/// ReifyRankedShapedTypeOpInterface of all step and block operations: features are static, and where the batch or the
/// length of a result is dynamic, it is that of operand 0.
LogicalResult reifyFromFirstOperand(Operation *op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_REIFYSHAPES_H
