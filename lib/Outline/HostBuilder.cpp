//===- HostBuilder.cpp - Views and calls in host code -----------------------===//

#include "lib/Outline/HostBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::convbert;

Value HostBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
Value HostBuilder::mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
Value HostBuilder::add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }

SmallVector<Value> convbert::arenaOffsets(OpBuilder &b, Location loc, const Footprint &footprint,
                                          ArrayRef<Value> counts) {
  SmallVector<Value> offsets{arith::ConstantIndexOp::create(b, loc, 0)};
  for (auto [size, count] : llvm::zip_equal(footprint, counts)) {
    Value bytes = arith::ConstantIndexOp::create(b, loc, size);
    offsets.push_back(arith::AddIOp::create(b, loc, offsets.back(), arith::MulIOp::create(b, loc, bytes, count)));
  }
  return offsets;
}

Value HostBuilder::base(Value value) { return memoryOf(plan.getView(value).buffer); }

Value HostBuilder::memoryOf(unsigned index) {
  Buffer &buffer = plan.getBuffer(index);
  if (buffer.external)
    return buffer.external;
  Value &base = bases[index];
  if (base)
    return base;
  unsigned arena = getArena(buffer.kind, buffer.length);
  Value rows = context.counts[arena];
  Value offset = arenaOffsets(b, loc, plan.getFootprint(), context.counts)[arena];
  offset = add(offset, mul(constant(buffer.offset), rows));
  Type f32 = b.getF32Type();
  if (buffer.kind == RowKind::Key) {
    Value keys = arith::DivUIOp::create(b, loc, rows, context.batch);
    auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, f32);
    return base = memref::ViewOp::create(b, loc, type, context.workspace, offset, ValueRange{context.batch, keys});
  }
  Type element = buffer.isRounded ? b.getBF16Type() : f32;
  auto type = MemRefType::get({ShapedType::kDynamic, buffer.pitch}, element);
  return base = memref::ViewOp::create(b, loc, type, context.workspace, offset, ValueRange{rows});
}

OpFoldResult HostBuilder::scale(OpFoldResult index, int64_t factor) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return b.getIndexAttr(*number * factor);
  return mul(cast<Value>(index), constant(factor));
}

Value HostBuilder::reinterpret(Value value, OpFoldResult column, ArrayRef<OpFoldResult> sizes,
                               ArrayRef<OpFoldResult> strides) {
  auto found = dense.find(value);
  Value memory = found == dense.end() ? base(value) : found->second.first;
  SmallVector<int64_t> shape, steps;
  SmallVector<Value> ignored;
  dispatchIndexOpFoldResults(sizes, ignored, shape);
  dispatchIndexOpFoldResults(strides, ignored, steps);
  int64_t first = plan.getView(value).column;
  std::optional<int64_t> number = getConstantIntValue(column);
  OpFoldResult offset =
      number ? OpFoldResult(b.getIndexAttr(first + *number)) : add(constant(first), cast<Value>(column));
  auto layout = StridedLayoutAttr::get(b.getContext(), number ? first + *number : ShapedType::kDynamic, steps);
  auto type = MemRefType::get(shape, b.getF32Type(), layout);
  return memref::ReinterpretCastOp::create(b, loc, type, memory, offset, sizes, strides);
}

OpFoldResult HostBuilder::rowStride(Value value, int64_t rows) {
  auto found = dense.find(value);
  if (found == dense.end())
    return b.getIndexAttr(rows * pitch(value));
  return rows == 1 ? found->second.second : mul(constant(rows), found->second.second);
}

Value HostBuilder::isDense(unsigned length) {
  Value rows = loadShape(length, add(context.batch, constant(2)));
  Value all = mul(context.batch, context.longest[length]);
  auto equal = [&](Value x, Value y) -> Value { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y); };
  return arith::AndIOp::create(b, loc, equal(rows, all), equal(rows, context.counts[getArena(RowKind::Token, length)]));
}

