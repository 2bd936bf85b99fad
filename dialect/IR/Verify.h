//===- Verify.h - What the verifiers share ----------------------*- C++ -*-===//
//
// Labels in verifiers, such as DENSE-C1, are those of dialect/Spec.md.  What a type alone must fulfil (TYPE-C1 to C5)
// stands in ODS and has been checked before; so has the result type, which is inferred (TYPE-C7).
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_VERIFY_H
#define CONVBERT_DIALECT_IR_VERIFY_H

#include "dialect/IR/ShapeRules.h"

/// Defines OP::verify; the body sees the operation as `op` and makes diagnostics with `error`.
#define CONVBERT_VERIFY(OP)                                                                                            \
  static LogicalResult verifyImpl(OP op, EmitError error);                                                             \
  LogicalResult OP::verify() {                                                                                         \
    auto error = [&] { return emitOpError(); };                                                                        \
    if (failed(requireSameElementType(error, getOperands()))) /* TYPE-C6 */                                            \
      return failure();                                                                                                \
    return verifyImpl(*this, error);                                                                                   \
  }                                                                                                                    \
  static LogicalResult verifyImpl(OP op, EmitError error)

#endif // CONVBERT_DIALECT_IR_VERIFY_H
