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
    products and convolutions are counted, as in the published figures.  Bytes are those of operands and results, each
    read or written once: what an operation alone moves at least.  Counts saturate instead of wrapping.
  }];
  let methods = [
    InterfaceMethod<"Multiply-accumulates for `batch` sequences of `length` tokens.",
      "int64_t", "macCount", (ins "int64_t":$batch, "int64_t":$length)>,
    InterfaceMethod<"Elements of the weights, biases and tables among the operands.",
      "int64_t", "parameterCount", (ins)>,
    InterfaceMethod<"Bytes that are read and written for `batch` sequences of `length` tokens, floats taken for f32.",
      "::mlir::convbert::ByteCount", "byteCount", (ins "int64_t":$batch, "int64_t":$length), "",
      "return ::mlir::convbert::countBytes($_op, batch, length);">
  ];
}

def ConvBERT_HeadedInterface : OpInterface<"HeadedInterface"> {
  let cppNamespace = "::mlir::convbert";
  let description = [{
    An operation with heads that can be removed: which slices of its operands belong to a head, and what is left
    without some of them.  One pass over this interface prunes all kinds of layers.
  }];
  let methods = [
    InterfaceMethod<"Heads of a branch; 0 where the operation has no such branch.",
      "int64_t", "numHeads", (ins "::mlir::convbert::HeadBranch":$branch)>,
    InterfaceMethod<"What of the operands nobody but `head` needs.",
      "::llvm::SmallVector<::mlir::convbert::HeadSlice>", "slicesFor", (ins "::mlir::convbert::Head":$head)>,
    InterfaceMethod<[{
      Builds the operation without `heads` before this one, on slices of the operands, and returns the values of its
      results, one each: equal to those with the heads' outputs zero where the heads are joined again (mixed
      attention), else those with the heads' features left out.  Reports and fails for heads that it does not have and
      where nothing would be left.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "removeHeads",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::convbert::Head>":$heads)>
  ];
}

#endif // CONVBERT_INTERFACES_TD
