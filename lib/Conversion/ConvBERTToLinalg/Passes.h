//===- Passes.h - From convbert to linalg -----------------------*- C++ -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Conversion/ConvBERTToLinalg/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_H
