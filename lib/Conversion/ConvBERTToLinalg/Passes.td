//===- Passes.td - From convbert to linalg ----------------------*- tablegen -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertConvBERTToLinalg : Pass<"convbert-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower step and tile operations to linalg";
  let description = [{
    Tile operations, the bodies of kernels, become a few `linalg` operations on tiles of f32; those that a schedule
    looks for carry a unit attribute as a tag (`mm`, `epi`, ...; see the pattern files).

    Step operations become `linalg` and `tensor` operations on tokens-major tensors of any float type with dynamic
    batch and length, without tags: the path of single operations, of tests, and of targets that have no kernels.
    Numbers narrower than f32 are computed in f32.  The number of operations depends on no extent: heads, taps and
    groups are dimensions of loops, windows over tokens are read in place from a zero-padded copy.

    Scalar functions (erf, exp, tanh) of f32 become `arith` and `math.fma`, which vectorise without a call.  A
    conversion is full: an operation of the dialect that has no lowering is an error that names it; block operations
    are decomposed first (`convbert-decompose`).

    ```mlir
    %r = convbert.packed_dense %rows, %panels, %bias
      : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    // becomes
    %zero = linalg.fill ...
    %sum = linalg.generic ... attrs = {mm}   // contraction
    %r = linalg.generic ... attrs = {epi}    // bias, activation, multiplier

    %k = convbert.dynamic_kernel %q, %w, %b {heads = 6 : i64, normalize = #convbert.norm<none>}
      : (tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>) -> tensor<?x?x6x9xf32>
    // becomes
    %start = linalg.generic ... ins(%b : tensor<54xf32>)
    %logits = linalg.generic ... ins(%q, %w : tensor<?x?x384xf32>, tensor<54x384xf32>) outs(%start : tensor<?x?x54xf32>)
    %k = tensor.expand_shape %logits ... into tensor<?x?x6x9xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_PASSES_TD
