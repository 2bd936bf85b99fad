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

#endif // CONVBERT_CONV_OPS_TD
