//===- RaiseSoftmax.cpp - Recognises a softmax that was taken apart -------===//

#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
/// An operation with one result, seen from its body.
struct Body {
  linalg::LinalgOp op;
  Value yielded;

  static std::optional<Body> get(Value value) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op || op.getNumDpsInits() != 1 || op.getNumLoops() < 2 || !op.hasPureTensorSemantics())
      return std::nullopt;
    return Body{op, op->getRegion(0).front().getTerminator()->getOperand(0)};
  }

  bool isElementwise() {
    return op.getNumLoops() == op.getNumParallelLoops() && op.getIndexingMapsArray().back().isIdentity();
  }

  OpOperand *operand(Value inside) {
    auto argument = dyn_cast<BlockArgument>(inside);
    return argument ? &op->getOpOperand(argument.getArgNumber()) : nullptr;
  }

  /// The tensor behind `inside` if every element is read where the loops stand.
  Value whole(Value inside) {
    OpOperand *found = operand(inside);
    return found && op.getMatchingIndexingMap(found).isIdentity() ? found->get() : Value();
  }

  /// The tensor behind `inside` if it has one element a row: no last axis, or one of extent 1.
  Value row(Value inside) {
    OpOperand *found = operand(inside);
    if (!found)
      return {};
    AffineMap map = op.getMatchingIndexingMap(found), rows = rowMap();
    if (map == rows)
      return found->get();
    SmallVector<AffineExpr> results(rows.getResults());
    results.push_back(getAffineConstantExpr(0, map.getContext()));
    auto expand = found->get().getDefiningOp<tensor::ExpandShapeOp>();
    bool isKept = map == AffineMap::get(op.getNumLoops(), 0, results, map.getContext());
    return isKept && expand && expand.getSrcType().getRank() + 1 == expand.getResultType().getRank() ? expand.getSrc()
                                                                                                     : Value();
  }

  /// The tensor whose last axis is reduced by one operation of the kinds `Combine`; null if this is no such reduction.
  template <typename... Combine> Value reduced() {
    Operation *combine = yielded.getDefiningOp();
    SmallVector<unsigned> axes;
    op.getReductionDims(axes);
    if (!combine || !isa<Combine...>(combine) ||
        axes != SmallVector<unsigned>{static_cast<unsigned>(op.getNumLoops() - 1)} ||
        op.getIndexingMapsArray().back() != rowMap())
      return {};
    Value accumulator = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    if (combine->getOperand(0) == accumulator)
      return whole(combine->getOperand(1));
    return combine->getOperand(1) == accumulator ? whole(combine->getOperand(0)) : Value();
  }

private:
  AffineMap rowMap() {
    return AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext()).getMajorSubMap(op.getNumLoops() - 1);
  }
};
} // namespace

/// True if every element of `value` is minus infinity, or the lowest number, which no maximum notices.
static bool isLowest(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  FloatAttr number;
  DenseElementsAttr all;
  if (matchPattern(value, m_Constant(&all)) && all.isSplat() && isa<FloatType>(all.getElementType()))
    return (all.getSplatValue<APFloat>().isInfinity() || all.getSplatValue<APFloat>().isLargest()) &&
           all.getSplatValue<APFloat>().isNegative();
  return matchPattern(value, m_Constant(&number)) &&
         (number.getValue().isInfinity() || number.getValue().isLargest()) && number.getValue().isNegative();
}

/// `x` of `x - max(x)`, which `inside` of `body` is; null if it is something else.
static Value matchShifted(Body body, Value inside) {
  auto subtract = inside.getDefiningOp<arith::SubFOp>();
  if (!subtract) { // a step of its own
    Value tensor = body.whole(inside);
    std::optional<Body> before = tensor ? Body::get(tensor) : std::nullopt;
    return before && before->isElementwise() && before->yielded.getDefiningOp<arith::SubFOp>()
               ? matchShifted(*before, before->yielded)
               : Value();
  }
  Value x = body.whole(subtract.getLhs()), most = body.row(subtract.getRhs());
  std::optional<Body> maximum = most ? Body::get(most) : std::nullopt;
  bool isMaximum = maximum && x && maximum->reduced<arith::MaximumFOp, arith::MaxNumFOp>() == x;
  return isMaximum && isLowest(maximum->op.getDpsInits()[0]) ? x : Value();
}

Value convbert::matchSoftmax(Value value) {
  if (auto softmax = value.getDefiningOp<linalg::SoftmaxOp>()) {
    int64_t rank = softmax.getInputOperandType().getRank();
    return static_cast<int64_t>(softmax.getDimension()) == rank - 1 ? softmax.getInput() : Value();
  }
  std::optional<Body> quotient = Body::get(value);
  auto divide = quotient ? quotient->yielded.getDefiningOp<arith::DivFOp>() : arith::DivFOp();
  if (!divide || !quotient->isElementwise())
    return {};
  Value numerator = quotient->whole(divide.getLhs()), denominator = quotient->row(divide.getRhs());
  std::optional<Body> exponential = numerator ? Body::get(numerator) : std::nullopt;
  std::optional<Body> total = denominator ? Body::get(denominator) : std::nullopt;
  if (!exponential || !exponential->isElementwise() || !total || total->reduced<arith::AddFOp>() != numerator ||
      !isZeroTensor(total->op.getDpsInits()[0]))
    return {};
  auto exp = exponential->yielded.getDefiningOp<math::ExpOp>();
  return exp ? matchShifted(*exponential, exp.getOperand()) : Value();
}
