//===- StepBuilder.cpp - linalg on tokens-major tensors -------------------===//

#include "lib/Conversion/ConvBERTToLinalg/StepBuilder.h"
#include "lib/Conversion/ConvBERTToLinalg/ScalarMath.h"
#include "mlir/IR/AffineExpr.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

Value body::add(OpBuilder &b, Location loc, ValueRange args) { return arith::AddFOp::create(b, loc, args[0], args[1]); }
Value body::multiply(OpBuilder &b, Location loc, ValueRange args) {
  return arith::MulFOp::create(b, loc, args[0], args[1]);
}
Value body::multiplyAdd(OpBuilder &b, Location loc, ValueRange args) {
  return arith::AddFOp::create(b, loc, args[2], arith::MulFOp::create(b, loc, args[0], args[1]));
}
Value body::maximum(OpBuilder &b, Location loc, ValueRange args) {
  return arith::MaxNumFOp::create(b, loc, args[0], args[1]);
}
Value body::first(OpBuilder &, Location, ValueRange args) { return args[0]; }

StepBuilder::StepBuilder(PatternRewriter &rewriter, Operation *op, Type element)
    : rewriter(rewriter), loc(op->getLoc()), context(op->getContext()), element(element),
      compute(element.isF64() ? element : Type(rewriter.getF32Type())) {}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

OpFoldResult StepBuilder::getSize(Value tensor, int64_t dim) const {
  return tensor::getMixedSize(rewriter, loc, tensor, dim);
}

SmallVector<OpFoldResult> StepBuilder::getSizes(Value tensor) const {
  return tensor::getMixedSizes(rewriter, loc, tensor);
}

Value StepBuilder::constant(double value) const {
  return arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(compute, value));
}

Value StepBuilder::empty(Sizes sizes, Type type) const { return tensor::EmptyOp::create(rewriter, loc, sizes, type); }

Value StepBuilder::filled(double value, Sizes sizes) const {
  return linalg::FillOp::create(rewriter, loc, constant(value), empty(sizes, compute)).getResult(0);
}

/// Dimension `axis` of `rank` stands for two.
static SmallVector<ReassociationIndices> splitGroups(int64_t rank, int64_t axis) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0, next = 0; dim < rank; ++dim) {
    groups.push_back({next++});
    if (dim == axis)
      groups.back().push_back(next++);
  }
  return groups;
}

Value StepBuilder::splitAxis(Value tensor, int64_t axis, int64_t parts) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> sizes = getSizes(tensor);
  shape[axis] /= parts;
  sizes[axis] = getIndex(shape[axis]);
  shape.insert(shape.begin() + axis, parts);
  sizes.insert(sizes.begin() + axis, getIndex(parts));
  return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), tensor, splitGroups(type.getRank(), axis),
                                       sizes);
}

Value StepBuilder::splitFeatures(Value tensor, int64_t parts) const {
  return splitAxis(tensor, cast<RankedTensorType>(tensor.getType()).getRank() - 1, parts);
}

Value StepBuilder::joinFeatures(Value tensor) const {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return tensor::CollapseShapeOp::create(rewriter, loc, tensor, splitGroups(rank - 1, rank - 2));
}

