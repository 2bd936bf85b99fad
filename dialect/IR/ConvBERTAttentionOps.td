//===- ConvBERTAttentionOps.td - Self-attention and mixed attention -*- tablegen -*-===//

#ifndef CONVBERT_ATTENTION_OPS_TD
#define CONVBERT_ATTENTION_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

//===----------------------------------------------------------------------===//
// Step operations
//===----------------------------------------------------------------------===//

def ConvBERT_AttentionBiasOp : ConvBERT_SequenceOp<"attention_bias", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
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

def ConvBERT_ScaleHeadsOp : ConvBERT_SequenceOp<"scale_heads", [DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "One factor for all features of a head";
  let description = [{
    `y[.., h*R+r] = scales[h] * x[.., h*R+r]`: a head mask, where it is not part of the attention.

    ```mlir
    %y = convbert.scale_heads %x, %scales : (tensor<?x?x384xf32>, tensor<6xf32>) -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$x, ConvBERT_HeadMask:$scales);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = "$x `,` $scales attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_SelfAttentionOp : ConvBERT_ReifiedOp<"self_attention", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Scaled dot-product attention on heads";
  let description = [{
    Head `h` reads channels `h*d .. h*d+d-1`: `softmax(scale * q k^T + bias) v`.  The scale is 1 where it has been
    folded into the key (never into the query of mixed attention, which also feeds the convolution).  Keys and values
    may have a length of their own, that of another sequence.

    ```mlir
    %c = convbert.self_attention %q, %k, %v bias(%bias) {heads = 6 : i64, scale = 0.125 : f64}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?xf32>) -> tensor<?x?x384xf32>
    ```

    A query may be wider than the keys: `query_heads` says which of its slices each head reads.  `head_mask` has one
    factor a head, and with `with_probabilities` the second result holds what the values are mixed with, `B x H x Tq x
    Tk`, that factor included.

    ```mlir
    %c, %p = convbert.self_attention %q, %k, %v head_mask(%mask)
        {heads = 3 : i64, query_heads = array<i64: 0, 2, 5>, scale = 0.125 : f64, with_probabilities}
      : (tensor<?x?x384xf32>, tensor<?x?x192xf32>, tensor<?x?x192xf32>, tensor<3xf32>)
        -> (tensor<?x?x192xf32>, tensor<?x3x?x?xf32>)
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Sequence:$k, ConvBERT_Sequence:$v,
                       Optional<ConvBERT_TokenScores>:$bias, Optional<ConvBERT_HeadMask>:$head_mask, I64Attr:$heads,
                       F64Attr:$scale, OptionalAttr<DenseI64ArrayAttr>:$query_heads, UnitAttr:$with_probabilities);
  let results = (outs ConvBERT_Sequence:$result, Optional<ConvBERT_Probabilities>:$probabilities);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` `(` $bias^ `)`)? (`head_mask` `(` $head_mask^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v, "::mlir::Value":$bias,
                   "::mlir::IntegerAttr":$heads, "::mlir::FloatAttr":$scale), [{
      build($_builder, $_state, q, k, v, bias, /*head_mask=*/::mlir::Value(), heads, scale,
            /*query_heads=*/::mlir::DenseI64ArrayAttr(), /*with_probabilities=*/::mlir::UnitAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    /// Features of a head of the query and the keys.
    int64_t getHeadSize();
    /// The query slice that a head reads: that of `query_heads`, or its own number.
    int64_t getQuerySlice(int64_t head);
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Block operations
//===----------------------------------------------------------------------===//

def ConvBERT_MixedAttentionOp : ConvBERT_ReifiedOp<"mixed_attention", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
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

    Without convolution heads it is the attention of BERT and ELECTRA; `span`, `kernel` and `conv` fall away.  Without
    `conv` beside convolution heads, both branches share the values, as in the paper.

    ```mlir
    %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) output(%wo, %bo)
           {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64}
      : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
         tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
    ```

    A layer with heads removed keeps a wide query, for all of it meets the span-aware key: `query_heads` says which
    slice of the query each attention head reads, `span_query_heads` which one each slice of the span-aware key is
    multiplied with.  `conv_mask` takes tokens away from both convolutions, `head_mask` has one factor a head
    (attention first), and `with_probabilities` and `with_kernels` add the attention's probabilities and the taps to the
    results.

    ```mlir
    %y, %p, %k = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
           kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) conv_mask(%cm) head_mask(%hm)
           {attn_heads = 1 : i64, conv_heads = 1 : i64, head_size = 4 : i64, query_heads = array<i64: 1>,
            with_kernels, with_probabilities}
      : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
         tensor<4xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3xf32>,
         tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xi1>, tensor<2xf32>)
        -> (tensor<?x?x8xf32>, tensor<?x1x?x?xf32>, tensor<?x?x1x3xf32>)
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$wq, ConvBERT_Vector:$bq,
    Optional<ConvBERT_Matrix>:$wk, Optional<ConvBERT_Vector>:$bk, Optional<ConvBERT_Matrix>:$wv,
    Optional<ConvBERT_Vector>:$bv, Optional<ConvBERT_Matrix>:$wd, Optional<ConvBERT_Matrix>:$wp,
    Optional<ConvBERT_Vector>:$bp, Optional<ConvBERT_Matrix>:$wf, Optional<ConvBERT_Vector>:$bf,
    Optional<ConvBERT_Matrix>:$wc, Optional<ConvBERT_Vector>:$bc, ConvBERT_Matrix:$wo, ConvBERT_Vector:$bo,
    Optional<ConvBERT_TokenScores>:$bias, Optional<ConvBERT_TokenMask>:$conv_mask,
    Optional<ConvBERT_HeadMask>:$head_mask, I64Attr:$attn_heads, I64Attr:$conv_heads, I64Attr:$head_size,
    OptionalAttr<DenseI64ArrayAttr>:$query_heads, OptionalAttr<DenseI64ArrayAttr>:$span_query_heads,
    UnitAttr:$with_probabilities, UnitAttr:$with_kernels,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  // Probabilities, then taps, where they are asked for: one variadic, for two would need sizes that no type says.
  let results = (outs ConvBERT_Sequence:$result, Variadic<ConvBERT_Probabilities>:$maps);
  let assemblyFormat = [{
    $x `query` `(` $wq `,` $bq `)` (`key` `(` $wk^ `,` $bk `)`)? (`value` `(` $wv^ `,` $bv `)`)?
    (`span` `(` $wd^ `,` $wp `,` $bp `)`)? (`kernel` `(` $wf^ `,` $bf `)`)? (`conv` `(` $wc^ `,` $bc `)`)?
    `output` `(` $wo `,` $bo `)` (`bias` `(` $bias^ `)`)? (`conv_mask` `(` $conv_mask^ `)`)?
    (`head_mask` `(` $head_mask^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    // Both branches: what a checkpoint holds.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$wq, "::mlir::Value":$bq, "::mlir::Value":$wk,
                   "::mlir::Value":$bk, "::mlir::Value":$wv, "::mlir::Value":$bv, "::mlir::Value":$wd,
                   "::mlir::Value":$wp, "::mlir::Value":$bp, "::mlir::Value":$wf, "::mlir::Value":$bf,
                   "::mlir::Value":$wc, "::mlir::Value":$bc, "::mlir::Value":$wo, "::mlir::Value":$bo,
                   "::mlir::Value":$bias, "int64_t":$attnHeads, "int64_t":$convHeads, "int64_t":$headSize,
                   CArg<"::mlir::Value", "{}">:$headMask, CArg<"bool", "false">:$withProbabilities,
                   CArg<"bool", "false">:$withKernels), [{
      auto flag = [&](bool isSet) { return isSet ? $_builder.getUnitAttr() : ::mlir::UnitAttr(); };
      build($_builder, $_state, x, wq, bq, wk, bk, wv, bv, wd, wp, bp, wf, bf, wc, bc, wo, bo, bias,
            /*conv_mask=*/::mlir::Value(), headMask, $_builder.getI64IntegerAttr(attnHeads),
            $_builder.getI64IntegerAttr(convHeads), $_builder.getI64IntegerAttr(headSize),
            /*query_heads=*/::mlir::DenseI64ArrayAttr(), /*span_query_heads=*/::mlir::DenseI64ArrayAttr(),
            flag(withProbabilities), flag(withKernels), ::mlir::convbert::WeightLayoutAttr::get($_builder.getContext(), ::mlir::convbert::WeightLayout::OutIn));
    }]>
  ];
  let extraClassDeclaration = [{
    /// Taps of both convolutions; 0 without convolution heads.
    int64_t getTaps();
    /// The query slice that an attention head reads: that of `query_heads`, or its own number.
    int64_t getQuerySlice(int64_t head);
    /// True if the convolution reads the attention's values.
    bool sharesValues() { return !getWc() && getWd(); }
    /// The further results, or null.
    ::mlir::Value getProbabilities() { return getWithProbabilities() ? getMaps().front() : ::mlir::Value(); }
    ::mlir::Value getKernels() { return getWithKernels() ? getMaps().back() : ::mlir::Value(); }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // CONVBERT_ATTENTION_OPS_TD
