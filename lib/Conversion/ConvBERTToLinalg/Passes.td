//===- Passes.td - From kernel bodies to linalg -----------------*- tablegen -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertConvBERTToLinalg : Pass<"convbert-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower the tile operations of a kernel function to linalg";
  let description = [{
    Works on functions that carry `convbert.kernel` and leaves others alone.  Every tile operation becomes a few
    `linalg` operations on tensors; those that a schedule looks for carry a unit attribute as a tag (`mm`, `epi`, ...;
    see the pattern files).  Scalar functions (erf, exp, tanh) become `arith` and `math.fma`, which vectorise without
    a call.  A conversion is full: an operation of the dialect that has no lowering is an error that names it.

    ```mlir
    %r = convbert.packed_dense %rows, %panels, %bias
      : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    // becomes
    %zero = linalg.fill ...
    %sum = linalg.generic ... attrs = {mm}   // contraction
    %r = linalg.generic ... attrs = {epi}    // bias, activation, multiplier
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD
