//===- RaiseWindow.cpp - Recognises sums over windows of tokens -----------===//

#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::convbert;

/// The dimensions of a map of plain dimensions, each once.
static std::optional<SmallVector<unsigned>> getDims(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> dims;
  for (AffineExpr expr : map.getResults())
    dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  return dims;
}

/// Sorts the dimensions of `sum`, whose operands, dimensions, token and tap are known.
static LogicalResult sortDimensions(WindowSum &sum, Operation *op, PatternRewriter &rewriter) {
  sum.isDynamic = llvm::is_contained(sum.weightDims, sum.token);
  sum.batch = sum.outDims.front();
  auto isIn = [](ArrayRef<unsigned> dims, unsigned dim) { return llvm::is_contained(dims, dim); };
  if (sum.batch == sum.token || !isIn(sum.xDims, sum.batch) || isIn(sum.weightDims, sum.batch) != sum.isDynamic)
    return rewriter.notifyMatchFailure(op, "has no batch as first axis");
  llvm::SmallSetVector<unsigned, 6> all;
  for (ArrayRef<unsigned> dims : {ArrayRef(sum.xDims), ArrayRef(sum.weightDims), ArrayRef(sum.outDims)})
    all.insert(dims.begin(), dims.end());
  for (unsigned dim : all) {
    if (dim == sum.batch || dim == sum.token || dim == sum.tap)
      continue;
    bool inX = isIn(sum.xDims, dim), inWeight = isIn(sum.weightDims, dim), inOut = isIn(sum.outDims, dim);
    std::optional<unsigned> *role = inX && inWeight && inOut ? &sum.shared
                                    : inX && inOut           ? &sum.kept
                                    : inWeight && inOut      ? &sum.made
                                    : inX && inWeight        ? &sum.summed
                                                             : nullptr;
    if (!role || role->has_value())
      return rewriter.notifyMatchFailure(op, "has axes that no convolution has");
    *role = dim;
  }
  return success();
}

FailureOr<WindowSum> convbert::matchWindowSum(linalg::LinalgOp op, PatternRewriter &rewriter) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "is no contraction of two tensors");
  if (!linalg::detail::isContractionBody(op->getRegion(0).front(), [](Operation *first, Operation *second) {
        return isa<arith::MulFOp>(first) && isa<arith::AddFOp>(second);
      }))
    return rewriter.notifyMatchFailure(op, "does not sum products");
  if (!isZeroTensor(op.getDpsInits()[0]))
    return rewriter.notifyMatchFailure(op, "does not start at zero");
  std::optional<SmallVector<unsigned>> out = getDims(op.getIndexingMapsArray()[2]);
  if (!out || out->size() < 3)
    return rewriter.notifyMatchFailure(op, "has a result that is no tensor of sequences");

  for (unsigned x : {0u, 1u}) {
    WindowSum sum;
    sum.x = op.getDpsInputs()[x];
    sum.weight = op.getDpsInputs()[1 - x];
    sum.start = op.getDpsInits()[0];
    AffineMap map = op.getIndexingMapsArray()[x], weightMap = op.getIndexingMapsArray()[1 - x];
    while (readThroughCopy(sum.x, map))
      ;
    std::optional<SmallVector<unsigned>> weightDims = getDims(weightMap);
    std::optional<unsigned> axis;
    bool isWindow = weightDims.has_value();
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      SmallVector<int64_t> coefficients(op.getNumLoops());
      isWindow &= succeeded(getCoefficients(expr, 1, coefficients));
      SmallVector<unsigned> used;
      for (auto [dim, coefficient] : llvm::enumerate(coefficients))
        if (coefficient != 0)
          used.push_back(dim);
      if (used.size() == 1 && coefficients[used[0]] == 1) {
        sum.xDims.push_back(used[0]);
        continue;
      }
      // One loop moves the window, the other goes through it.
      isWindow &= used.size() == 2 && !axis && llvm::is_contained(*out, used[0]) != llvm::is_contained(*out, used[1]);
      if (!isWindow)
        break;
      sum.token = llvm::is_contained(*out, used[0]) ? used[0] : used[1];
      sum.tap = sum.token == used[0] ? used[1] : used[0];
      sum.stride = coefficients[sum.token];
      sum.dilation = coefficients[sum.tap];
      sum.xDims.push_back(sum.token);
      axis = i;
    }
    if (!isWindow || !axis || sum.stride < 1 || sum.dilation < 1)
      continue;
    sum.weightDims = *weightDims;
    sum.outDims = *out;
    if (!llvm::is_contained(sum.weightDims, sum.tap) || failed(sortDimensions(sum, op, rewriter)))
      continue;
    peelPadding(sum.x, *axis, sum.low, sum.high);
    return sum;
  }
  return rewriter.notifyMatchFailure(op, "reads no window of tokens");
}

namespace {
/// `accumulator + x * weight`, element by element.
struct Product {
  Value accumulator, x, weight;
  AffineMap weightMap;
};
} // namespace

