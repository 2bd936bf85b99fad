//===- Passes.h - Passes that report and change nothing ---------*- C++ -*-===//

#ifndef CONVBERT_LIB_ANALYSIS_PASSES_H
#define CONVBERT_LIB_ANALYSIS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#include "lib/Analysis/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Analysis/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_LIB_ANALYSIS_PASSES_H
