//===- Passes.h - Schedules applied to kernels ------------------*- C++ -*-===//

#ifndef CONVBERT_SCHEDULES_PASSES_H
#define CONVBERT_SCHEDULES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Schedules/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_SCHEDULES_PASSES_H