void HostBuilder::setDense(Value value, Value bytes) {
  auto flat = MemRefType::get({ShapedType::kDynamic}, b.getF32Type());
  int64_t width = plan.getView(value).width;
  Value rows = count(value), condition = isDense(getLength(value)), zero = constant(0);
  Value own = base(value);
  auto view = [&](Value memory, int64_t step) -> Value {
    SmallVector<OpFoldResult> sizes{mul(rows, constant(step))}, strides{b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, loc, flat, memory, b.getIndexAttr(0), sizes, strides);
  };
  Value theirs = memref::ViewOp::create(b, loc, flat, bytes, zero, ValueRange{mul(rows, constant(width))});
  Value memory = arith::SelectOp::create(b, loc, condition, theirs, view(own, pitch(value)));
  Value step = arith::SelectOp::create(b, loc, condition, constant(width), constant(pitch(value)));
  dense[value] = {memory, step};
}

Value HostBuilder::rows(Value value, int64_t width, OpFoldResult column) {
  return reinterpret(value, column, {count(value), b.getIndexAttr(width)}, {rowStride(value), b.getIndexAttr(1)});
}

Value HostBuilder::tilesIn(Value value, OpFoldResult column, int64_t depth) {
  Value tileCount = arith::DivUIOp::create(b, loc, count(value), constant(tiles.rows));
  return reinterpret(value, column, {tileCount, b.getIndexAttr(tiles.rows), b.getIndexAttr(depth)},
                     {rowStride(value, tiles.rows), rowStride(value), b.getIndexAttr(1)});
}

Value HostBuilder::rounded(Value value) { return memoryOf(plan.getRounded(value)); }

Value HostBuilder::pairTilesIn(Value value, OpFoldResult column, int64_t pairs) {
  unsigned buffer = plan.getRounded(value);
  int64_t rowPitch = plan.getBuffer(buffer).pitch;
  Value tileCount = arith::DivUIOp::create(b, loc, count(value), constant(tiles.rows));
  return view(buffer, {tileCount, b.getIndexAttr(tiles.rows), b.getIndexAttr(pairs), b.getIndexAttr(2)},
              {b.getIndexAttr(tiles.rows * rowPitch), b.getIndexAttr(rowPitch), b.getIndexAttr(2), b.getIndexAttr(1)},
              column);
}

Value HostBuilder::tilesOut(Value value, OpFoldResult column, MemRefType weight) {
  OpFoldResult panels = b.getIndexAttr(weight.getDimSize(0)), panel = b.getIndexAttr(weight.getDimSize(2));
  Value tileCount = arith::DivUIOp::create(b, loc, count(value), constant(tiles.rows));
  return reinterpret(value, column, {tileCount, b.getIndexAttr(tiles.rows), panels, panel},
                     {rowStride(value, tiles.rows), rowStride(value), panel, b.getIndexAttr(1)});
}

Value HostBuilder::viewRows(Value bytes, Value count, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes{ShapedType::kDynamic};
  llvm::append_range(sizes, shape);
  return memref::ViewOp::create(b, loc, MemRefType::get(sizes, b.getF32Type()), bytes, constant(0), ValueRange{count});
}

Value HostBuilder::view(unsigned index, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides,
                        OpFoldResult offset) {
  SmallVector<int64_t> shape, steps, start;
  SmallVector<Value> ignored;
  dispatchIndexOpFoldResults(sizes, ignored, shape);
  dispatchIndexOpFoldResults(strides, ignored, steps);
  dispatchIndexOpFoldResult(offset, ignored, start);
  Type element = plan.getBuffer(index).isRounded ? b.getBF16Type() : Type(b.getF32Type());
  auto type = MemRefType::get(shape, element, StridedLayoutAttr::get(b.getContext(), start.front(), steps));
  return memref::ReinterpretCastOp::create(b, loc, type, memoryOf(index), offset, sizes, strides);
}

Value HostBuilder::reshape(Value memory, ArrayRef<int64_t> shape) {
  auto type = MemRefType::get(shape, cast<MemRefType>(memory.getType()).getElementType());
  return memref::ReinterpretCastOp::create(b, loc, type, memory, b.getIndexAttr(0),
                                           getAsIndexOpFoldResult(b.getContext(), shape),
                                           getAsIndexOpFoldResult(b.getContext(), type.getStridesAndOffset().first));
}

Value HostBuilder::row(Value memory, Value index) {
  int64_t width = cast<MemRefType>(memory.getType()).getDimSize(1);
  SmallVector<OpFoldResult> offsets{index, b.getIndexAttr(0)}, sizes{b.getIndexAttr(1), b.getIndexAttr(width)},
      strides(2, b.getIndexAttr(1));
  return memref::SubViewOp::create(b, loc, memory, offsets, sizes, strides);
}

