//===- WorkspacePlan.cpp - Where activations lie in the workspace -----------===//

#include "lib/Outline/WorkspacePlan.h"
#include "dialect/IR/ShapeRules.h"
#include "lib/Outline/FoldedConvs.h"
#include "lib/Outline/MixedKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::convbert;

/// Whether `value` is computed where it is read, by the operation that reads it.
static bool isReadThrough(Value value) { return isMixedParameter(value) || isFoldedConv(value); }

bool WorkspacePlan::isActivation(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) && type.getRank() >= 2 && type.isDynamicDim(0) &&
         !isReadThrough(value);
}

/// Tokens for `B x T x C` and `B x T x H x K`; pooled rows for `B x C`; keys for `B x T`.
static RowKind rowKind(RankedTensorType type) {
  if (type.getRank() >= 3)
    return RowKind::Token;
  return type.isDynamicDim(1) ? RowKind::Key : RowKind::Sequence;
}

/// True for probabilities and normalised taps, made here or in a callee.
static bool isMadeAsMap(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto attention = dyn_cast_or_null<SelfAttentionOp>(op))
    return value == attention.getProbabilities();
  if (auto apply = dyn_cast_or_null<ApplyKernelOp>(op))
    return value == apply.getNormalized();
  auto call = dyn_cast_or_null<func::CallOp>(op);
  auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr()) : func::FuncOp();
  if (!callee || !callee.getBody().hasOneBlock())
    return false;
  return isMadeAsMap(callee.getBody().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
}

int64_t WorkspacePlan::physicalWidth(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 4) // logits of taps, [tap][heads rounded up]
    return type.getDimSize(3) * llvm::alignTo(type.getDimSize(2), TileSizes::headBlock);
  return layouts.get(value).padded(type.getShape().back());
}

/// Floats that the kernel of `op` reads or writes in a row of `width` features: kernels work on whole panels, blocks or
/// vectors, also behind the last feature.
static int64_t touchedWidth(Operation *op, int64_t width, const TileSizes &tiles) {
  if (auto grouped = dyn_cast_or_null<GroupedDenseOp>(op)) {
    int64_t group = cast<RankedTensorType>(grouped.getWeight().getType()).getDimSize(2);
    return width - group + tiles.padToPanels(group);
  }
  if (isa_and_nonnull<DenseOp>(op))
    return tiles.padToPanels(width);
  if (isa_and_nonnull<DepthwiseConv1DOp>(op) ||
      (isa_and_nonnull<PoolOp, SelectBranchesOp>(op) && isFoldedConv(op->getOperand(0))))
    return llvm::alignTo(width, TileSizes::channelBlock);
  if (isa_and_nonnull<WeightedSumOp>(op)) // the last block is read in whole vectors, wherever it begins
    return width + TileSizes::lanes;
  if (isa_and_nonnull<ActivationOp, ApplyKernelOp, LightConvOp, LayerNormOp, EmbeddingsOp, PoolOp, AddBiasOp,
                      ScaleChannelsOp, SelectBranchesOp, arith::AddFOp, arith::MulFOp, arith::SubFOp>(op))
    return llvm::alignTo(width, TileSizes::lanes);
  return width;
}

LogicalResult WorkspacePlan::addValue(Operation *by, Value value) {
  if (views.contains(value))
    return success(); // part of a concatenation
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.getElementType().isF32())
    return by->emitOpError() << "requires activations of f32, but found " << type.getElementType();
  if (isMadeAsMap(value)) {
    addBuffer(value, Buffer{RowKind::Map});
    return success();
  }
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return addSlice(slice);
  RowKind kind = rowKind(type);
  for (int64_t size : type.getShape().drop_front(kind == RowKind::Token ? 2 : 1))
    if (kind != RowKind::Key && (ShapedType::isDynamic(size) || size == 0))
      return by->emitOpError() << "requires a static number of features, but found " << type;
  Buffer buffer;
  buffer.kind = kind;
  buffer.width = buffer.kind == RowKind::Key ? 1 : physicalWidth(value);
  buffer.pitch = buffer.kind == RowKind::Key ? 1 : tiles.pitch(buffer.width);
  addBuffer(value, buffer);
  return success();
}

