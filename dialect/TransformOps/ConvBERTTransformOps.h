//===- ConvBERTTransformOps.h - Transform operations ------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_TRANSFORMOPS_CONVBERTTRANSFORMOPS_H
#define CONVBERT_DIALECT_TRANSFORMOPS_CONVBERTTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "dialect/TransformOps/ConvBERTTransformOps.h.inc"

namespace mlir {
class DialectRegistry;
namespace convbert {

/// Adds `transform.convbert.*` to the transform dialect.
void registerTransformExtension(DialectRegistry &registry);

} // namespace convbert
} // namespace mlir

#endif // CONVBERT_DIALECT_TRANSFORMOPS_CONVBERTTRANSFORMOPS_H
