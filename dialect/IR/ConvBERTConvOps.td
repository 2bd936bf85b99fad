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

// CONV1D-C1: the weight of all sequences, or one for each; so is the bias.
def ConvBERT_SequenceWeight
    : ConvBERT_Tensor<[ConvBERT_Float], [4], [ConvBERT_StaticFrom<1>], "one weight a sequence",
                      "floating point, static from dimension 1 on">;
def ConvBERT_ConvWeight : AnyTypeOf<[ConvBERT_Weight<[3]>, ConvBERT_SequenceWeight]>;
def ConvBERT_ConvBias : AnyTypeOf<[ConvBERT_Vector, ConvBERT_Pooled]>;

/// A convolution whose result has as many tokens as its window has places.
class ConvBERT_WindowOp<string mnemonic, list<Trait> traits = []>
    : ConvBERT_ReifiedOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>], traits)>;

def ConvBERT_Conv1DOp : ConvBERT_WindowOp<"conv1d"> {
  let summary = "Convolution over tokens, in groups of features";
  let description = [{
    `y[b,t,o] = bias[o] + sum_k sum_i w[o,i,k] x[b, t stride - low + k dilation, i]` with zeros outside the sequence
    (cross-correlation, no flip), `T' = floor((T + low + high - (K - 1) dilation - 1) / stride) + 1` tokens.  Features
    are cut in `groups` contiguous blocks; a block of the result sees only its own block of `x`.  Weights are
    `Co x Ci/G x K` (`out_in`, PyTorch) or `K x Ci/G x Co` (`in_out`, Keras).

    ```mlir
    %y = convbert.conv1d %x, %w, %b {dilation = 2 : i64, groups = 4 : i64, pads = array<i64: 2, 2>}
      : (tensor<?x128x512xf32>, tensor<512x128x3xf32>, tensor<512xf32>) -> tensor<?x128x512xf32>
    ```

    Kernels that differ from sequence to sequence have the batch in front.

    ```mlir
    %y = convbert.conv1d %x, %w, %b {pads = array<i64: 0, 0>, stride = 2 : i64}
      : (tensor<?x?x64xf32>, tensor<?x32x64x3xf32>, tensor<?x32xf32>) -> tensor<?x?x32xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_ConvWeight:$weight, Optional<ConvBERT_ConvBias>:$bias,
    DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$stride, DefaultValuedAttr<I64Attr, "1">:$dilation,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// True if each sequence has a weight of its own.
    bool hasSequenceWeights();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_DepthwiseConv1DOp : ConvBERT_WindowOp<"depthwise_conv1d"> {
  let summary = "One filter a channel over tokens, or several";
  let description = [{
    `y[b,t,c] = bias[c] + sum_j w[c,j] x[b, t stride + j dilation - low, c]` with zeros outside the sequence
    (cross-correlation, no flip), `T'` tokens as in `conv1d`.  Weights are `C x K` (`out_in`) or `K x C` (`in_out`).

    ```mlir
    %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 4, 4>}
      : (tensor<?x?x768xf32>, tensor<768x9xf32>) -> tensor<?x?x768xf32>
    ```

    A weight of `m C` channels has `m` filters a channel: channel `c m + j` of the result is filter `j` of channel `c`.

    ```mlir
    %y = convbert.depthwise_conv1d %x, %w, %b {dilation = 2 : i64, pads = array<i64: 4, 0>, stride = 3 : i64}
      : (tensor<?x?x64xf32>, tensor<128x3xf32>, tensor<128xf32>) -> tensor<?x?x128xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$stride, DefaultValuedAttr<I64Attr, "1">:$dilation,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight, "::mlir::DenseI64ArrayAttr":$pads,
                   "::mlir::convbert::WeightLayoutAttr":$layout), [{
      build($_builder, $_state, x, weight, /*bias=*/::mlir::Value(), pads, /*stride=*/1, /*dilation=*/1,
            layout.getValue());
    }]>
  ];
  let extraClassDeclaration = [{
    int64_t getTaps();
    /// True if token `t` of the result is computed from the tokens around token `t` of `x`: stride 1, and pads that
    /// keep the number of tokens.
    bool keepsTokens();
  }];
  let useCustomPropertiesEncoding = 1; // Bytecode.cpp: it has changed since version 2
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

    The taps of a dilated one lie `dilation` tokens apart.

    ```mlir
    %s = convbert.separable_conv1d %x, %wd, %wp {dilation = 3 : i64, pads = array<i64: 6, 0>}
      : (tensor<?x?x64xf32>, tensor<64x3xf32>, tensor<32x64xf32>) -> tensor<?x?x32xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$depthwise, ConvBERT_Matrix:$pointwise,
    Optional<ConvBERT_Vector>:$bias, DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$dilation,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `,` $depthwise `,` $pointwise (`,` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let useCustomPropertiesEncoding = 1; // Bytecode.cpp: it has changed since version 2
  let hasVerifier = 1;
}

def ConvBERT_BatchNormOp : ConvBERT_SequenceOp<"batch_norm", [
    DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Batch normalisation with the statistics of training";
  let description = [{
    `y = gamma * (x - mean) / sqrt(variance + eps) + beta`, all four a number a feature: inference, where nothing is
    taken from the batch.  Behind a convolution or dense layer it is folded into their weights and bias.

    ```mlir
    %y = convbert.batch_norm %x, %mean, %variance, %gamma, %beta {eps = 1.0e-05 : f64}
      : (tensor<?x?x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>)
        -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Vector:$mean, ConvBERT_Vector:$variance, ConvBERT_Vector:$gamma,
                       ConvBERT_Vector:$beta, F64Attr:$eps);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `,` $mean `,` $variance `,` $gamma `,` $beta attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// What is narrower than f32 is one step: scale and shift would be rounded between the operations on parameters.
    bool isDecomposable();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_SoftmaxOp : ConvBERT_Op<"softmax", [
    SameOperandsAndResultType, ConvBERT_ReifyInterface, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Softmax over features";
  let description = [{
    `y = softmax(x / temperature)` over the last axis.  A high temperature makes the weights alike.

    ```mlir
    %p = convbert.softmax %z {temperature = 3.0e+01 : f64} : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$x, DefaultValuedAttr<F64Attr, "::llvm::APFloat(1.0)">:$temperature);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = ConvBERT_ReifyShapes.definition;
  let hasVerifier = 1;
}

def ConvBERT_WeightedSumOp : ConvBERT_SequenceOp<"weighted_sum", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Sum of blocks of features with weights of the sequence";
  let description = [{
    Features are `N` contiguous blocks of `C`, one for each of the sequence's weights:
    `y[b,t,c] = sum_n weights[b,n] x[b,t,n C + c]`.

    ```mlir
    %y = convbert.weighted_sum %x, %p : (tensor<?x?x2048xf32>, tensor<?x4xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Pooled:$weights);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $weights attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_KernelAttentionConvOp : ConvBERT_WindowOp<"kernel_attention_conv", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>]> {
  let summary = "Convolution with a mix of kernels that the sequence chooses";
  let description = [{
    `p = softmax((relu(s F1^T + b1) F2^T + b2) / temperature)` of the mean token `s` weighs `N` kernels; the result is
    `conv1d(x, sum_n p_n kernels[n], sum_n p_n biases[n])`.  `aggregate` says whether kernels are mixed, or the `N`
    convolutions' outputs, which is the same by linearity; `auto` takes what needs fewer multiplications.

    ```mlir
    %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2, %b2) kernels(%w, %b)
           {pads = array<i64: 1, 1>, temperature = 3.0e+01 : f64}
      : (tensor<?x?x64xf32>, tensor<16x64xf32>, tensor<4x16xf32>, tensor<4xf32>, tensor<4x64x64x3xf32>,
         tensor<4x64xf32>) -> tensor<?x?x64xf32>
    ```
  }];
  let arguments = (ins
    ConvBERT_Sequence:$x, ConvBERT_Matrix:$f1, Optional<ConvBERT_Vector>:$b1, ConvBERT_Matrix:$f2,
    Optional<ConvBERT_Vector>:$b2, ConvBERT_Weight<[4]>:$kernels, Optional<ConvBERT_Matrix>:$biases,
    DenseI64ArrayAttr:$pads, DefaultValuedAttr<I64Attr, "1">:$stride, DefaultValuedAttr<I64Attr, "1">:$dilation,
    DefaultValuedAttr<F64Attr, "::llvm::APFloat(1.0)">:$temperature,
    DefaultValuedAttr<ConvBERT_AggregateAttr, "::mlir::convbert::Aggregate::Auto">:$aggregate,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `squeeze` `(` $f1 (`,` $b1^)? `)` `excite` `(` $f2 (`,` $b2^)? `)` `kernels` `(` $kernels (`,` $biases^)? `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Kernels that are mixed.
    int64_t getKernelCount();
    /// The form that needs fewer multiply-accumulates for `length` tokens, for `auto`; kernels where that is unknown.
    ::mlir::convbert::Aggregate chooseAggregate(int64_t length);
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // CONVBERT_CONV_OPS_TD
