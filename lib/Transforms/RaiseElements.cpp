//===- RaiseElements.cpp - Which element of which tensor is read ----------===//

#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::convbert;

bool convbert::isZeroTensor(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.value(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

LogicalResult convbert::getCoefficients(AffineExpr expr, int64_t factor, MutableArrayRef<int64_t> coefficients) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return success(constant.getValue() == 0);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(getCoefficients(binary.getLHS(), factor, coefficients)) &&
                   succeeded(getCoefficients(binary.getRHS(), factor, coefficients)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return getCoefficients(binary.getLHS(), factor * constant.getValue(), coefficients);
}

/// The number that `value` is in a body with the loops of `op`; null if it is no sum of multiples of loops.
static AffineExpr getIndex(Value value, MLIRContext *context) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, context);
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return getIndex(op->getOperand(0), context);
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return {};
  AffineExpr left = getIndex(op->getOperand(0), context), right = getIndex(op->getOperand(1), context);
  bool isProduct = isa<arith::MulIOp>(op);
  if (!left || !right || (isProduct && !isa<AffineConstantExpr>(left) && !isa<AffineConstantExpr>(right)))
    return {};
  return isProduct ? left * right : left + right;
}

bool convbert::readThroughCopy(Value &value, AffineMap &map) {
  auto copy = value.getDefiningOp<linalg::LinalgOp>();
  if (!copy || copy.getNumDpsInits() != 1 || copy.getNumLoops() != copy.getNumParallelLoops())
    return false;
  AffineMap written = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  if (!written.isPermutation())
    return false;
  AffineMap loops = inversePermutation(written).compose(map);
  Value yielded = copy->getRegion(0).front().getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(yielded)) {
    OpOperand &read = copy->getOpOperand(argument.getArgNumber());
    if (argument.getOwner()->getParentOp() != copy || !copy.isDpsInput(&read) ||
        !isa<RankedTensorType>(read.get().getType()))
      return false;
    map = copy.getMatchingIndexingMap(&read).compose(loops);
    value = read.get();
    return true;
  }
  // A gather, whose indices are made from those of the loops.
  auto extract = yielded.getDefiningOp<tensor::ExtractOp>();
  if (!extract || copy->isAncestor(extract.getTensor().getParentRegion()->getParentOp()))
    return false;
  SmallVector<AffineExpr> indices;
  for (Value index : extract.getIndices()) {
    indices.push_back(getIndex(index, value.getContext()));
    if (!indices.back())
      return false;
  }
  map = AffineMap::get(copy.getNumLoops(), 0, indices, value.getContext()).compose(loops);
  value = extract.getTensor();
  return true;
}

void convbert::peelPadding(Value &x, unsigned axis, int64_t &low, int64_t &high) {
  auto pad = x.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue() || !matchPattern(pad.getConstantPaddingValue(), m_AnyZeroFloat()))
    return;
  for (auto [i, before, after] : llvm::enumerate(pad.getStaticLow(), pad.getStaticHigh()))
    if (i == axis ? ShapedType::isDynamic(before) || ShapedType::isDynamic(after) : before != 0 || after != 0)
      return;
  low = pad.getStaticLow()[axis];
  high = pad.getStaticHigh()[axis];
  x = pad.getSource();
}

OpFoldResult convbert::getExtent(OpBuilder &b, Value init, int64_t axis) {
  auto type = cast<RankedTensorType>(init.getType());
  if (!type.isDynamicDim(axis))
    return b.getIndexAttr(type.getDimSize(axis));
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.output();
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[axis];
  return {};
}

bool convbert::isExtentOf(OpFoldResult size, Value tensor, int64_t axis) {
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (!dim || dim.getConstantIndex() != axis)
    return false;
  if (dim.getSource() == tensor)
    return true;
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  return pad && pad.getStaticLow()[axis] == 0 && pad.getStaticHigh()[axis] == 0 &&
         isExtentOf(size, pad.getSource(), axis);
}

Value convbert::arrange(OpBuilder &b, Location loc, Value value, ArrayRef<unsigned> have, ArrayRef<unsigned> want) {
  if (have == want)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> permutation;
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim : want) {
    permutation.push_back(llvm::find(have, dim) - have.begin());
    sizes.push_back(tensor::getMixedSize(b, loc, value, permutation.back()));
  }
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, loc, value, empty, permutation)->getResult(0);
}
