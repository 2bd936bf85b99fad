//===- ConvBERTGatingOps.td - Gates of channels and branches ----*- tablegen -*-===//
//
// Operations that look at the whole sequence to weigh its channels.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_GATING_OPS_TD
#define CONVBERT_GATING_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

//===----------------------------------------------------------------------===//
// Step operations
//===----------------------------------------------------------------------===//

def ConvBERT_ScaleChannelsOp : ConvBERT_SequenceOp<"scale_channels", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "One factor for each channel of a sequence";
  let description = [{
    `y[b,t,c] = gate[b,c] x[b,t,c]`.

    ```mlir
    %y = convbert.scale_channels %x, %gate : (tensor<?x?x512xf32>, tensor<?x512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Pooled:$gate);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $gate attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_SelectBranchesOp : ConvBERT_SequenceOp<"select_branches", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Sum of branches, weighted by a softmax over the branches";
  let description = [{
    `y[b,t,c] = sum_m a[m,b,c] branches[m][b,t,c]`, `a` being the softmax of the logits over `m`, for each channel.

    ```mlir
    %y = convbert.select_branches %u1, %u2 by(%l1, %l2)
      : (tensor<?x?x512xf32>, tensor<?x?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins Variadic<ConvBERT_Sequence>:$branches, Variadic<ConvBERT_Pooled>:$logits);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$branches `by` `(` $logits `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Block operations
//===----------------------------------------------------------------------===//

def ConvBERT_SqueezeExciteOp : ConvBERT_SequenceOp<"squeeze_excite", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Channels gated by what the whole sequence holds";
  let description = [{
    The mean over the tokens, a dense layer with ReLU, a dense layer with a sigmoid (`sigmoid` or `hard_sigmoid`), one
    factor for each channel: `y[b,t,:] = gate(relu(mean_t(x) W1 + b1) W2 + b2) * x[b,t,:]`.

    ```mlir
    %y = convbert.squeeze_excite %x squeeze(%w1, %b1) excite(%w2, %b2) {gate = #convbert.activation<sigmoid>}
      : (tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<32xf32>, tensor<512x32xf32>, tensor<512xf32>)
        -> tensor<?x?x512xf32>
    ```

    A mask says of which tokens the mean is taken; all are scaled.

    ```mlir
    %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<hard_sigmoid>}
      : (tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<512x32xf32>, tensor<?x?xi1>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$w1, Optional<ConvBERT_Vector>:$b1, ConvBERT_Matrix:$w2,
    Optional<ConvBERT_Vector>:$b2, Optional<ConvBERT_TokenMask>:$mask, ConvBERT_ActivationAttr:$gate,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $x `squeeze` `(` $w1 (`,` $b1^)? `)` `excite` `(` $w2 (`,` $b2^)? `)` (`mask` `(` $mask^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_SelectiveKernelOp : ConvBERT_SequenceOp<"selective_kernel", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Branches with different kernels, weighed against each other for each channel";
  let description = [{
    The fuse and select parts of a selective-kernel unit; the branches' convolutions are operations of their own.
    `s = mean_t(sum_m u_m)`, `z = relu(scale * (s Wz) + shift)`, and `select_branches` of the `u_m` by the logits
    `z A[m]`.  `A` is `M x D x C`; `scale` and `shift` are those of a folded batch norm.

    ```mlir
    %y = convbert.selective_kernel %u1, %u2 squeeze(%wz) scale(%s) shift(%t) select(%a)
      : (tensor<?x?x512xf32>, tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<32xf32>, tensor<32xf32>,
         tensor<2x32x512xf32>) -> tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins Variadic<ConvBERT_Sequence>:$branches, ConvBERT_Matrix:$wz, Optional<ConvBERT_Vector>:$scale,
    Optional<ConvBERT_Vector>:$shift, ConvBERT_Weight<[3]>:$a,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $branches `squeeze` `(` $wz `)` (`scale` `(` $scale^ `)`)? (`shift` `(` $shift^ `)`)? `select` `(` $a `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // CONVBERT_GATING_OPS_TD
