//===- ConvBERTDynamicOps.td - Lightweight and dynamic convolution -*- tablegen -*-===//
//
// Convolutions whose taps belong to heads of channels: the same for all tokens (lightweight), or made for every token
// (dynamic).  They keep the number of tokens.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DYNAMIC_OPS_TD
#define CONVBERT_DYNAMIC_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

/// Tokens from one tap to the next.
def ConvBERT_Dilation : DefaultValuedAttr<I64Attr, "1">;
def ConvBERT_ZeroEdge : DefaultValuedAttr<ConvBERT_EdgeAttr, "::mlir::convbert::Edge::Zero">;
def ConvBERT_BlockedHeads : DefaultValuedAttr<ConvBERT_HeadMapAttr, "::mlir::convbert::HeadMap::Blocked">;
def ConvBERT_SoftmaxNorm : DefaultValuedAttr<ConvBERT_KernelNormAttr, "::mlir::convbert::KernelNorm::Softmax">;
def ConvBERT_OutInLayout : DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">;

//===----------------------------------------------------------------------===//
// Step operations
//===----------------------------------------------------------------------===//

def ConvBERT_NormalizeTapsOp : ConvBERT_Op<"normalize_taps", [
    SameOperandsAndResultType, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Softmax over the taps of each head";
  let description = [{
    Algebra of parameters: what `light_conv` does to its weights before it uses them, `H x K`.

    ```mlir
    %taps = convbert.normalize_taps %logits : tensor<8x31xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Matrix:$logits);
  let results = (outs ConvBERT_Matrix:$result);
  let assemblyFormat = "$logits attr-dict `:` type($logits)";
  let hasCanonicalizer = 1;
}

def ConvBERT_LightConvOp : ConvBERT_SequenceOp<"light_conv", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Lightweight convolution: the channels of a head share their taps";
  let description = [{
    `y[b,t,c] = sum_k a[h(c),k] x[b, t + k*dilation - low, c] + bias[c]`, `a` being the softmax of the weights, `H x K`,
    over the taps, or the weights.

    ```mlir
    %y = convbert.light_conv %x, %w {pads = array<i64: 30, 0>}
      : (tensor<?x?x512xf32>, tensor<8x31xf32>) -> tensor<?x?x512xf32>
    ```

    With `edge = renorm` the softmax is taken over those taps that read a token of the sequence.  Heads are blocks of
    channels or, `interleaved`, every `H`-th channel.

    ```mlir
    %y = convbert.light_conv %x, %w, %b
           {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>, head_map = #convbert.head_map<interleaved>}
      : (tensor<?x?x512xf32>, tensor<8x3xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    DenseI64ArrayAttr:$pads, ConvBERT_Dilation:$dilation, ConvBERT_SoftmaxNorm:$normalize, ConvBERT_ZeroEdge:$edge,
    ConvBERT_BlockedHeads:$head_map);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    int64_t getTaps();
    /// True if the softmax rests on the weights alone.  Taps of narrow elements are never stored: they would be rounded.
    bool isDecomposable();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_DynamicKernelOp : ConvBERT_SequenceOp<"dynamic_kernel", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Convolution taps for every token and head";
  let description = [{
    A dense layer to `heads * K` features, feature `h*K + k` being tap `k` of head `h`; `normalize = softmax` makes the
    taps of a head sum to one.  With a span-aware key the layer's input is its product with `q`, which is never rounded
    to a type narrower than f32: it is a product of two activations and soon exceeds f16.

    ```mlir
    %k = convbert.dynamic_kernel %q, %w, %b span(%ks) {heads = 6 : i64, normalize = #convbert.norm<softmax>}
      : (tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>, tensor<?x?x384xf32>) -> tensor<?x?x6x9xf32>
    ```

    With `edge = renorm` taps that read beyond an end of the sequence are zero and the others sum to one; `pads` (and
    `dilation`) say which those are.

    ```mlir
    %k = convbert.dynamic_kernel %q, %w {heads = 8 : i64, normalize = #convbert.norm<softmax>,
                                         edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
      : (tensor<?x?x512xf32>, tensor<24x512xf32>) -> tensor<?x?x8x3xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    Optional<ConvBERT_Sequence>:$span_key, I64Attr:$heads, ConvBERT_KernelNormAttr:$normalize,
    ConvBERT_OutInLayout:$layout, ConvBERT_ZeroEdge:$edge, OptionalAttr<DenseI64ArrayAttr>:$pads,
    ConvBERT_Dilation:$dilation);
  let results = (outs ConvBERT_Taps:$result);
  let assemblyFormat = [{
    $q `,` $weight (`,` $bias^)? (`span` `(` $span_key^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$weight, "::mlir::Value":$bias, "::mlir::Value":$span_key,
                   "uint64_t":$heads, "::mlir::convbert::KernelNorm":$normalize,
                   "::mlir::convbert::WeightLayout":$layout), [{
      build($_builder, $_state, q, weight, bias, span_key, heads, normalize, layout, Edge::Zero,
            /*pads=*/::mlir::DenseI64ArrayAttr());
    }]>
  ];
  let extraClassDeclaration = "int64_t getTaps();";
  let useCustomPropertiesEncoding = 1; // BytecodeDynamic.cpp: it has changed since version 2
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_ApplyKernelOp : ConvBERT_SequenceOp<"apply_kernel", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Convolution whose taps differ from token to token";
  let description = [{
    `y[b,t,h*R+r] = sum_k taps[b,t,h,k] v[b, t + k*dilation - low, h*R+r]`, zeros outside the sequence, taps not
    renormalised at its ends.  With `normalize = softmax` the operand holds logits and the softmax over `k` is part of
    the operation.

    ```mlir
    %o = convbert.apply_kernel %v, %taps {pads = array<i64: 4, 4>, normalize = #convbert.norm<none>}
      : (tensor<?x?x384xf32>, tensor<?x?x6x9xf32>) -> tensor<?x?x384xf32>
    ```

    A mask takes tokens of `v` away; decomposition makes it a step of its own.

    ```mlir
    %o = convbert.apply_kernel %v, %taps mask(%m) {pads = array<i64: 2, 0>, normalize = #convbert.norm<softmax>}
      : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>, tensor<?x?xi1>) -> tensor<?x?x6xf32>
    ```

    With `with_taps` the second result holds the softmax, for those who want to look at it.

    ```mlir
    %o, %k = convbert.apply_kernel %v, %l {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>, with_taps}
      : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) -> (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>)
    ```

    `edge = renorm` takes the softmax over the taps that read a token of the sequence; a head may be every `H`-th channel.

    ```mlir
    %o = convbert.apply_kernel %v, %l {pads = array<i64: 2, 2>, dilation = 2 : i64, normalize = #convbert.norm<softmax>,
                                       edge = #convbert.edge<renorm>, head_map = #convbert.head_map<interleaved>}
      : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x6xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$v, ConvBERT_Taps:$taps, Optional<ConvBERT_TokenMask>:$mask,
                       DenseI64ArrayAttr:$pads, ConvBERT_KernelNormAttr:$normalize, UnitAttr:$with_taps,
                       ConvBERT_Dilation:$dilation, ConvBERT_ZeroEdge:$edge, ConvBERT_BlockedHeads:$head_map);
  let results = (outs ConvBERT_Sequence:$result, Optional<ConvBERT_Taps>:$normalized);
  let assemblyFormat = [{
    $v `,` $taps (`mask` `(` $mask^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t getTapCount();
    bool isDecomposable() { return static_cast<bool>(getMask()); }
  }];
  let useCustomPropertiesEncoding = 1; // Bytecode.cpp: it has changed since version 0
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_AddBiasOp : ConvBERT_SequenceOp<"add_bias", [DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "One number added to each channel";
  let description = [{
    `y[..,c] = x[..,c] + bias[c]`, for operations that have no bias of their own.

    ```mlir
    %y = convbert.add_bias %x, %b : (tensor<?x?x512xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$x, ConvBERT_Vector:$bias);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = "$x `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Block operations
//===----------------------------------------------------------------------===//

def ConvBERT_DynamicConvOp : ConvBERT_SequenceOp<"dynamic_conv", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Dynamic convolution: taps generated from the current token";
  let description = [{
    `apply_kernel(x, dynamic_kernel(x, weight, bias))`, heads of `x` and taps of `weight` as in both.

    ```mlir
    %y = convbert.dynamic_conv %x, %wg, %bg {heads = 8 : i64, pads = array<i64: 2, 0>}
      : (tensor<?x?x512xf32>, tensor<24x512xf32>, tensor<24xf32>) -> tensor<?x?x512xf32>
    ```

    The taps may come from another tensor, and a bias may be added to the result.

    ```mlir
    %y = convbert.dynamic_conv %x, %wg query(%q) channel_bias(%cb)
           {heads = 8 : i64, pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
      : (tensor<?x?x512xf32>, tensor<24x256xf32>, tensor<?x?x256xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    Optional<ConvBERT_Sequence>:$query, Optional<ConvBERT_Vector>:$channel_bias, I64Attr:$heads,
    DenseI64ArrayAttr:$pads, ConvBERT_Dilation:$dilation, ConvBERT_SoftmaxNorm:$normalize, ConvBERT_ZeroEdge:$edge,
    ConvBERT_BlockedHeads:$head_map, ConvBERT_OutInLayout:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? (`query` `(` $query^ `)`)? (`channel_bias` `(` $channel_bias^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    int64_t getTaps();
    /// What the taps are generated from.
    ::mlir::Value getGeneratorInput() { return getQuery() ? getQuery() : getX(); }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_SpanDynamicConvOp : ConvBERT_SequenceOp<"span_dynamic_conv", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Span-based dynamic convolution";
  let description = [{
    Taps from the product of query and span-aware key: `apply_kernel(v, dynamic_kernel(q * span_key))`.  `mask`, `edge`,
    `head_map` and `dilation` are those of `apply_kernel`.

    ```mlir
    %o = convbert.span_dynamic_conv %q, %ks, %v, %wf, %bf {heads = 6 : i64, pads = array<i64: 4, 4>}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>)
        -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Sequence:$span_key, ConvBERT_Sequence:$v, ConvBERT_Matrix:$weight,
    Optional<ConvBERT_Vector>:$bias, Optional<ConvBERT_TokenMask>:$mask, I64Attr:$heads, DenseI64ArrayAttr:$pads,
    ConvBERT_OutInLayout:$layout, ConvBERT_Dilation:$dilation, ConvBERT_ZeroEdge:$edge,
    ConvBERT_BlockedHeads:$head_map);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $q `,` $span_key `,` $v `,` $weight (`,` $bias^)? (`mask` `(` $mask^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = "int64_t getTaps();";
  let useCustomPropertiesEncoding = 1; // BytecodeDynamic.cpp: it has changed since version 2
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // CONVBERT_DYNAMIC_OPS_TD
