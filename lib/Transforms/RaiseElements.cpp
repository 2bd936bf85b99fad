//===- RaiseElements.cpp - Which element of which tensor is read ----------===//

#include "lib/Transforms/RaiseElements.h"
#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

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
  FailureOr<bool> isEqual = ValueBoundsConstraintSet::areEqual(size, {tensor, axis});
  return succeeded(isEqual) && *isEqual;
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

std::optional<SmallVector<int64_t>> ReadElement::coefficients(unsigned axis) const {
  SmallVector<int64_t> result(kLoops);
  if (failed(getCoefficients(map.getResult(axis), 1, result)))
    return std::nullopt;
  return result;
}

/// Axes of one group are digits of one number.
bool ReadElement::readThroughExpand() {
  auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return false;
  SmallVector<AffineExpr> index;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    AffineExpr number = map.getResult(group.front());
    for (int64_t axis : ArrayRef(group).drop_front()) {
      int64_t size = expand.getResultType().getDimSize(axis);
      if (ShapedType::isDynamic(size))
        return false;
      number = number * size + map.getResult(axis);
    }
    index.push_back(number);
  }
  return move(expand.getSrc(), index);
}

/// The other way round: the digits of what is a sum of loops.
bool ReadElement::readThroughCollapse() {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return false;
  SmallVector<AffineExpr> index;
  for (auto [axis, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    std::optional<SmallVector<int64_t>> rest = coefficients(axis);
    if (!rest)
      return false;
    SmallVector<AffineExpr> digits;
    for (int64_t part : llvm::reverse(ArrayRef(group).drop_front())) {
      FailureOr<AffineExpr> digit = takeDigit(*rest, collapse.getSrcType().getDimSize(part));
      if (failed(digit))
        return false;
      digits.push_back(*digit);
    }
    digits.push_back(sum(*rest));
    llvm::append_range(index, llvm::reverse(digits));
  }
  return move(collapse.getSrc(), index);
}

bool ReadElement::readThroughCopy(OpBuilder &b) {
  // The axes of a copy tell how many times loops run.
  if (auto copy = value.getDefiningOp<linalg::LinalgOp>(); copy && copy.getNumDpsInits() == 1)
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (OpFoldResult extent = getExtent(b, copy.getDpsInits()[0], axis))
          made[dim.getPosition()] = extent;
  return convbert::readThroughCopy(value, map);
}

bool ReadElement::readThroughTranspose() {
  Value before = value;
  AffineMap moved = map;
  if (!convbert::readThroughCopy(before, moved) || moved.getNumResults() != map.getNumResults() ||
      !llvm::all_of(map.getResults(), [&](AffineExpr expr) { return llvm::is_contained(moved.getResults(), expr); }))
    return false;
  return move(before, moved.getResults());
}

bool ReadElement::move(Value to, ArrayRef<AffineExpr> index) {
  value = to;
  map = AffineMap::get(kLoops, 0, index, map.getContext());
  return true;
}

AffineExpr ReadElement::sum(ArrayRef<int64_t> coefficients) const {
  AffineExpr result = getAffineConstantExpr(0, map.getContext());
  for (auto [i, coefficient] : llvm::enumerate(coefficients))
    result = result + getAffineDimExpr(i, map.getContext()) * coefficient;
  return result;
}

/// The last digit of a number to the base `size`; leaves the others.
FailureOr<AffineExpr> ReadElement::takeDigit(SmallVector<int64_t> &coefficients, int64_t size) const {
  if (size < 1) // unknown, or an empty tensor
    return failure();
  SmallVector<int64_t> digit(kLoops);
  int64_t most = 0;
  for (unsigned i = 0; i < kLoops; ++i)
    if (coefficients[i] % size == 0) {
      coefficients[i] /= size;
    } else {
      if (ShapedType::isDynamic(extents[i]) || coefficients[i] < 0)
        return failure();
      digit[i] = std::exchange(coefficients[i], 0);
      most += digit[i] * (extents[i] - 1);
    }
  if (most >= size)
    return failure();
  return sum(digit);
}
