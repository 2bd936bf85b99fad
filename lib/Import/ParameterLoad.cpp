//===- ParameterLoad.cpp - Parameters as the model wants them ---*- C++ -*-===//

#include "lib/Import/ParameterLoad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::convbert {

RankedTensorType getStoredType(const TensorInfo &tensor, MLIRContext *context) {
  Type element = tensor.dtype == "F16"    ? Type(Float16Type::get(context))
                 : tensor.dtype == "BF16" ? Type(BFloat16Type::get(context))
                                          : Type(Float32Type::get(context));
  return RankedTensorType::get(tensor.storedShape(), element);
}

Value loadParameter(OpBuilder &builder, Location loc, const TensorInfo &tensor) {
  MLIRContext *context = builder.getContext();
  RankedTensorType stored = getStoredType(tensor, context);
  Type element = stored.getElementType();
  Value value = ml_program::GlobalLoadConstOp::create(builder, loc, stored, SymbolRefAttr::get(context, tensor.name));
  const StoredLayout &layout = tensor.layout;
  if (!layout.sizes.empty()) {
    // Unit dimensions that the tensor does not have are dropped.
    auto type = RankedTensorType::get(ArrayRef(layout.sizes).take_front(tensor.shape.size()), element);
    SmallVector<OpFoldResult> strides(layout.sizes.size(), builder.getIndexAttr(1));
    value = tensor::ExtractSliceOp::create(builder, loc, type, value, getAsIndexOpFoldResult(context, layout.offsets),
                                           getAsIndexOpFoldResult(context, layout.sizes), strides);
  }
  if (!llvm::equal(layout.permutation, llvm::seq<int64_t>(0, layout.permutation.size()))) {
    Value init = tensor::EmptyOp::create(builder, loc, tensor.shape, element);
    value = linalg::TransposeOp::create(builder, loc, value, init, layout.permutation)->getResult(0);
  }
  if (!element.isF32())
    value = arith::ExtFOp::create(builder, loc, RankedTensorType::get(tensor.shape, builder.getF32Type()), value);
  return value;
}

} // namespace mlir::convbert
