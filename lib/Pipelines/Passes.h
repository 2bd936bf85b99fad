//===- Passes.h - Checks between phases -------------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_PASSES_H
#define CONVBERT_LIB_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Pipelines/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_PASSES_H
