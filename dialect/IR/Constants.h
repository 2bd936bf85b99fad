//===- Constants.h - What folds ask of constants ----------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_CONSTANTS_H
#define CONVBERT_DIALECT_IR_CONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace mlir::convbert {

/// True for a constant of ones.  A splat is one number, however many elements its type has.
bool isOne(Attribute attr);
bool isOne(Value value);

/// True for a constant of zeros, of either sign.
bool isZero(Value value);

/// True if every run of `taps` elements holds one finite number: a softmax over the taps does not see it.
bool isConstantOverTaps(Value bias, int64_t taps);

/// The softmax over runs of `taps` elements, computed in double precision; null unless they are finite.
DenseFPElementsAttr foldSoftmax(DenseFPElementsAttr logits, int64_t taps);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_CONSTANTS_H
