//===- Passes.h - Passes on bufferized kernels ------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_TRANSFORMS_CPU_PASSES_H
#define CONVBERT_LIB_TRANSFORMS_CPU_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/CPU/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_CPU_PASSES_H
