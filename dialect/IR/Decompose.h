//===- Decompose.h - What decompositions share ------------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_DECOMPOSE_H
#define CONVBERT_DIALECT_IR_DECOMPOSE_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// Where step `step` of what is at `loc` is: a name with `step` behind it; a place without a name stays as it is.
Location nameStep(Location loc, StringRef step);

/// A dense layer, then the activation as a step of its own, if there is one.
Value buildDense(OpBuilder &b, Location loc, Value x, Value weight, Value bias,
                 WeightLayout layout = WeightLayout::OutIn, ActivationKind activation = ActivationKind::Identity);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_DECOMPOSE_H
