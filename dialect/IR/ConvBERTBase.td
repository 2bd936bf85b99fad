//===- ConvBERTBase.td - Dialect definition and base classes ----*- tablegen -*-===//

#ifndef CONVBERT_BASE_TD
#define CONVBERT_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ConvBERT_Dialect : Dialect {
  let name = "convbert";
  let cppNamespace = "::mlir::convbert";
  let summary = "Mixed attention, span-based dynamic convolution and their neighbours";
  let description = [{
    Operations in three levels.  *Block* operations are what a paper's figure shows (`mixed_attention`,
    `feed_forward`, `embeddings`); they decompose into *step* operations of one mathematical step each (`dense`,
    `separable_conv1d`, `self_attention`); *tile* operations are the bodies of outlined kernels and work on one
    register- or cache-sized block.  All work on ranked tensors laid out tokens-major, `B x T x C`, with dynamic
    batch `B` and length `T`.  The constraints are numbered in `dialect/Spec.md`.
  }];
  let dependentDialects = ["arith::ArithDialect", "tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
}

/// Floating-point elements of activations and weights.
def ConvBERT_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
class ConvBERT_FloatTensor<list<int> ranks> : TensorRankOf<[ConvBERT_Float], ranks>;
/// An activation: tokens-major `B x T x C`, or pooled `B x C`.
def ConvBERT_Activation : ConvBERT_FloatTensor<[2, 3]>;
def ConvBERT_Sequence : ConvBERT_FloatTensor<[3]>;
def ConvBERT_Matrix : ConvBERT_FloatTensor<[2]>;
def ConvBERT_Vector : ConvBERT_FloatTensor<[1]>;
/// Token ids, token types and positions: `B x T`.
def ConvBERT_Ids : TensorRankOf<[I32, I64], [2]>;

class ConvBERT_Op<string mnemonic, list<Trait> traits = []>
    : Op<ConvBERT_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// An operation whose result types follow from its operands and attributes (see ShapeRules.h).
class ConvBERT_InferredOp<string mnemonic, list<Trait> traits = []>
    : ConvBERT_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)>;

#endif // CONVBERT_BASE_TD
