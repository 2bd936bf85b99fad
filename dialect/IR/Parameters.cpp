//===- Parameters.cpp - Operations on parameters alone ----------------------===//

#include "dialect/IR/Parameters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::convbert;

std::optional<SmallVector<double>> convbert::getNumbers(Value weight) {
  DenseFPElementsAttr elements;
  if (!matchPattern(weight, m_Constant(&elements)) || elements.getNumElements() > kMostNumbers)
    return std::nullopt;
  SmallVector<double> numbers;
  for (APFloat value : elements.getValues<APFloat>()) {
    if (!value.isFinite())
      return std::nullopt;
    numbers.push_back(value.convertToDouble());
  }
  return numbers;
}

Value convbert::buildConstant(OpBuilder &b, Location loc, RankedTensorType type, ArrayRef<double> numbers) {
  SmallVector<APFloat> values;
  for (double number : numbers) {
    APFloat &value = values.emplace_back(number);
    bool losesInfo;
    value.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (!value.isFinite())
      return Value();
  }
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}

std::pair<Value, Value> convbert::buildScaleAndShift(OpBuilder &b, BatchNormOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getVariance().getType());
  double eps = op.getEps().convertToDouble();
  auto splat = DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), eps));
  Value sum = arith::AddFOp::create(b, loc, op.getVariance(), arith::ConstantOp::create(b, loc, splat));
  Value scale = arith::DivFOp::create(b, loc, op.getGamma(), math::SqrtOp::create(b, loc, sum));
  Value shift = arith::SubFOp::create(b, loc, op.getBeta(), arith::MulFOp::create(b, loc, op.getMean(), scale));
  return {scale, shift};
}

Value convbert::buildScaledWeight(OpBuilder &b, Location loc, Value weight, int64_t axis, Value scale) {
  auto type = cast<RankedTensorType>(weight.getType());
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<int64_t> others = llvm::to_vector(
      llvm::make_filter_range(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t dim) { return dim != axis; }));
  Value factors = linalg::BroadcastOp::create(b, loc, scale, init, others)->getResult(0);
  return arith::MulFOp::create(b, loc, weight, factors);
}
