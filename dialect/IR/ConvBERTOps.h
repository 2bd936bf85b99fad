//===- ConvBERTOps.h - Operations, enumerations and interfaces --*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_CONVBERTOPS_H
#define CONVBERT_DIALECT_IR_CONVBERTOPS_H

#include "dialect/IR/ConvBERTDialect.h"
#include "dialect/IR/Costs.h"
#include "dialect/IR/Heads.h"
#include "dialect/IR/Tables.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/IR/ConvBERTEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/IR/ConvBERTAttrs.h.inc"

#include "dialect/IR/ConvBERTInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/IR/ConvBERTOps.h.inc"

#endif // CONVBERT_DIALECT_IR_CONVBERTOPS_H