void WorkspacePlan::addBuffer(Value value, Buffer buffer) {
  buffer.length = lengths.get(value);
  views[value] = View{static_cast<unsigned>(buffers.size()), 0, buffer.width};
  buffers.push_back(buffer);
}

/// A slice is a part of the features of all rows: nothing is copied.
LogicalResult WorkspacePlan::addSlice(tensor::ExtractSliceOp slice) {
  RankedTensorType type = slice.getSourceType();
  int64_t last = type.getRank() - 1, column = slice.getStaticOffsets()[last], size = slice.getStaticSizes()[last];
  bool isPart = views.contains(slice.getSource()) && (last == 1 || last == 2) && rowKind(type) != RowKind::Key &&
                ShapedType::isStatic(column) && ShapedType::isStatic(size) &&
                llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; });
  for (int64_t axis = 0; axis < last && isPart; ++axis) {
    // There is one batch in a function, so the dimension of any value of the length will do.
    OpFoldResult extent = slice.getMixedSizes()[axis];
    Value given = dyn_cast<Value>(extent);
    auto dim = given ? given.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    bool isAll = axis == 0 ? dim && dim.getConstantIndex() == 0 : given && lengths.isLengthOf(given, slice.getSource());
    isPart = slice.getStaticOffsets()[axis] == 0 && (given ? isAll
                                                           : ShapedType::isStatic(type.getDimSize(axis)) &&
                                                                 getConstantIntValue(extent) == type.getDimSize(axis));
  }
  if (!isPart)
    return slice.emitOpError() << "requires a slice of features of all rows, with static bounds";
  View source = views.lookup(slice.getSource());
  FeatureLayout layout = layouts.get(slice.getSource());
  views[slice.getResult()] =
      View{source.buffer, source.column + layout.padded(column), layout.padded(column + size) - layout.padded(column)};
  return success();
}

/// The operands of a concatenation are written into its buffer: nothing is copied.
LogicalResult WorkspacePlan::aliasConcat(Operation *op) {
  auto concat = cast<tensor::ConcatOp>(op);
  if (!isActivation(concat.getResult()))
    return success();
  if (static_cast<int64_t>(concat.getDim()) != concat.getResultType().getRank() - 1 ||
      concat.getResultType().getRank() > 3)
    return op->emitOpError() << "requires a concatenation of features, but found dimension " << concat.getDim();
  if (failed(addValue(op, concat.getResult())))
    return failure();
  View all = views.lookup(concat.getResult());
  int64_t column = 0;
  for (Value operand : concat.getInputs()) {
    if (views.contains(operand) || !operand.getDefiningOp() || isa<tensor::ExtractSliceOp>(operand.getDefiningOp()))
      return op->emitOpError() << "requires operands that are computed for this concatenation alone";
    if (ShapedType::isDynamic(getFeatures(operand)))
      return op->emitOpError() << "requires a static number of features, but found " << operand.getType();
    int64_t width = physicalWidth(operand);
    views[operand] = View{all.buffer, all.column + column, width};
    column += width;
  }
  return success();
}

bool WorkspacePlan::canBeDense(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  View view = views.lookup(value);
  if (type.getRank() != 3 || buffers[view.buffer].kind != RowKind::Token || !layouts.get(value).isPlain() ||
      type.getDimSize(2) != view.width || view.width % TileSizes::lanes != 0)
    return false;
  if (llvm::count_if(views, [&](auto &other) { return other.second.buffer == view.buffer; }) != 1)
    return false;
  auto fits = [&](Operation *op) {
    return isa<func::ReturnOp>(op) || (!isa<func::CallOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op) &&
                                       touchedWidth(op, view.width, tiles) <= view.width);
  };
  return (!value.getDefiningOp() || fits(value.getDefiningOp())) && llvm::all_of(value.getUsers(), fits);
}

/// The operation whose kernels read a value that `user` uses.
static Operation *getReader(Operation *user) {
  while (user->getNumResults() == 1 && isReadThrough(user->getResult(0)))
    user = *user->user_begin();
  return user;
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
      buffer.last = std::max(buffer.last, position[getReader(user)]);
  }
}

