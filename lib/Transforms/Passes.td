//===- Passes.td - Passes from convbert to convbert -------------*- tablegen -*-===//

#ifndef CONVBERT_TRANSFORMS_PASSES_TD
#define CONVBERT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"convbert-decompose"> {
  let summary = "Replace block operations by step operations";
  let description = [{
    Applies `DecomposeOpInterface` until nothing decomposes any more.

    ```mlir
    // before
    %s = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 4, 4>} : ...
    // after
    %z = convbert.depthwise_conv1d %x, %wd {pads = array<i64: 4, 4>} : ...
    %s = convbert.dense %z, %wp, %b : ...
    ```
  }];
  let statistics = [Statistic<"decomposed", "decomposed", "Block operations decomposed">];
}

def FoldScalesPass : Pass<"convbert-fold-scales"> {
  let summary = "Fold the attention scale into the key projection";
  let description = [{
    The key of `self_attention` is multiplied by the scale through its weights, which costs nothing at run time.  The
    query is left alone: in mixed attention it also feeds the convolution, unscaled.

    ```mlir
    // before
    %k = convbert.dense %x, %wk, %bk : ...
    %c = convbert.self_attention %q, %k, %v {heads = 6 : i64, scale = 1.250000e-01 : f64} : ...
    // after
    %wk_scaled = arith.mulf %wk, %splat : tensor<384x768xf32>
    %bk_scaled = arith.mulf %bk, %splat_0 : tensor<384xf32>
    %k = convbert.dense %x, %wk_scaled, %bk_scaled : ...
    %c = convbert.self_attention %q, %k, %v {heads = 6 : i64, scale = 1.000000e+00 : f64} : ...
    ```
  }];
  let statistics = [Statistic<"folded", "folded", "Scales folded">];
}

def FuseProjectionsPass : Pass<"convbert-fuse-projections"> {
  let summary = "One dense layer for all dense layers of the same input";
  let description = [{
    Query, key, value and convolution value read the same rows: one matrix product with concatenated weights reads
    them once.  The results become slices of its result.  A layer whose result is concatenated as it is (the
    convolution value, where one tap makes the convolution nothing) stays apart: it is computed in its place.

    ```mlir
    // before
    %q = convbert.dense %x, %wq, %bq : ... -> tensor<?x?x384xf32>
    %k = convbert.dense %x, %wk, %bk : ... -> tensor<?x?x384xf32>
    // after
    %w = tensor.concat dim(0) %wq, %wk : ...
    %b = tensor.concat dim(0) %bq, %bk : ...
    %p = convbert.dense %x, %w, %b : ... -> tensor<?x?x768xf32>
    %q = tensor.extract_slice %p[0, 0, 0] [%B, %T, 384] [1, 1, 1] : ...
    %k = tensor.extract_slice %p[0, 0, 384] [%B, %T, 384] [1, 1, 1] : ...
    ```
  }];
  let statistics = [Statistic<"fused", "fused", "Dense layers fused away">];
  let dependentDialects = ["tensor::TensorDialect"];
}

def FuseEpiloguesPass : Pass<"convbert-fuse-epilogues"> {
  let summary = "Activations, products and softmaxes become epilogues of their producers";
  let description = [{
    ```mlir
    // before
    %h = convbert.dense %x, %w, %b : ...
    %g = convbert.activation %h {kind = #convbert.activation<gelu>} : ...
    %t = convbert.dynamic_kernel %g, %wf, %bf {heads = 6 : i64, normalize = #convbert.norm<softmax>} : ...
    %o = convbert.apply_kernel %v, %t {pads = array<i64: 4, 4>, normalize = #convbert.norm<none>} : ...
    // after
    %g = convbert.dense %x, %w, %b {activation = #convbert.activation<gelu>} : ...
    %t = convbert.dynamic_kernel %g, %wf, %bf {heads = 6 : i64, normalize = #convbert.norm<none>} : ...
    %o = convbert.apply_kernel %v, %t {pads = array<i64: 4, 4>, normalize = #convbert.norm<softmax>} : ...
    ```
    A product of a dense result with another activation becomes the dense layer's multiplier (`times`), a sum before a
    layer norm its residual.
  }];
  let statistics = [Statistic<"fused", "fused", "Epilogues fused">];
}

