//===- EmitObject.h - From the LLVM dialect to an object file ---*- C++ -*-===//

#ifndef CONVBERT_LIB_TARGET_CPU_EMITOBJECT_H
#define CONVBERT_LIB_TARGET_CPU_EMITOBJECT_H

#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/CPUTarget.h"

namespace mlir::convbert {

/// Registers LLVM's back ends, once.
void initializeBackend();

/// Translates `module`, which has been through phase `llvm`, to LLVM IR, optimises it and returns the bytes of a
/// position-independent object file.  Only the C interface (`_mlir_ciface_*`) keeps external linkage.  Appends the
/// times of the steps `translate`, `optimize` and `codegen`.  Fails with a diagnostic at the module.
FailureOr<SmallVector<char, 0>> emitObject(ModuleOp module, const CPUTarget &target, PhaseTimes &times);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_EMITOBJECT_H