/// Widens rows so that what kernels touch behind a part's last feature stays in its row, and checks that what they
/// write there is overwritten later: the next part of a concatenation must be computed after this one.
LogicalResult WorkspacePlan::reserveTouched(func::FuncOp fn) {
  for (Operation &op : fn.getBody().front()) {
    if (isa<tensor::ConcatOp, tensor::ExtractSliceOp>(op))
      continue;
    for (Value value : llvm::concat<Value>(op.getOperands(), op.getResults()))
      if (auto it = views.find(value); it != views.end() && buffers[it->second.buffer].kind < RowKind::Key) {
        int64_t end = it->second.column + touchedWidth(&op, it->second.width, tiles);
        int64_t &pitch = buffers[it->second.buffer].pitch;
        pitch = std::max<int64_t>(pitch, llvm::alignTo(end, TileSizes::lanes) + TileSizes::lanes);
      }
    for (Value result : op.getResults()) {
      if (!views.contains(result) || isMap(result))
        continue;
      View view = views.lookup(result);
      int64_t end = view.column + view.width, touched = view.column + touchedWidth(&op, view.width, tiles);
      for (auto &[other, part] : views)
        if (Operation *writer = other.getDefiningOp();
            part.buffer == view.buffer && part.column < touched && part.column >= end && writer &&
            !isa<tensor::ConcatOp, tensor::ExtractSliceOp>(writer) && writer->isBeforeInBlock(&op))
          return op.emitOpError()
                 << "requires the parts of a concatenation in the order of its operands where they are "
                    "no whole panels, but found one of "
                 << view.width << " features computed after the next";
    }
  }
  return success();
}

FailureOr<WorkspacePlan> WorkspacePlan::compute(func::FuncOp fn, const TileSizes &tiles) {
  WorkspacePlan plan;
  plan.tiles = tiles;
  FailureOr<FeatureLayouts> layouts = FeatureLayouts::compute(fn);
  if (failed(layouts))
    return failure();
  plan.layouts = std::move(*layouts);
  FailureOr<Lengths> lengths = Lengths::compute(fn);
  if (failed(lengths))
    return failure();
  plan.lengths = std::move(*lengths);
  Block &body = fn.getBody().front();
  for (BlockArgument arg : body.getArguments()) {
    if (!isActivation(arg))
      continue;
    if (failed(plan.addValue(fn, arg)))
      return failure();
    if (fn.isPrivate())
      continue;
    // The rows that an input is copied to are padded like those that an operation computes.
    Buffer &buffer = plan.buffers[plan.views.lookup(arg).buffer];
    buffer.pitch = std::max<int64_t>(buffer.pitch, llvm::alignTo(buffer.width, TileSizes::lanes) + TileSizes::lanes);
  }
  // Concatenations last to first: a nested one finds its place in the outer one's buffer.
  for (Operation &op : llvm::reverse(body))
    if (isa<tensor::ConcatOp>(op) && failed(plan.aliasConcat(&op)))
      return failure();
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (isActivation(result) && failed(plan.addValue(&op, result)))
        return failure();
  if (failed(plan.reserveTouched(fn)))
    return failure();
  plan.extendLiveRanges(fn);
  plan.addPlainBias(fn);
  plan.addPadded(fn);
  plan.addMixed(fn);
  plan.addMixedTaps(fn);
  plan.addOwnTaps(fn);
  if (tiles.isPaired)
    plan.addRounded(fn);
  return plan;
}

void WorkspacePlan::assignOffsets() {
  footprint.assign(getNumArenas(lengths.size()), 0);
  SmallVector<Buffer *> placed;
  for (Buffer &buffer : buffers) {
    if (buffer.external)
      continue;
    int64_t bytes = buffer.getRowBytes();
    SmallVector<std::pair<int64_t, int64_t>> taken; // [begin, end) of live neighbours
    for (Buffer *other : placed)
      if (other->kind == buffer.kind && other->length == buffer.length && other->first <= buffer.last &&
          buffer.first <= other->last)
        taken.push_back({other->offset, other->offset + other->getRowBytes()});
    llvm::sort(taken);
    for (auto [begin, end] : taken) {
      if (buffer.offset + bytes <= begin)
        break;
      buffer.offset = std::max(buffer.offset, end);
    }
    if (buffer.kind == RowKind::Map)
      continue;
    int64_t &size = footprint[getArena(buffer.kind, buffer.length)];
    size = std::max(size, buffer.offset + bytes);
    placed.push_back(&buffer);
  }
}