Value StepBuilder::padTokens(Value tensor, ArrayRef<int64_t> pads) const {
  if (llvm::all_equal({pads[0], pads[1], int64_t(0)}))
    return tensor;
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  SmallVector<OpFoldResult> low{getIndex(0), getIndex(pads[0]), getIndex(0)};
  SmallVector<OpFoldResult> high{getIndex(0), getIndex(pads[1]), getIndex(0)};
  return tensor::PadOp::create(rewriter, loc, /*resultType=*/Type(), tensor, low, high, zero);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> StepBuilder::dims(unsigned count) const {
  SmallVector<AffineExpr> result(count);
  bindDimsList(context, MutableArrayRef(result));
  return result;
}

/// `value` as a number of type `type`; what is no float stays.
static Value castFloat(OpBuilder &b, Location loc, Value value, Type type) {
  auto from = dyn_cast<FloatType>(value.getType());
  if (!from || from == type)
    return value;
  if (from.getWidth() < cast<FloatType>(type).getWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

Value StepBuilder::generic(ValueRange inputs, Value init, Maps maps, unsigned dimensions, ArrayRef<unsigned> reduced,
                           Body body) const {
  SmallVector<AffineMap> indexing;
  for (ArrayRef<AffineExpr> map : maps)
    indexing.push_back(AffineMap::get(dimensions, 0, map, context));
  SmallVector<utils::IteratorType> iterators(dimensions, utils::IteratorType::parallel);
  for (unsigned dim : reduced)
    iterators[dim] = utils::IteratorType::reduction;
  Type stored = cast<RankedTensorType>(init.getType()).getElementType();
  auto build = [&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Value> values;
    for (Value arg : args)
      values.push_back(castFloat(b, loc, arg, compute));
    linalg::YieldOp::create(b, loc, castFloat(b, loc, body(b, loc, values), stored));
  };
  return linalg::GenericOp::create(rewriter, loc, init.getType(), inputs, init, indexing, iterators, build)
      .getResult(0);
}

Value StepBuilder::elementwise(ValueRange inputs, Maps maps, Sizes sizes, Type type, Body body) const {
  SmallVector<AffineExpr> all = dims(sizes.size());
  SmallVector<ArrayRef<AffineExpr>> indexing(maps);
  indexing.push_back(all);
  return generic(inputs, empty(sizes, type), indexing, sizes.size(), {}, body);
}

Value StepBuilder::update(Value target, ValueRange inputs, Maps maps, Body body) const {
  SmallVector<AffineExpr> all = dims(cast<RankedTensorType>(target.getType()).getRank());
  SmallVector<ArrayRef<AffineExpr>> indexing{all};
  indexing.append(maps.begin(), maps.end());
  indexing.push_back(all);
  // An input besides the init: upstream's fusion of elementwise operations takes it that no body reads its init.
  SmallVector<Value> operands{target};
  operands.append(inputs.begin(), inputs.end());
  return generic(operands, target, indexing, all.size(), {}, body);
}

Value StepBuilder::sumFeatures(Value tensor, ValueRange inputs, Body term) const {
  SmallVector<OpFoldResult> sizes = getSizes(tensor);
  sizes.pop_back();
  SmallVector<AffineExpr> all = dims(sizes.size() + 1);
  ArrayRef<AffineExpr> rows = ArrayRef(all).drop_back();
  SmallVector<Value> operands{tensor};
  operands.append(inputs.begin(), inputs.end());
  SmallVector<ArrayRef<AffineExpr>> maps(operands.size() + 1, rows);
  maps.front() = all;
  unsigned last = sizes.size();
  return generic(operands, filled(0.0, sizes), maps, all.size(), last,
                 [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                   return arith::AddFOp::create(b, loc, args.back(), term(b, loc, args.drop_back()));
                 });
}

Value StepBuilder::dense(Value x, Value weight, Value bias, WeightLayout layout) const {
  bool outFirst = layout == WeightLayout::OutIn;
  SmallVector<OpFoldResult> sizes = getSizes(x);
  unsigned rank = sizes.size();
  sizes.back() = getSize(weight, outFirst ? 0 : 1);
  // The rows, o, i: the order of a matrix product.
  SmallVector<AffineExpr> all = dims(rank + 1), from(ArrayRef(all).drop_back(2));
  AffineExpr o = all[rank - 1], i = all[rank];
  from.push_back(i);
  Value start = bias ? elementwise(bias, {{o}}, sizes, compute, body::first) : filled(0.0, sizes);
  SmallVector<AffineExpr> at = outFirst ? SmallVector<AffineExpr>{o, i} : SmallVector<AffineExpr>{i, o};
  return generic({x, weight}, start, {from, at, ArrayRef(all).drop_back()}, rank + 1, rank, body::multiplyAdd);
}

Value StepBuilder::softmax(Value logits, bool inPlace) const {
  SmallVector<OpFoldResult> sizes = getSizes(logits), rows(ArrayRef(sizes).drop_back());
  SmallVector<AffineExpr> all = dims(sizes.size());
  ArrayRef<AffineExpr> row = ArrayRef(all).drop_back();
  unsigned last = rows.size();
  Value greatest = generic(logits, filled(-std::numeric_limits<double>::infinity(), rows), {all, row}, all.size(), last,
                           body::maximum);
  auto exponential = [](OpBuilder &b, Location loc, ValueRange args) {
    return buildExpOfNonPositive(b, loc, arith::SubFOp::create(b, loc, args[0], args[1]));
  };
  Value weights = inPlace ? update(logits, greatest, {row}, exponential)
                          : elementwise({logits, greatest}, {all, row}, sizes, compute, exponential);
  Value total = sumFeatures(weights, {}, body::first);
  return update(weights, total, {row}, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
    return arith::DivFOp::create(b, loc, args[0], args[1]);
  });
}

Value StepBuilder::convert(Value tensor, Type type) const {
  if (cast<RankedTensorType>(tensor.getType()).getElementType() == type)
    return tensor;
  SmallVector<OpFoldResult> sizes = getSizes(tensor);
  return elementwise(tensor, {dims(sizes.size())}, sizes, type, body::first);
}

void StepBuilder::replace(Operation *op, ValueRange values) const {
  SmallVector<Value> results(values);
  // Operands may know an extent that the operation's type leaves open.
  for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
    if (value.getType() != result.getType())
      value = tensor::CastOp::create(rewriter, loc, result.getType(), value);
  rewriter.replaceOp(op, results);
}
