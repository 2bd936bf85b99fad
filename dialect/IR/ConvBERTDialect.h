//===- ConvBERTDialect.h - The convbert dialect -----------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_CONVBERTDIALECT_H
#define CONVBERT_DIALECT_IR_CONVBERTDIALECT_H

#include "mlir/IR/Dialect.h"

#include "dialect/IR/ConvBERTDialect.h.inc"

#endif // CONVBERT_DIALECT_IR_CONVBERTDIALECT_H
