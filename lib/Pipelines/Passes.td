//===- Passes.td - Checks between phases ------------------------*- tablegen -*-===//

#ifndef CONVBERT_LIB_PIPELINES_PASSES_TD
#define CONVBERT_LIB_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyPhase : Pass<"convbert-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check what must hold at the exit of a phase";
  let description = [{
    Each phase ends with this pass, so that a mistake is reported where it was made and not three phases later.  The
    checks are cheap and local; the first offending operation is named.

    | phase | must not be left |
    | --- | --- |
    | `simplify` | block operations |
    | `outline` | globals; operations of the dialect, and tensors, outside kernels |
    | `linalg` | operations of the dialect |
    | `schedule` | transform operations |
    | `bufferize` | tensors; copies of a buffer to itself |
    | `threads` | parallel loops |
    | `memory` | allocations, except in kernels of kind `pack`; stack arrays of dynamic size or in loops |
    | `llvm` | any operation that is not of the LLVM or OpenMP dialect |

    ```mlir
    // error: phase 'bufferize' requires no tensor at its exit, but found 'tensor.empty' with a result of type 'tensor<8xf32>'
    ```
  }];
  let options = [Option<"phase", "phase", "std::string", "\"\"", "Name of the phase that has just ended">];
}

#endif // CONVBERT_LIB_PIPELINES_PASSES_TD