Value HostBuilder::countTiles(Value rows) {
  return arith::DivUIOp::create(b, loc, add(rows, constant(tiles.rows - 1)), constant(tiles.rows));
}

Value HostBuilder::countPadded(unsigned length, int64_t reach) {
  Value rows = loadShape(length, add(context.batch, constant(2)));
  return add(rows, mul(context.batch, constant(reach)));
}

Value HostBuilder::loadShape(unsigned length, Value at) {
  Value number = memref::LoadOp::create(b, loc, context.shapes[length], ValueRange{at});
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

std::pair<Value, Value> HostBuilder::getSequence(unsigned length, Value sequence) {
  Value first = loadShape(length, add(sequence, constant(2)));
  return {first, loadShape(length, add(add(sequence, context.batch), constant(3)))};
}

Value HostBuilder::element(Value memory, OpFoldResult index) {
  if (!memory)
    return memory;
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memory), offsets(sizes.size(), b.getIndexAttr(0)),
                            strides(sizes.size(), b.getIndexAttr(1));
  offsets.front() = index;
  sizes.front() = b.getIndexAttr(1);
  MemRefType part =
      memref::SubViewOp::inferRankReducedResultType(type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, part, memory, offsets, sizes, strides);
}

LogicalResult HostBuilder::forSequences(llvm::function_ref<LogicalResult(Value)> body) {
  return loop(context.batch, body);
}

LogicalResult HostBuilder::forGroups(int64_t groups, llvm::function_ref<LogicalResult(OpFoldResult)> body) {
  return groups == 1 ? body(b.getIndexAttr(0)) : loop(constant(groups), body);
}

LogicalResult HostBuilder::loop(Value count, llvm::function_ref<LogicalResult(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, constant(0), count, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  return body(loop.getInductionVar());
}

Value HostBuilder::slice(Value memory, int64_t axis, int64_t first, int64_t count) {
  if (!memory)
    return memory;
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memory), offsets(sizes.size(), b.getIndexAttr(0)),
                            strides(sizes.size(), b.getIndexAttr(1));
  offsets[axis] = b.getIndexAttr(first);
  sizes[axis] = b.getIndexAttr(count);
  return memref::SubViewOp::create(b, loc, memory, offsets, sizes, strides);
}

LogicalResult HostBuilder::call(Operation *op, func::FuncOp kernel, ValueRange operands) {
  SmallVector<Value> all(operands);
  ArrayRef<Type> types = kernel.getArgumentTypes();
  // The trailing arguments are the same for all kernels: shapes, threads, scratch.
  auto isShape = [](Type type) {
    auto memory = dyn_cast<MemRefType>(type);
    return memory && memory.getElementType().isInteger(64);
  };
  ArrayRef<Type> rest = types.drop_front(all.size());
  int64_t shapes = llvm::count_if(rest, isShape);
  for (Type type : rest) {
    if (type.isInteger(32))
      all.push_back(context.threads);
    else if (isShape(type))
      all.push_back(context.shapes[shapes-- > 1 ? lengths.second : lengths.first]);
    else
      all.push_back(context.scratch);
  }
  for (auto [value, type] : llvm::zip_equal(all, types)) {
    if (!value)
      return op->emitOpError() << "requires packed parameters that rest on globals, and inputs that are arguments";
    if (value.getType() == type)
      continue;
    if (!memref::CastOp::areCastCompatible(value.getType(), type))
      return op->emitOpError() << "requires operands of kernel @" << kernel.getName() << " of type " << type
                               << ", but found " << value.getType();
    value = memref::CastOp::create(b, loc, type, value);
  }
  func::CallOp::create(b, loc, kernel, all);
  return success();
}

LogicalResult HostBuilder::callByTiles(Operation *op, Value rows, int64_t enough, func::FuncOp few, func::FuncOp many,
                                       ValueRange operands) {
  Value tileCount = memref::DimOp::create(b, loc, rows, 0);
  Value isFew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tileCount, constant(enough));
  auto choice = scf::IfOp::create(b, loc, isFew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenYield());
  if (failed(call(op, few, operands)))
    return failure();
  b.setInsertionPoint(choice.elseYield());
  return call(op, many, operands);
}
