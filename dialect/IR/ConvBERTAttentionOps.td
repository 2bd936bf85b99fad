//===- ConvBERTAttentionOps.td - Self-attention and mixed attention -*- tablegen -*-===//

#ifndef CONVBERT_ATTENTION_OPS_TD
#define CONVBERT_ATTENTION_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

def ConvBERT_AttentionBiasOp : ConvBERT_SequenceOp<"attention_bias"> {
  let summary = "Additive form of a key mask";
  let description = [{
    0 where the mask is set and the lowest finite number elsewhere, so that a sequence with every key masked attends
    uniformly, as in the reference implementation.

    ```mlir
    %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins ConvBERT_TokenMask:$mask);
  let results = (outs ConvBERT_TokenScores:$bias);
  let assemblyFormat = "$mask attr-dict `:` functional-type(operands, results)";
}

def ConvBERT_SelfAttentionOp : ConvBERT_SequenceOp<"self_attention", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Scaled dot-product attention on heads";
  let description = [{
    Head `h` reads channels `h*d .. h*d+d-1`: `softmax(scale * q k^T + bias) v`.  The scale is 1 where it has been
    folded into the key (never into the query of mixed attention, which also feeds the convolution).

    ```mlir
    %c = convbert.self_attention %q, %k, %v bias(%bias) {heads = 6 : i64, scale = 0.125 : f64}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?xf32>) -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Sequence:$k, ConvBERT_Sequence:$v,
                       Optional<ConvBERT_TokenScores>:$bias, I64Attr:$heads, F64Attr:$scale);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ConvBERT_MixedAttentionOp : ConvBERT_SequenceOp<"mixed_attention", [
    DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Self-attention heads beside span-based dynamic convolution heads";
  let description = [{
    From input `x` (`B x T x D`): query, key, value and convolution value by dense layers; the span-aware key by a
    separable convolution; attention heads and convolution heads side by side on the feature axis (attention first);
    then the output dense layer.  The query, unscaled, also feeds the convolution.  No residual and no norm.

    Weights have the orientation `layout`; widths: `A = heads * head_size`.

    ```mlir
    %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
           kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%bias)
           {attn_heads = 6 : i64, conv_heads = 6 : i64, head_size = 64 : i64}
      : (tensor<?x?x768xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<384x768xf32>, tensor<384xf32>,
         tensor<384x768xf32>, tensor<384xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>,
         tensor<54x384xf32>, tensor<54xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<768x768xf32>,
         tensor<768xf32>, tensor<?x?xf32>) -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$wq, ConvBERT_Vector:$bq, ConvBERT_Matrix:$wk,
    ConvBERT_Vector:$bk, ConvBERT_Matrix:$wv, ConvBERT_Vector:$bv, ConvBERT_Matrix:$wd, ConvBERT_Matrix:$wp,
    ConvBERT_Vector:$bp, ConvBERT_Matrix:$wf, ConvBERT_Vector:$bf, ConvBERT_Matrix:$wc, ConvBERT_Vector:$bc,
    ConvBERT_Matrix:$wo, ConvBERT_Vector:$bo, Optional<ConvBERT_TokenScores>:$bias,
    I64Attr:$attn_heads, I64Attr:$conv_heads, I64Attr:$head_size,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `query` `(` $wq `,` $bq `)` `key` `(` $wk `,` $bk `)` `value` `(` $wv `,` $bv `)`
    `span` `(` $wd `,` $wp `,` $bp `)` `kernel` `(` $wf `,` $bf `)` `conv` `(` $wc `,` $bc `)`
    `output` `(` $wo `,` $bo `)` (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = "int64_t getTaps();";
  let hasVerifier = 1;
}

#endif // CONVBERT_ATTENTION_OPS_TD
