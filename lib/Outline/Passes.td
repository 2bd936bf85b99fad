//===- Passes.td - From fused operations to kernels and host code -*- tablegen -*-===//

#ifndef CONVBERT_OUTLINE_PASSES_TD
#define CONVBERT_OUTLINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def PackParametersPass : Pass<"convbert-pack-parameters", "::mlir::func::FuncOp"> {
  let summary = "Bring weights into the order in which a target's kernels read them";
  let description = [{
    Weights become panels of output features, biases follow, heads and rows are padded with zeros to whole vectors,
    taps come before heads.  The chain of tensor operations rests on parameters alone, so `convbert-hoist-parameters`
    moves it to where the globals are loaded and `convbert-outline` runs it once, in `@prepack`.

    ```mlir
    // before
    %y = convbert.dense %x, %w, %b : (tensor<?x?x768xf32>, tensor<3072x768xf32>, tensor<3072xf32>) -> ...
    // after
    %e = tensor.expand_shape %w [[0, 1], [2]] output_shape [128, 24, 768] : ...
    %p = linalg.transpose ins(%e : tensor<128x24x768xf32>) outs(%i : tensor<128x768x24xf32>) permutation = [0, 2, 1]
    %v = convbert.weight_view %p : (tensor<128x768x24xf32>) -> tensor<3072x768xf32>
    %y = convbert.dense %x, %v, ... : ...
    ```

    With `weights=bf16` an `arith.truncf` of the panels is the last of the chain; with `isa=avx512bf16` too, and panels
    hold pairs of neighbours in k, [panel][in / 2][nr][2].  Biases, normalisations, tables and
    the weights of depthwise convolutions stay f32.

    Depthwise convolutions of the same rows get the window that covers all of them where `convbert.select_branches` takes
    them and nothing else does, and a sum of their means becomes the mean of one convolution with the sum of their taps:
    `convbert-outline` then makes none of them.  The mean takes sums of the rows that are read, the selection is one
    convolution with taps that are mixed for each sequence.
  }];
  let options = [
    Option<"instructionSet", "isa", "std::string", "\"avx2\"", "Instruction set: generic, avx2, avx512, avx512bf16 or neon">,
    Option<"weights", "weights", "std::string", "\"f32\"",
           "What the weights of matrix products are stored as: f32, or bf16 (rounded to nearest even, half the memory "
           "traffic; arithmetic stays f32)">
  ];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect", "tensor::TensorDialect"];
}

def OutlinePass : Pass<"convbert-outline", "::mlir::ModuleOp"> {
  let summary = "Host code that calls kernels on views of one workspace";
  let description = [{
    Every function becomes a list of calls: activations are views of the workspace (planned by liveness), parameters
    views of the packed parameters, inputs and outputs views of their tables.  Each fused operation becomes a call of a
    kernel, a private function with memref operands of explicit layout and a tensor body; equal kernels are one
    function.  What rests on parameters alone goes to `@prepack`.  `@packed_bytes`, `@prepack_steps` and
    `@workspace_bytes` are closed formulas; `@packed_layout` is equal for modules whose packed parameters are.

    ```mlir
    // before
    func.func @forward(%ids: tensor<?x?xi64>, ...) -> tensor<?x?x768xf32> {
      %y = convbert.dense %x, %w, %b : ...
    // after
    func.func @forward(%packed: memref<?xi8>, %inputs: memref<?xmemref<?xi8>>, %outputs: memref<?xmemref<?xi8>>,
                       %workspace: memref<?xi8>, %shape: memref<?xi64>, %threads: i32) {
      func.call @dense(%rows, %panels, %bias, %out, %threads) : ...
    ```
  }];
  let options = [
    Option<"instructionSet", "isa", "std::string", "\"avx2\"", "Instruction set: generic, avx2, avx512, avx512bf16 or neon">
  ];
  let statistics = [
    Statistic<"kernels", "kernels", "Kernel functions made">,
    Statistic<"calls", "calls", "Kernel calls">
  ];
  let dependentDialects = [
    "arith::ArithDialect", "bufferization::BufferizationDialect", "func::FuncDialect", "linalg::LinalgDialect",
    "memref::MemRefDialect", "scf::SCFDialect", "tensor::TensorDialect", "vector::VectorDialect"
  ];
}

#endif // CONVBERT_OUTLINE_PASSES_TD