static std::optional<Product> matchProduct(linalg::LinalgOp op) {
  if (!op || !isa<linalg::GenericOp>(op) || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumLoops() != op.getNumParallelLoops())
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || llvm::range_size(body.without_terminator()) != 2)
    return std::nullopt;
  auto multiply = add.getRhs().getDefiningOp<arith::MulFOp>();
  Value accumulator = add.getLhs();
  if (!multiply) {
    multiply = add.getLhs().getDefiningOp<arith::MulFOp>();
    accumulator = add.getRhs();
  }
  if (!multiply)
    return std::nullopt;
  auto operand = [&](Value inside) -> OpOperand * {
    auto argument = dyn_cast<BlockArgument>(inside);
    return argument ? &op->getOpOperand(argument.getArgNumber()) : nullptr;
  };
  OpOperand *sum = operand(accumulator), *left = operand(multiply.getLhs()), *right = operand(multiply.getRhs());
  if (!sum || !left || !right || !op.getMatchingIndexingMap(sum).isIdentity())
    return std::nullopt;
  if (!op.getMatchingIndexingMap(left).isIdentity())
    std::swap(left, right);
  if (!op.getMatchingIndexingMap(left).isIdentity() || !op.getMatchingIndexingMap(right).isProjectedPermutation())
    return std::nullopt;
  return Product{sum->get(), left->get(), right->get(), op.getMatchingIndexingMap(right)};
}

/// The one axis along which `slice` takes a part of its source, at a known place; all of the others.
static std::optional<std::pair<unsigned, int64_t>> getSlicedAxis(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  std::optional<std::pair<unsigned, int64_t>> found;
  for (unsigned i = 0; i < source.getRank(); ++i) {
    std::optional<int64_t> offset = getConstantIntValue(slice.getMixedOffsets()[i]);
    OpFoldResult size = slice.getMixedSizes()[i];
    if (!offset || !isConstantIntValue(slice.getMixedStrides()[i], 1))
      return std::nullopt;
    if (*offset == 0 && !source.isDynamicDim(i) && isConstantIntValue(size, source.getDimSize(i)))
      continue;
    if (*offset == 0 && source.isDynamicDim(i) && isExtentOf(size, slice.getSource(), i))
      continue;
    if (found)
      return std::nullopt;
    found = {i, *offset};
  }
  return found;
}

FailureOr<WindowSum> convbert::matchShiftedSums(linalg::LinalgOp op, PatternRewriter &rewriter) {
  std::optional<Product> last = matchProduct(op);
  if (!last)
    return rewriter.notifyMatchFailure(op, "adds no product");
  WindowSum sum;
  std::optional<unsigned> axis, tapAxis;
  llvm::SmallDenseMap<int64_t, int64_t> places; // by tap
  Value accumulator = op->getResult(0);
  while (!isZeroTensor(accumulator)) {
    std::optional<Product> product = matchProduct(accumulator.getDefiningOp<linalg::LinalgOp>());
    if (!product || product->weightMap != last->weightMap)
      return rewriter.notifyMatchFailure(op, "is no chain of products that starts at zero");
    auto x = product->x.getDefiningOp<tensor::ExtractSliceOp>();
    auto weight = product->weight.getDefiningOp<tensor::ExtractSliceOp>();
    if (!x || !weight)
      return rewriter.notifyMatchFailure(op, "multiplies no slices");
    auto from = getSlicedAxis(x), tap = getSlicedAxis(weight);
    if (!from || !tap || (axis && (*axis != from->first || sum.x != x.getSource())) ||
        (tapAxis && (*tapAxis != tap->first || sum.weight != weight.getSource())) ||
        !places.try_emplace(tap->second, from->second).second)
      return rewriter.notifyMatchFailure(op, "multiplies slices of several tensors, or along several axes");
    axis = from->first;
    tapAxis = tap->first;
    sum.x = x.getSource();
    sum.weight = weight.getSource();
    accumulator = product->accumulator;
  }
  sum.start = accumulator;
  int64_t taps = cast<RankedTensorType>(sum.weight.getType()).getDimSize(*tapAxis);
  if (static_cast<int64_t>(places.size()) != taps || !places.contains(0) || taps < 2 || !places.contains(1))
    return rewriter.notifyMatchFailure(op, "does not use every tap once");
  sum.dilation = places[1] - places[0];
  for (auto [tap, place] : places)
    if (sum.dilation < 1 || place != places[0] + tap * sum.dilation || places[0] != 0)
      return rewriter.notifyMatchFailure(op, "has taps at no even distance");
  unsigned loops = op.getNumLoops();
  sum.tap = loops;
  sum.token = *axis;
  for (unsigned i = 0; i < loops; ++i) {
    sum.xDims.push_back(i);
    sum.outDims.push_back(i);
  }
  // The slice has lost the axis of the taps.
  for (AffineExpr expr : last->weightMap.getResults())
    sum.weightDims.push_back(cast<AffineDimExpr>(expr).getPosition());
  if (static_cast<int64_t>(sum.weightDims.size()) + 1 != cast<RankedTensorType>(sum.weight.getType()).getRank())
    return rewriter.notifyMatchFailure(op, "multiplies slices that keep the axis of the taps");
  sum.weightDims.insert(sum.weightDims.begin() + *tapAxis, sum.tap);
  if (loops < 3 || failed(sortDimensions(sum, op, rewriter)))
    return failure();
  peelPadding(sum.x, *axis, sum.low, sum.high);
  return sum;
}
