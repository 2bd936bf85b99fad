//===- ConvBERTEnums.td - Enumerations --------------------------*- tablegen -*-===//

#ifndef CONVBERT_ENUMS_TD
#define CONVBERT_ENUMS_TD

include "dialect/IR/ConvBERTBase.td"
include "mlir/IR/EnumAttr.td"

class ConvBERT_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::convbert";
  let genSpecializedAttr = 0;
}
class ConvBERT_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<ConvBERT_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

/// The distinct elementwise functions without parameters of Hugging Face's `ACT2FN`, SELU, and the hard sigmoid of
/// gates.  Activations.h maps the names of configurations to them: several names are one function.
def ConvBERT_ActivationKind : ConvBERT_Enum<"ActivationKind", "elementwise activation", [
  I32EnumAttrCase<"Identity", 0, "identity">,
  I32EnumAttrCase<"Gelu", 1, "gelu">,          // exact: x/2 (1 + erf(x / sqrt 2))
  I32EnumAttrCase<"GeluNew", 2, "gelu_new">,   // tanh form
  I32EnumAttrCase<"Relu", 3, "relu">,
  I32EnumAttrCase<"Silu", 4, "silu">,
  I32EnumAttrCase<"Tanh", 5, "tanh">,
  I32EnumAttrCase<"Selu", 6, "selu">,
  I32EnumAttrCase<"Sigmoid", 7, "sigmoid">,
  I32EnumAttrCase<"Gelu10", 8, "gelu_10">,     // exact GELU, clipped to [-10, 10]
  I32EnumAttrCase<"QuickGelu", 9, "quick_gelu">,
  I32EnumAttrCase<"Relu2", 10, "relu2">,
  I32EnumAttrCase<"Relu6", 11, "relu6">,
  I32EnumAttrCase<"LeakyRelu", 12, "leaky_relu">,
  I32EnumAttrCase<"HardSwish", 13, "hardswish">,
  I32EnumAttrCase<"Laplace", 14, "laplace">,
  I32EnumAttrCase<"Mish", 15, "mish">,
  I32EnumAttrCase<"SqrtSoftplus", 16, "sqrtsoftplus">,
  I32EnumAttrCase<"HardSigmoid", 17, "hard_sigmoid">
]>;
def ConvBERT_ActivationAttr : ConvBERT_EnumAttr<ConvBERT_ActivationKind, "activation">;

/// Orientation of a weight: as in PyTorch files, or as in the formulas and TensorFlow files.
def ConvBERT_WeightLayout : ConvBERT_Enum<"WeightLayout", "orientation of a weight", [
  I32EnumAttrCase<"OutIn", 0, "out_in">,
  I32EnumAttrCase<"InOut", 1, "in_out">
]>;
def ConvBERT_WeightLayoutAttr : ConvBERT_EnumAttr<ConvBERT_WeightLayout, "layout">;

/// Whether convolution taps are weights already or logits that a softmax over the taps turns into weights.
def ConvBERT_KernelNorm : ConvBERT_Enum<"KernelNorm", "normalisation of convolution taps", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Softmax", 1, "softmax">
]>;
def ConvBERT_KernelNormAttr : ConvBERT_EnumAttr<ConvBERT_KernelNorm, "norm">;

/// What happens to taps that read beyond an end of the sequence: they meet zeros, or the softmax leaves them out.
def ConvBERT_Edge : ConvBERT_Enum<"Edge", "convolution taps at the ends of a sequence", [
  I32EnumAttrCase<"Zero", 0, "zero">,
  I32EnumAttrCase<"Renorm", 1, "renorm">
]>;
def ConvBERT_EdgeAttr : ConvBERT_EnumAttr<ConvBERT_Edge, "edge">;

/// Which channels are a head's, of H heads and R channels each.
def ConvBERT_HeadMap : ConvBERT_Enum<"HeadMap", "channels of a head", [
  I32EnumAttrCase<"Blocked", 0, "blocked">,        // h R ... h R + R - 1
  I32EnumAttrCase<"Interleaved", 1, "interleaved"> // h, h + H, h + 2 H, ...
]>;
def ConvBERT_HeadMapAttr : ConvBERT_EnumAttr<ConvBERT_HeadMap, "head_map">;

/// Which token, or what of all tokens, speaks for a sequence.
def ConvBERT_PoolKind : ConvBERT_Enum<"PoolKind", "sequence summary", [
  I32EnumAttrCase<"First", 0, "first">,
  I32EnumAttrCase<"Last", 1, "last">,
  I32EnumAttrCase<"Mean", 2, "mean">
]>;
def ConvBERT_PoolAttr : ConvBERT_EnumAttr<ConvBERT_PoolKind, "pool">;

/// What `kernel_attention_conv` mixes.
def ConvBERT_Aggregate : ConvBERT_Enum<"Aggregate", "what a convolution with several kernels mixes", [
  I32EnumAttrCase<"Auto", 0, "auto">,
  I32EnumAttrCase<"Kernels", 1, "kernels">,
  I32EnumAttrCase<"Outputs", 2, "outputs">
]>;
def ConvBERT_AggregateAttr : ConvBERT_EnumAttr<ConvBERT_Aggregate, "aggregate">;

#endif // CONVBERT_ENUMS_TD
