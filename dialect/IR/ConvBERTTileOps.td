//===- ConvBERTTileOps.td - Bodies of outlined kernels ----------*- tablegen -*-===//
//
// Made by `convbert-outline` inside kernel functions and lowered by phase `linalg`; never written by users.  Shapes
// that a schedule unrolls are static, everything else is dynamic, so that one kernel serves all lengths.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_TILE_OPS_TD
#define CONVBERT_TILE_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"

def ConvBERT_WeightViewOp : ConvBERT_Op<"weight_view"> {
  let summary = "Parameters that are stored as a target wants them";
  let description = [{
    Stands between an operation and the packed form of its weights: the results have the shapes that the operation
    speaks of, the operands are what is stored (one a group where a weight has groups).  `convbert-pack-parameters`
    puts it there and `convbert-outline` reads the packed form through it; it does no work.

    ```mlir
    %w = convbert.weight_view %packed : (tensor<128x768x24xf32>) -> tensor<3072x768xf32>
    ```
  }];
  let arguments = (ins Variadic<ConvBERT_Parameter>:$packed);
  let results = (outs Variadic<ConvBERT_Parameter>:$weights);
  let assemblyFormat = "$packed attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_PackedDenseOp : ConvBERT_InferredOp<"packed_dense"> {
  let summary = "Dense layer on row tiles and weight panels, with its epilogue";
  let description = [{
    `out[o,m,n,j] = act(sum_k rows[o,m,k] * panels[n,k,j] + bias[n,j]) (* multiplier[o,m,n,j])`.

    `rows` are tiles of `mr` rows, `panels` are blocks of `nr` output features; both tile sizes are static.  With
    `bias_first` the sum starts from the bias, so that it may be taken in several passes over the depth.

    `panels` of bf16 are widened where the rest is f32: as they are multiplied, or with `widen_first` in a step of its
    own, which pays where many row tiles share them.  For instructions that multiply pairs, rows and panels have
    another dimension of size 2 and are both of bf16: `out[o,m,n,j]` is the sum of `rows[o,m,k,v] * panels[n,k,j,v]`
    over `k` and `v`, in f32.

    ```mlir
    %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>}
      : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    ```
  }];
  let arguments = (ins
    ConvBERT_Tile<[3, 4]>:$rows, ConvBERT_Tile<[3, 4]>:$panels, ConvBERT_Tile<[2]>:$bias,
    Optional<ConvBERT_Tile<[4]>>:$multiplier,
    DefaultValuedAttr<ConvBERT_ActivationAttr, "::mlir::convbert::ActivationKind::Identity">:$activation,
    UnitAttr:$bias_first, UnitAttr:$widen_first);
  let results = (outs ConvBERT_Tile<[4]>:$result);
  let assemblyFormat = [{
    $rows `,` $panels `,` $bias (`times` $multiplier^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ConvBERT_NormTileOp : ConvBERT_InferredOp<"norm_tile"> {
  let summary = "Sum of rows, then layer normalisation";
  let description = [{
    `y = gamma * (s - mean(s)) / sqrt(var(s) + eps) + beta` with `s` the sum of the addends.  Mean and (biased)
    variance are taken over the first `width` elements; the rest, up to the row's padded width, is not read into any
    result that counts.  `params` holds gamma in row 0 and beta in row 1.

    ```mlir
    %y = convbert.norm_tile %params (%x, %residual) {eps = 1.0e-12 : f64, width = 768 : i64}
      : (tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Matrix:$params, Variadic<ConvBERT_Row>:$addends, F64Attr:$eps, I64Attr:$width);
  let results = (outs ConvBERT_Row:$result);
  let assemblyFormat = "$params `(` $addends `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_DepthwiseTileOp : ConvBERT_InferredOp<"depthwise_tile"> {
  let summary = "Depthwise convolution of a block of tokens and channels";
  let description = [{
    `y[t,c] = sum_j taps[j,c] * x[t+j,c]`: cross-correlation without padding, so `x` has `K-1` rows more than `y`.

    ```mlir
    %y = convbert.depthwise_tile %x, %taps : (tensor<12x32xf32>, tensor<9x32xf32>) -> tensor<4x32xf32>
    ```

    With a bias the sums start from it.

    ```mlir
    %y = convbert.depthwise_tile %x, %taps, %bias
      : (tensor<12x32xf32>, tensor<9x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Tile<[2]>:$x, ConvBERT_Tile<[2]>:$taps, Optional<ConvBERT_Row>:$bias);
  let results = (outs ConvBERT_Tile<[2]>:$result);
  let assemblyFormat = "$x `,` $taps (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_SpanTileOp : ConvBERT_InferredOp<"span_tile"> {
  let summary = "Softmax over the taps and dynamic convolution of a block of tokens";
  let description = [{
    `a[t,j,h] = softmax_j(logits[t,j,h])`, `y[t,h,c] = sum_j a[t,j,h] * v[t+j,h,c]`.  `logits` may have more heads
    (its last dimension is rounded up to the vector width) than `v`; the surplus is ignored.

    ```mlir
    %y = convbert.span_tile %logits, %v : (tensor<4x9x8xf32>, tensor<12x6x64xf32>) -> tensor<4x6x64xf32>
    ```

    With `with_taps` the second result is `a`, the surplus included.

    ```mlir
    %y, %a = convbert.span_tile %logits, %v {with_taps}
      : (tensor<4x9x8xf32>, tensor<12x6x64xf32>) -> (tensor<4x6x64xf32>, tensor<4x9x8xf32>)
    ```
  }];
  let arguments = (ins ConvBERT_Tile<[3]>:$logits, ConvBERT_Tile<[3]>:$v, UnitAttr:$with_taps);
  let results = (outs ConvBERT_Tile<[3]>:$result, Optional<ConvBERT_Tile<[3]>>:$taps);
  let assemblyFormat = "$logits `,` $v attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_AttentionTileOp : ConvBERT_InferredOp<"attention_tile"> {
  let summary = "Attention of a block of query rows of one head to all keys";
  let description = [{
    `s[m,o,i] = sum_c q[m,c] * keys[o,c,i] + bias[o,i]`, `p = softmax over (o,i)`,
    `y[m,c] = sum_{o,i} p[m,o,i] * values[o,i,c]`.

    Keys come in transposed panels of `nr`; the scale is already in them.  `scores` is memory for `s` and `p`: what
    it holds on entry does not matter.

    ```mlir
    %y = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores)
      : (tensor<8x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<8x?x16xf32>)
        -> tensor<8x64xf32>
    ```

    `times` is a factor of the whole head, its part of a head mask.  With `with_probabilities` the second result is `p`,
    that factor included.

    ```mlir
    %y, %p = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores) times(%m) {with_probabilities}
      : (tensor<8x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<8x?x16xf32>, f32)
        -> (tensor<8x64xf32>, tensor<8x?x16xf32>)
    ```
  }];
  let arguments = (ins ConvBERT_Tile<[2]>:$q, ConvBERT_Tile<[3]>:$keys, ConvBERT_Tile<[3]>:$values,
                       ConvBERT_Tile<[2]>:$bias, ConvBERT_Tile<[3]>:$scores, Optional<ConvBERT_Float>:$factor,
                       UnitAttr:$with_probabilities);
  let results = (outs ConvBERT_Tile<[2]>:$result, Optional<ConvBERT_Tile<[3]>>:$probabilities);
  let assemblyFormat = [{
    $q `,` $keys `,` $values `,` $bias `scratch` `(` $scores `)` (`times` `(` $factor^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // CONVBERT_TILE_OPS_TD
