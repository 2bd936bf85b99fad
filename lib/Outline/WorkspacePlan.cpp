//===- WorkspacePlan.cpp - Where activations lie in the workspace -----------===//

#include "lib/Outline/WorkspacePlan.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

bool WorkspacePlan::isActivation(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) && type.getRank() >= 2 && type.isDynamicDim(0);
}

/// Tokens for `B x T x C` and `B x T x H x K`; pooled rows for `B x C`; keys for `B x T`.
static RowKind rowKind(RankedTensorType type) {
  if (type.getRank() >= 3)
    return RowKind::Token;
  return type.isDynamicDim(1) ? RowKind::Key : RowKind::Sequence;
}

int64_t WorkspacePlan::physicalWidth(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 4) // logits of taps, [tap][heads rounded up]
    return type.getDimSize(3) * llvm::alignTo(type.getDimSize(2), TileSizes::headBlock);
  return layouts.get(value).padded(type.getShape().back());
}

/// Floats that a dense layer writes in a row of `value`, the last, partial panel of every group included.
static int64_t writtenWidth(Value value, int64_t width, const TileSizes &tiles) {
  auto grouped = value.getDefiningOp<GroupedDenseOp>();
  if (!grouped)
    return width;
  auto weight = cast<RankedTensorType>(grouped.getWeight().getType());
  return width - weight.getDimSize(2) + llvm::alignTo(weight.getDimSize(2), tiles.panel);
}

LogicalResult WorkspacePlan::addValue(Operation *by, Value value) {
  if (views.contains(value))
    return success(); // part of a concatenation
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.getElementType().isF32())
    return by->emitOpError() << "requires activations of f32, but found " << type.getElementType();
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    View source = views.lookup(slice.getSource());
    FeatureLayout layout = layouts.get(slice.getSource());
    int64_t column = slice.getStaticOffsets().back(), size = slice.getStaticSizes().back();
    if (ShapedType::isDynamic(column) || ShapedType::isDynamic(size) || slice.getStaticOffsets()[0] != 0 ||
        slice.getStaticOffsets()[1] != 0)
      return slice.emitOpError() << "requires a slice of features with static bounds";
    views[value] = View{source.buffer, source.column + layout.padded(column),
                        layout.padded(column + size) - layout.padded(column)};
    return success();
  }
  Buffer buffer;
  buffer.kind = rowKind(type);
  buffer.width = buffer.kind == RowKind::Key ? 1 : physicalWidth(value);
  buffer.pitch = buffer.kind == RowKind::Key ? 1 : tiles.pitch(writtenWidth(value, buffer.width, tiles));
  views[value] = View{static_cast<unsigned>(buffers.size()), 0, buffer.width};
  buffers.push_back(buffer);
  return success();
}

/// The operands of a concatenation are written into its buffer: nothing is copied.
LogicalResult WorkspacePlan::aliasConcat(Operation *op) {
  auto concat = cast<tensor::ConcatOp>(op);
  if (!isActivation(concat.getResult()))
    return success();
  if (static_cast<int64_t>(concat.getDim()) != concat.getResultType().getRank() - 1)
    return op->emitOpError() << "requires a concatenation of features, but found dimension " << concat.getDim();
  if (failed(addValue(op, concat.getResult())))
    return failure();
  View all = views.lookup(concat.getResult());
  int64_t column = 0;
  for (Value operand : concat.getInputs()) {
    if (views.contains(operand) || !operand.getDefiningOp() || isa<tensor::ExtractSliceOp>(operand.getDefiningOp()))
      return op->emitOpError() << "requires operands that are computed for this concatenation alone";
    int64_t width = physicalWidth(operand);
    views[operand] = View{all.buffer, all.column + column, width};
    column += width;
  }
  return success();
}

void WorkspacePlan::extendLiveRanges(func::FuncOp fn) {
  llvm::DenseMap<Operation *, int64_t> position;
  int64_t end = 0;
  for (Operation &op : fn.getBody().front())
    position[&op] = ++end;
  for (Buffer &buffer : buffers) {
    buffer.first = end;
    buffer.last = 0;
  }
  for (auto &[value, view] : views) {
    Buffer &buffer = buffers[view.buffer];
    int64_t defined = value.getDefiningOp() ? position[value.getDefiningOp()] : 0;
    buffer.first = std::min(buffer.first, defined);
    buffer.last = std::max(buffer.last, defined);
    for (Operation *user : value.getUsers())
      buffer.last = std::max(buffer.last, position[user]);
  }
}

FailureOr<WorkspacePlan> WorkspacePlan::compute(func::FuncOp fn, const TileSizes &tiles) {
  WorkspacePlan plan;
  plan.tiles = tiles;
  FailureOr<FeatureLayouts> layouts = FeatureLayouts::compute(fn);
  if (failed(layouts))
    return failure();
  plan.layouts = std::move(*layouts);
  Block &body = fn.getBody().front();
  for (BlockArgument arg : body.getArguments())
    if (isActivation(arg) && failed(plan.addValue(fn, arg)))
      return failure();
  // Concatenations last to first: a nested one finds its place in the outer one's buffer.
  for (Operation &op : llvm::reverse(body))
    if (isa<tensor::ConcatOp>(op) && failed(plan.aliasConcat(&op)))
      return failure();
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (isActivation(result) && failed(plan.addValue(&op, result)))
        return failure();
  plan.extendLiveRanges(fn);
  return plan;
}

void WorkspacePlan::assignOffsets() {
  SmallVector<Buffer *> placed;
  for (Buffer &buffer : buffers) {
    if (buffer.external)
      continue;
    int64_t bytes = buffer.pitch * 4;
    SmallVector<std::pair<int64_t, int64_t>> taken; // [begin, end) of live neighbours
    for (Buffer *other : placed)
      if (other->kind == buffer.kind && other->first <= buffer.last && buffer.first <= other->last)
        taken.push_back({other->offset, other->offset + other->pitch * 4});
    llvm::sort(taken);
    for (auto [begin, end] : taken) {
      if (buffer.offset + bytes <= begin)
        break;
      buffer.offset = std::max(buffer.offset, end);
    }
    int64_t &size = footprint[static_cast<unsigned>(buffer.kind)];
    size = std::max(size, buffer.offset + bytes);
    placed.push_back(&buffer);
  }
}
