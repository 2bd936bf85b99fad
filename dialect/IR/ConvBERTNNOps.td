//===- ConvBERTNNOps.td - Embeddings, dense layers, norms, heads -*- tablegen -*-===//

#ifndef CONVBERT_NN_OPS_TD
#define CONVBERT_NN_OPS_TD

include "dialect/IR/ConvBERTBase.td"
include "dialect/IR/ConvBERTEnums.td"
include "dialect/IR/ConvBERTInterfaces.td"

//===----------------------------------------------------------------------===//
// Step operations
//===----------------------------------------------------------------------===//

def ConvBERT_DenseOp : ConvBERT_SequenceOp<"dense", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Dense layer on the feature axis, optionally with an activation and a multiplier";
  let description = [{
    `y = act(x W^T + b) * multiplier` for `layout = out_in` (`W` is `Co x Ci`, as in PyTorch files) and
    `act(x W + b) * multiplier` for `in_out`.  Activation and multiplier are epilogues made by
    `convbert-fuse-epilogues`.

    ```mlir
    %y = convbert.dense %x, %w, %b {activation = #convbert.activation<gelu>}
      : (tensor<?x?x768xf32>, tensor<3072x768xf32>, tensor<3072xf32>) -> tensor<?x?x3072xf32>
    ```
  }];
  let arguments = (ins
    ConvBERT_Activation:$x, ConvBERT_Matrix:$weight, Optional<ConvBERT_Vector>:$bias,
    Optional<ConvBERT_Activation>:$multiplier,
    DefaultValuedAttr<ConvBERT_WeightLayoutAttr, "::mlir::convbert::WeightLayout::OutIn">:$layout,
    DefaultValuedAttr<ConvBERT_ActivationAttr, "::mlir::convbert::ActivationKind::Identity">:$activation);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? (`times` $multiplier^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Input and output features of the weight.
    int64_t getInFeatures();
    int64_t getOutFeatures();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def ConvBERT_GroupedDenseOp : ConvBERT_SequenceOp<"grouped_dense", [
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Block-diagonal dense layer";
  let description = [{
    Features are split into `G` contiguous blocks; block `g` of the input meets only block `g` of the output:
    `y_g = act(x_g W[g] + b_g)` with `W` of shape `G x Ci/G x Co/G`.

    ```mlir
    %y = convbert.grouped_dense %x, %w, %b
      : (tensor<?x?x384xf32>, tensor<2x192x768xf32>, tensor<1536xf32>) -> tensor<?x?x1536xf32>
    ```
  }];
  let arguments = (ins
    ConvBERT_Activation:$x, ConvBERT_Weight<[3]>:$weight, Optional<ConvBERT_Vector>:$bias,
    DefaultValuedAttr<ConvBERT_ActivationAttr, "::mlir::convbert::ActivationKind::Identity">:$activation);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_ActivationOp : ConvBERT_Op<"activation", [
    SameOperandsAndResultType, ConvBERT_ReifyInterface, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Elementwise activation";
  let description = [{
    All functions without parameters that Hugging Face's configurations may name; `dialect/Spec.md` has the formulas.

    ```mlir
    %y = convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x?x3072xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$x, ConvBERT_ActivationAttr:$kind);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = ConvBERT_ReifyShapes.definition;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConvBERT_LayerNormOp : ConvBERT_SequenceOp<"layer_norm", [DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Layer normalisation of a sum";
  let description = [{
    `y = gamma * (s - mean) / sqrt(var + eps) + beta` over the feature axis, `s = x + residual`; the variance divides by
    the width, and `eps` stands inside the root.

    ```mlir
    %y = convbert.layer_norm %x residual(%r), %gamma, %beta {eps = 1.0e-12 : f64}
      : (tensor<?x?x768xf32>, tensor<?x?x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$x, Optional<ConvBERT_Activation>:$residual, ConvBERT_Vector:$gamma,
                       ConvBERT_Vector:$beta, F64Attr:$eps);
  let results = (outs ConvBERT_Activation:$result);
  let assemblyFormat = [{
    $x (`residual` `(` $residual^ `)`)? `,` $gamma `,` $beta attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ConvBERT_PoolOp : ConvBERT_SequenceOp<"pool", [DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "One vector for a sequence";
  let description = [{
    The first token, the last one (of all `T`, padded or not), or the mean over all `T`.

    ```mlir
    %y = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x768xf32>) -> tensor<?x768xf32>
    ```

    With a mask the mean is that of the tokens that it has.

    ```mlir
    %y = convbert.pool %x mask(%m) {kind = #convbert.pool<mean>}
      : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, Optional<ConvBERT_TokenMask>:$mask, ConvBERT_PoolAttr:$kind);
  let results = (outs ConvBERT_Pooled:$result);
  let assemblyFormat = "$x (`mask` `(` $mask^ `)`)? attr-dict `:` functional-type(operands, results)";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::convbert::PoolKind":$kind), [{
      build($_builder, $_state, x, /*mask=*/::mlir::Value(), kind);
    }]>
  ];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Block operations
//===----------------------------------------------------------------------===//

def ConvBERT_EmbeddingsOp : ConvBERT_SequenceOp<"embeddings", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>,
    DeclareOpInterfaceMethods<ConvBERT_CostOpInterface, ["byteCount"]>],
    // An id outside its table reads what is not there, so this must not run where the program would not run it.
    [NoMemoryEffect]> {
  let summary = "Word, position and type embeddings, layer norm, optional projection";
  let description = [{
    `e = LN(word[id] + position[p] + type[tt])`, then, where the embedding is not as wide as the model,
    `e W^T + b`.

    ```mlir
    %x = convbert.embeddings %ids, %types, %positions tables(%word, %position, %type) norm(%gamma, %beta)
           {eps = 1.0e-12 : f64}
      : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<30522x768xf32>, tensor<512x768xf32>,
         tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    ```

    Vectors may come in place of ids, and no table of words with them.

    ```mlir
    %x = convbert.embeddings %vectors, %types, %positions tables(%position, %type) norm(%gamma, %beta)
           {eps = 1.0e-12 : f64}
      : (tensor<?x?x768xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<512x768xf32>, tensor<2x768xf32>,
         tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins
    ConvBERT_IdsOrVectors:$ids, ConvBERT_Ids:$token_types, ConvBERT_Ids:$position_ids,
    Optional<ConvBERT_Matrix>:$word, ConvBERT_Matrix:$position, ConvBERT_Matrix:$type_table,
    ConvBERT_Vector:$gamma, ConvBERT_Vector:$beta,
    Optional<ConvBERT_Matrix>:$projection, Optional<ConvBERT_Vector>:$projection_bias, F64Attr:$eps);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = [{
    $ids `,` $token_types `,` $position_ids
    `tables` `(` custom<Tables>($word, $position, $type_table) `)` `norm` `(` $gamma `,` $beta `)`
    (`project` `(` $projection^ `,` $projection_bias `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The gather with its norm is one step; only the projection comes off.
    bool isDecomposable() { return static_cast<bool>(getProjection()); }
  }];
  let hasVerifier = 1;
}

def ConvBERT_FeedForwardOp : ConvBERT_SequenceOp<"feed_forward", [
    DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]> {
  let summary = "Two dense layers with an activation between";
  let description = [{
    Weights of rank 2 are `out_in` (`I x D`, `D x I`); weights of rank 3 are grouped (`G x D/G x I/G`, `G x I/G x D/G`).

    ```mlir
    %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
      : (tensor<?x?x768xf32>, tensor<3072x768xf32>, tensor<3072xf32>, tensor<768x3072xf32>, tensor<768xf32>)
        -> tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Weight<[2, 3]>:$w1, ConvBERT_Vector:$b1,
                       ConvBERT_Weight<[2, 3]>:$w2, ConvBERT_Vector:$b2, ConvBERT_ActivationAttr:$activation);
  let results = (outs ConvBERT_Sequence:$result);
  let assemblyFormat = "$x `,` $w1 `,` $b1 `,` $w2 `,` $b2 attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class ConvBERT_HeadOp<string mnemonic> : ConvBERT_SequenceOp<mnemonic, [
    DeclareOpInterfaceMethods<ConvBERT_DecomposeOpInterface>, DeclareOpInterfaceMethods<ConvBERT_CostOpInterface>]>;

def ConvBERT_LMHeadOp : ConvBERT_HeadOp<"lm_head"> {
  let summary = "Masked-language-model head";
  let description = [{
    `logits = LN(gelu(x W^T + b)) Word^T + bias`; the activation is exact GELU whatever the encoder uses.

    ```mlir
    %logits = convbert.lm_head %x, %w, %b, %gamma, %beta, %word, %bias {eps = 1.0e-12 : f64}
      : (tensor<?x?x256xf32>, tensor<128x256xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>,
         tensor<30522x128xf32>, tensor<30522xf32>) -> tensor<?x?x30522xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, ConvBERT_Vector:$bias, ConvBERT_Vector:$gamma,
                       ConvBERT_Vector:$beta, ConvBERT_Matrix:$decoder, ConvBERT_Vector:$decoder_bias, F64Attr:$eps);
  let results = (outs ConvBERT_Sequence:$logits);
  let assemblyFormat = [{
    $x `,` $weight `,` $bias `,` $gamma `,` $beta `,` $decoder `,` $decoder_bias attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def ConvBERT_ClassifierHeadOp : ConvBERT_HeadOp<"classifier_head"> {
  let summary = "Sequence-classification head";
  let description = [{
    `logits = act(x[:,0] W1^T + b1) W2^T + b2`.

    ```mlir
    %logits = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
      : (tensor<?x?x128xf32>, tensor<128x128xf32>, tensor<128xf32>, tensor<20x128xf32>, tensor<20xf32>)
        -> tensor<?x20xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$w1, ConvBERT_Vector:$b1, ConvBERT_Matrix:$w2,
                       ConvBERT_Vector:$b2, ConvBERT_ActivationAttr:$activation);
  let results = (outs ConvBERT_Pooled:$logits);
  let assemblyFormat = "$x `,` $w1 `,` $b1 `,` $w2 `,` $b2 attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_TokenHeadOp : ConvBERT_HeadOp<"token_head"> {
  let summary = "Token-classification head: a dense layer on every token";
  let description = [{
    ```mlir
    %logits = convbert.token_head %x, %w, %b
      : (tensor<?x?x768xf32>, tensor<9x768xf32>, tensor<9xf32>) -> tensor<?x?x9xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, ConvBERT_Vector:$bias);
  let results = (outs ConvBERT_Sequence:$logits);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_SpanHeadOp : ConvBERT_HeadOp<"span_head"> {
  let summary = "Question-answering head: start and end logits";
  let description = [{
    A dense layer to two features; feature 0 is the start logit, feature 1 the end logit.

    ```mlir
    %start, %end = convbert.span_head %x, %w, %b
      : (tensor<?x?x768xf32>, tensor<2x768xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, ConvBERT_Vector:$bias);
  let results = (outs ConvBERT_TokenScores:$start, ConvBERT_TokenScores:$end);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ConvBERT_ChoiceHeadOp : ConvBERT_HeadOp<"choice_head"> {
  let summary = "Multiple-choice head: one logit for a sequence";
  let description = [{
    A dense layer to one feature on the sequence summary.  The batch holds all choices of all questions; the caller
    regards the result as `questions x choices`.

    ```mlir
    %logits = convbert.choice_head %x, %w, %b {summary = #convbert.pool<last>}
      : (tensor<?x?x768xf32>, tensor<1x768xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Sequence:$x, ConvBERT_Matrix:$weight, ConvBERT_Vector:$bias,
                       ConvBERT_PoolAttr:$summary);
  let results = (outs ConvBERT_Pooled:$logits);
  let assemblyFormat = "$x `,` $weight `,` $bias attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // CONVBERT_NN_OPS_TD
