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
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "linalg::LinalgDialect", "math::MathDialect",
    "tensor::TensorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
}

/// Floating-point elements of activations and weights.
def ConvBERT_Float : AnyTypeOf<[F16, BF16, F32, F64]>;

// Type constraints.  Labels are those of dialect/Spec.md.

/// No extent is zero: there is no sequence without tokens and no layer without features.
def ConvBERT_NotEmpty : CPred<"!::llvm::is_contained(::llvm::cast<::mlir::ShapedType>($_self).getShape(), 0)">;
/// Dimensions from `first` on are static.
class ConvBERT_StaticFrom<int first>
    : CPred<"!::llvm::is_contained(::llvm::cast<::mlir::ShapedType>($_self).getShape().drop_front(" # first #
            "), ::mlir::ShapedType::kDynamic)">;
/// The last dimension is static.
def ConvBERT_StaticFeatures
    : CPred<"!::mlir::ShapedType::isDynamic(::llvm::cast<::mlir::ShapedType>($_self).getShape().back())">;

class ConvBERT_Tensor<list<Type> elements, list<int> ranks, list<Pred> preds, string what, string properties>
    : ConfinedType<TensorRankOf<elements, ranks>, !listconcat([ConvBERT_NotEmpty], preds),
                   what # " (rank " # !interleave(ranks, " or ") # ", " # properties # ", no empty dimension)">;

// TYPE-C1: an activation, tokens-major `B x T x C` or pooled `B x C`.
class ConvBERT_Features<list<int> ranks, string what>
    : ConvBERT_Tensor<[ConvBERT_Float], ranks, [ConvBERT_StaticFeatures], what, "floating point, static features">;
def ConvBERT_Activation : ConvBERT_Features<[2, 3], "activation">;
def ConvBERT_Sequence : ConvBERT_Features<[3], "activation of a sequence">;
def ConvBERT_Pooled : ConvBERT_Features<[2], "pooled activation">;
// TYPE-C2: convolution taps, `B x T x H x K`.
def ConvBERT_Taps : ConvBERT_Tensor<[ConvBERT_Float], [4], [ConvBERT_StaticFrom<2>], "convolution taps",
                                    "floating point, static heads and taps">;
// TYPE-C8: what attention and convolution look at: probabilities, `B x H x Tq x Tk`, or taps, `B x T x H x K`.
def ConvBERT_Probabilities : ConvBERT_Tensor<[ConvBERT_Float], [4], [], "attention probabilities", "floating point">;
// TYPE-C3: one number a token, `B x T`.
def ConvBERT_TokenScores : ConvBERT_Tensor<[ConvBERT_Float], [2], [], "one number a token", "floating point">;
def ConvBERT_TokenMask : ConvBERT_Tensor<[I1], [2], [], "one bit a token", "i1">;
/// Token ids, token types and positions.
def ConvBERT_Ids : ConvBERT_Tensor<[I32, I64], [2], [], "one integer a token", "i32 or i64">;
/// Rows of a table by their numbers, or the rows themselves.
def ConvBERT_IdsOrVectors : AnyTypeOf<[ConvBERT_Ids, ConvBERT_Sequence]>;
// TYPE-C4: a weight.
class ConvBERT_Weight<list<int> ranks>
    : ConvBERT_Tensor<[ConvBERT_Float], ranks, [HasStaticShapePred], "weight", "floating point, static">;
def ConvBERT_Matrix : ConvBERT_Weight<[2]>;
def ConvBERT_Vector : ConvBERT_Weight<[1]>;
/// One factor a head: 1 keeps it, 0 silences it.  Static like a weight, but a caller may compute it.
def ConvBERT_HeadMask : ConvBERT_Weight<[1]>;
/// The same of any rank: how a target stores weights.
def ConvBERT_Parameter
    : ConfinedType<RankedTensorOf<[ConvBERT_Float], [HasStaticShapePred]>, [ConvBERT_NotEmpty],
                   "parameter (floating point, static, no empty dimension)">;
// TYPE-C5: a block that a kernel works on.
class ConvBERT_Tile<list<int> ranks> : ConvBERT_Tensor<[ConvBERT_Float], ranks, [], "tile", "floating point">;
def ConvBERT_Row : ConvBERT_Tensor<[ConvBERT_Float], [1], [HasStaticShapePred], "row", "floating point, static">;

class ConvBERT_Op<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : Op<ConvBERT_Dialect, mnemonic, !listconcat(effects, traits)>;

/// An operation whose result types follow from its operands and attributes (see ShapeRules.h).
class ConvBERT_InferredOp<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : ConvBERT_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits), effects>;

/// How the dynamic extents of results follow from operand 0, for `tensor.dim` and whoever asks for shapes.
def ConvBERT_ReifyInterface
    : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;
def ConvBERT_ReifyShapes {
  code definition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::convbert::reifyFromFirstOperand(getOperation(), builder, shapes);
    }
  }];
}
/// Declares `reifyResultShapes` for an operation that defines it itself.
class ConvBERT_ReifiedOp<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : ConvBERT_InferredOp<mnemonic, !listconcat([ConvBERT_ReifyInterface], traits), effects>;
/// A step or block operation: operand 0 is `B x T x ...` (`B x ...` if pooled), and so are the results.
class ConvBERT_SequenceOp<string mnemonic, list<Trait> traits = [], list<Trait> effects = [Pure]>
    : ConvBERT_InferredOp<mnemonic, !listconcat([ConvBERT_ReifyInterface], traits), effects> {
  let extraClassDefinition = ConvBERT_ReifyShapes.definition;
}

#endif // CONVBERT_BASE_TD
