//===- CostRules.h - Counting for CostOpInterface ---------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_COSTRULES_H
#define CONVBERT_DIALECT_IR_COSTRULES_H

#include "mlir/Support/LLVM.h"

namespace mlir::convbert {

/// The product of counts; the largest number where it does not fit.
int64_t product(ArrayRef<int64_t> factors);

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_COSTRULES_H