def HoistParametersPass : Pass<"convbert-hoist-parameters", "::mlir::ModuleOp"> {
  let summary = "Move chains that rest on parameters alone from private functions to their callers";
  let description = [{
    An operation of a private function whose operands are arguments that every caller fills with parameters (loaded
    globals, or what was computed from them) is moved to the callers; its results become arguments.  Arguments that
    nothing uses any more are dropped.  At the end every such chain rests on globals.

    ```mlir
    // before
    func.func private @layer(%x: tensor<?x?x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>) -> ... {
      %w = tensor.concat dim(0) %wq, %wk : ...
    // after
    func.func private @layer(%x: tensor<?x?x4xf32>, %w: tensor<8x4xf32>) -> ... {
    ```
  }];
  let statistics = [Statistic<"hoisted", "hoisted", "Operations hoisted">];
}

def ReturnStepsPass : Pass<"convbert-return-steps", "::mlir::ModuleOp"> {
  let summary = "All that public functions compute becomes a result";
  let description = [{
    Features of tokens and sequences that an operation of the dialect makes are returned, behind the results that were
    there, as `steps.0`, `steps.1`, ...: to see where a computation goes wrong.  Callees are inlined first (`inline`); a
    function that others call, or that has branches, keeps its results.

    ```mlir
    // before
    %h = convbert.dense %x, %w1, %b1 {activation = #convbert.activation<gelu>} : ...
    %y = convbert.dense %h, %w2, %b2 : ...
    return %y : tensor<?x?x768xf32>
    // after
    return %y, %h : tensor<?x?x768xf32>, tensor<?x?x3072xf32>
    ```
  }];
  let statistics = [Statistic<"steps", "steps", "Results added">];
}

def RaisePass : Pass<"convbert-raise"> {
  let summary = "Recognise convolutions that linalg spells out";
  let description = [{
    Other front ends leave convolutions over tokens as padding and contractions over windows of the padded tensor, as
    sums of shifted products, or as copies of all windows (an unfold) and a contraction.  Each becomes one operation:
    `conv1d`, `depthwise_conv1d`, `light_conv` where channels share taps, and `apply_kernel` where every token has taps
    that a softmax made, in one operation or in pieces; that also where batch, tokens and heads are joined by reshapes
    for a batch matrix product, as PyTorch models have it.  Zero padding of known extent becomes `pads`; channels in front
    of tokens are transposed, and reshapes that undo each other go.  What adds to anything but zeros, reads a padding of other numbers or may compute fewer
    tokens than windows fit is left as it is.

    ```mlir
    // before
    %a = linalg.softmax dimension(3) ins(%l : tensor<?x?x6x9xf32>) ...
    %p = tensor.pad %u low[0, 4, 0, 0] high[0, 4, 0, 0] ...
    %o = linalg.generic {indexing_maps = [affine_map<(b, t, h, c, j) -> (b, t + j, h, c)>,
                                          affine_map<(b, t, h, c, j) -> (b, t, h, j)>,
                                          affine_map<(b, t, h, c, j) -> (b, t, h, c)>], ...} ins(%p, %a) ...
    // after
    %v = tensor.collapse_shape %u [[0], [1], [2, 3]] : ...
    %y = convbert.apply_kernel %v, %l {normalize = #convbert.norm<softmax>, pads = array<i64: 4, 4>} : ...
    %o = tensor.expand_shape %y [[0], [1], [2, 3]] ...
    ```
  }];
  let statistics = [Statistic<"raised", "raised", "Convolutions recognised">];
  let dependentDialects = ["::mlir::convbert::ConvBERTDialect", "affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "tensor::TensorDialect"];
}

def AbsorbReshapesPass : Pass<"convbert-absorb-reshapes", "::mlir::ModuleOp"> {
  let summary = "The entry takes and gives what it reshapes";
  let description = [{
    What a public function takes apart or joins, behind batch and tokens, before it does anything else with it, lies in
    the caller's array just the same: the argument gets that type, and no reshape is left.  So does a result.  Kernels
    know nothing of such reshapes.

    ```mlir
    // before
    func.func @forward(%u: tensor<?x?x6xf32>, %l: tensor<?x?x9xf32>) -> tensor<?x?x6xf32> {
      %taps = tensor.expand_shape %l [[0], [1], [2, 3]] output_shape [%b, %t, 3, 3] : ...
      %y = convbert.apply_kernel %u, %taps {...} : (tensor<?x?x6xf32>, tensor<?x?x3x3xf32>) -> tensor<?x?x6xf32>
    // after
    func.func @forward(%u: tensor<?x?x6xf32>, %taps: tensor<?x?x3x3xf32>) -> tensor<?x?x6xf32> {
      %y = convbert.apply_kernel %u, %taps {...} : (tensor<?x?x6xf32>, tensor<?x?x3x3xf32>) -> tensor<?x?x6xf32>
    ```
  }];
  let statistics = [Statistic<"absorbed", "absorbed", "Reshapes absorbed">];
}

#endif // CONVBERT_TRANSFORMS_PASSES_TD
