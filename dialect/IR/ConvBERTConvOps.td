//===- ConvBERTConvOps.td - Convolutions over tokens ------------*- tablegen -*-===//

#ifndef CONVBERT_CONV_OPS_TD
#define CONVBERT_CONV_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

def ConvBERT_MaskTokensOp : ConvBERT_SequenceOp<"mask_tokens", [DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Tokens outside a mask become zero";
  let description = [{
    `y[b,t,c] = mask[b,t] ? x[b,t,c] : 0`, whatever a masked token holds.  A convolution of the result reads masked
    tokens as if they lay outside the sequence.

    ```mlir
    %y = convbert.mask_tokens %x, %mask : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_TokenMask:$mask);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $mask attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_DepthwiseConv1DOp : ConvBERT_SequenceOp<"depthwise_conv1d", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "One filter a channel over tokens";
  let description = [{
    `y[b,t,c] = sum_j w[c,j] x[b, t + j - low, c]` with zeros outside the sequence (cross-correlation, no flip).
    Weights are `C x K` (`out_in`) or `K x C` (`in_out`); `pads = [low, high]` with `low + high = K - 1`.

    ```mlir
    %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 4, 4>}
      : (tensor<?x?x768xf32>, tensor<768x9xf32>) -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "int64_t getTaps();";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ConvBERT_SeparableConv1DOp : ConvBERT_SequenceOp<"separable_conv1d", [
    DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Depthwise convolution, then a dense layer";
  let description = [{
    The span-aware key of ConvBERT.  The only bias comes after the pointwise step.

    ```mlir
    %s = convbert.separable_conv1d %x, %wd, %wp, %bp {pads = array<i64: 4, 4>}
      : (tensor<?x?x768xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$depthwise, ConvBERT_Matrix:$pointwise,
    Optional<ConvBERT_Vector>:$bias, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `,` $depthwise `,` $pointwise (`,` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
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
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    Optional<ConvBERT_Sequence>:$span_key, I64Attr:$heads, ConvBERT_KernelNormAttr:$normalize,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Taps:$result);
  let assemblyFormat = [{
    $q `,` $weight (`,` $bias^)? (`span` `(` $span_key^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = "int64_t getTaps();";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_ApplyKernelOp : ConvBERT_SequenceOp<"apply_kernel", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Convolution whose taps differ from token to token";
  let description = [{
    `y[b,t,h*R+r] = sum_k taps[b,t,h,k] v[b, t + k - low, h*R+r]`, zeros outside the sequence, taps not renormalised at
    its ends.  With `normalize = softmax` the operand holds logits and the softmax over `k` is part of the operation.

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
  }];
  let arguments = (ins ConvBERT_Sequence:$v, ConvBERT_Taps:$taps, Optional<ConvBERT_TokenMask>:$mask,
                       DenseI64ArrayAttr:$pads, ConvBERT_KernelNormAttr:$normalize, UnitAttr:$with_taps);
  let results = (outs ConvBERT_Sequence:$result, Optional<ConvBERT_Taps>:$normalized);
  let assemblyFormat = [{
    $v `,` $taps (`mask` `(` $mask^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$v, "::mlir::Value":$taps, "::mlir::DenseI64ArrayAttr":$pads,
                   "::mlir::convbert::KernelNormAttr":$normalize), [{
      build($_builder, $_state, v, taps, /*mask=*/::mlir::Value(), pads, normalize, /*with_taps=*/::mlir::UnitAttr());
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getTapCount();
    bool isDecomposable() { return static_cast<bool>(getMask()); }
  }];
  let useCustomPropertiesEncoding = 1; // Bytecode.cpp: it has changed since version 0
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ConvBERT_SpanDynamicConvOp : ConvBERT_SequenceOp<"span_dynamic_conv", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>, DeclareOpInterfaceMethods<ConvBERT_HeadedInterface>]> {
  let summary = "Span-based dynamic convolution";
  let description = [{
    Taps from the product of query and span-aware key: `apply_kernel(v, dynamic_kernel(q * span_key))`.  `mask` is that
    of `apply_kernel`.

    ```mlir
    %o = convbert.span_dynamic_conv %q, %ks, %v, %wf, %bf {heads = 6 : i64, pads = array<i64: 4, 4>}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>)
        -> tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$q, ConvBERT_Sequence:$span_key, ConvBERT_Sequence:$v, ConvBERT_Matrix:$weight,
    Optional<ConvBERT_Vector>:$bias, Optional<ConvBERT_TokenMask>:$mask, I64Attr:$heads, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $q `,` $span_key `,` $v `,` $weight (`,` $bias^)? (`mask` `(` $mask^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = "int64_t getTaps();";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // CONVBERT_CONV_OPS_TD
