//===- Passes.td - Schedules applied to kernels -----------------*- tablegen -*-===//

#ifndef CONVBERT_SCHEDULES_PASSES_TD
#define CONVBERT_SCHEDULES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleKernels : Pass<"convbert-schedule", "::mlir::ModuleOp"> {
  let summary = "Apply to each kernel the transform sequence of its kind";
  let description = [{
    For every function with `convbert.kernel = "<kind>"` the sequence that the schedule library holds for (kind,
    element type, `isa`) is applied to the function's body, with the parameters of the `isa` (lanes of a native
    vector, panels a task, ...).  The library is embedded in the compiler; nothing is added to the module.  Kernels of
    kind `copy` are left alone.

    A kind without a sequence, and a sequence that fails, are errors at the kernel.  An operation that a sequence
    leaves to scalar loops gets a remark, except in kernels of kind `pack`, which run once.

    ```mlir
    // before
    func.func private @dense(...) attributes {convbert.kernel = "dense"} { ... linalg.generic ... attrs = {epi} ... }
    // after
    func.func private @dense(...) attributes {convbert.kernel = "dense"} { scf.forall ... { ... vector.fma ... } }
    ```
  }];
  let options = [
    Option<"instructionSet", "isa", "std::string", "\"avx2\"",
           "Instruction set: a name that lib/Schedules/cpu/isa.mlir lists">
  ];
}

#endif // CONVBERT_SCHEDULES_PASSES_TD
