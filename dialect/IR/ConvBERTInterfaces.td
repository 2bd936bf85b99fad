//===- ConvBERTInterfaces.td - Operation interfaces -------------*- tablegen -*-===//

#ifndef CONVBERT_INTERFACES_TD
#define CONVBERT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ConvBERT_DecomposeOpInterface : OpInterface<"DecomposeOpInterface"> {
  let cppNamespace = "::mlir::convbert";
  let description = [{
    A block operation that equals a few step operations.  `convbert-decompose` replaces the operation by what
    `decompose` builds; the values returned stand for its results, one each.
  }];
  let methods = [
    InterfaceMethod<"Builds the step operations before this one and returns the values of its results.",
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose", (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<"Whether there is anything to decompose; false for a form that is one step already.",
      "bool", "isDecomposable", (ins), "", "return true;">
  ];
}

def ConvBERT_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mlir::convbert";
  let description = [{
    What an operation costs.  One multiply-accumulate (MAC) is one multiplication and one addition; only matrix
    products and convolutions are counted, as in the published figures.
  }];
  let methods = [
    InterfaceMethod<"Multiply-accumulates for `batch` sequences of `length` tokens.",
      "int64_t", "macCount", (ins "int64_t":$batch, "int64_t":$length)>
  ];
}

#endif // CONVBERT_INTERFACES_TD
