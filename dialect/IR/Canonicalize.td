//===- Canonicalize.td - Local algebra as rewrite rules ---------*- tablegen -*-===//

#ifndef CONVBERT_CANONICALIZE_TD
#define CONVBERT_CANONICALIZE_TD

include "dialect/IR/ConvBERT.td"
include "mlir/IR/PatternBase.td"

/// Functions that leave alone what they return.
def IsIdempotent : Constraint<CPred<"::llvm::is_contained({::mlir::convbert::ActivationKind::Relu, "
                                    "::mlir::convbert::ActivationKind::Relu6}, "
                                    "::llvm::cast<::mlir::convbert::ActivationKindAttr>($0).getValue())">,
                              "idempotent activation">;
def IsEqual : Constraint<CPred<"$0 == $1">, "equal attributes">;

/// relu(relu(x)) is relu(x).
def ActivationTwice : Pat<(ConvBERT_ActivationOp (ConvBERT_ActivationOp:$inner $x, $first), $second),
                          (replaceWithValue $inner), [(IsIdempotent $first), (IsEqual $first, $second)]>;

/// What is zero already stays zero.
def MaskTwice : Pat<(ConvBERT_MaskTokensOp (ConvBERT_MaskTokensOp:$inner $x, $mask), $mask),
                    (replaceWithValue $inner)>;

#endif // CONVBERT_CANONICALIZE_TD
