//===- Passes.h - From fused operations to kernels and host code -*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_PASSES_H
#define CONVBERT_LIB_OUTLINE_PASSES_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#include "lib/Outline/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Outline/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_PASSES_H
