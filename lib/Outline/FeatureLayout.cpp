//===- FeatureLayout.cpp - How features lie in rows -------------------------===//

#include "lib/Outline/FeatureLayout.h"
#include "dialect/IR/ShapeRules.h"
#include "lib/Outline/Target.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Layouts spread over values that are the same rows (slices, concatenations, factors of a product).
struct Propagation {
  llvm::DenseMap<Value, FeatureLayout> layouts;
  SmallVector<Value> worklist;

  LogicalResult assign(Operation *by, Value value, FeatureLayout layout) {
    if (getFeatures(value) % layout.size != 0)
      return by->emitOpError() << "requires whole heads of " << layout.size << " features, but found "
                               << getFeatures(value) << " features";
    auto [it, isNew] = layouts.try_emplace(value, layout);
    if (isNew)
      worklist.push_back(value);
    else if (!(it->second == layout))
      return by->emitOpError() << "requires heads of " << layout.size << " features, but found heads of "
                               << it->second.size;
    return success();
  }

  LogicalResult spread(Operation *op, FeatureLayout layout) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      if (int64_t column = slice.getStaticOffsets().back(); ShapedType::isStatic(column) && column % layout.size != 0)
        return op->emitOpError() << "requires a slice of whole heads of " << layout.size
                                 << " features, but found one from feature " << column << " on";
    if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(op)) {
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()) && failed(assign(op, operand, layout)))
          return failure();
      return assign(op, op->getResult(0), layout);
    }
    if (auto dense = dyn_cast<DenseOp>(op)) {
      if (dense.getMultiplier() && failed(assign(op, dense.getMultiplier(), layout)))
        return failure();
      return assign(op, dense.getResult(), layout);
    }
    return success();
  }
};

} // namespace

static bool producesOrSharesLayout(Operation *op, Value value) {
  auto dense = dyn_cast_or_null<DenseOp>(op);
  // A dense layer reads its input through zero rows of its weights: that layout stops here.
  return !dense || dense.getResult() == value || dense.getMultiplier() == value;
}

/// Values that `op` reads and writes head by head, and how many heads there are.
static std::pair<SmallVector<Value>, int64_t> getHeads(Operation *op) {
  if (auto attention = dyn_cast<SelfAttentionOp>(op))
    return {{attention.getQ(), attention.getK(), attention.getV(), attention.getResult()},
            static_cast<int64_t>(attention.getHeads())};
  if (auto apply = dyn_cast<ApplyKernelOp>(op))
    return {{apply.getV(), apply.getResult()}, cast<RankedTensorType>(apply.getTaps().getType()).getDimSize(2)};
  return {};
}

static FeatureLayout headLayout(Value value, int64_t heads) {
  int64_t size = getFeatures(value) / heads;
  return {size, static_cast<int64_t>(llvm::alignTo(size, TileSizes::lanes))};
}

FailureOr<FeatureLayouts> FeatureLayouts::compute(func::FuncOp fn) {
  Propagation propagation;
  for (Operation &op : fn.getBody().front()) {
    auto [values, heads] = getHeads(&op);
    for (Value value : values) {
      if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(getFeatures(value)) || getFeatures(value) == 0)
        return op.emitOpError() << "requires heads of a static size, but found " << value.getType();
      FeatureLayout layout = headLayout(value, heads);
      if (!layout.isPlain() && failed(propagation.assign(&op, value, layout)))
        return failure();
    }
  }
  while (!propagation.worklist.empty()) {
    Value value = propagation.worklist.pop_back_val();
    FeatureLayout layout = propagation.layouts.lookup(value);
    SmallVector<Operation *> ops(value.getUsers());
    if (Operation *producer = value.getDefiningOp())
      ops.push_back(producer);
    else
      return fn.emitError() << "requires head-padded rows to stay inside a function, but an argument has heads of "
                            << layout.size << " features";
    for (Operation *op : ops) {
      if (!isa<tensor::ExtractSliceOp, tensor::ConcatOp, tensor::DimOp, DenseOp, DynamicKernelOp, SelfAttentionOp,
               ApplyKernelOp>(op))
        return op->emitOpError() << "cannot work on heads of " << layout.size << " features padded to "
                                 << layout.pitch;
      if (producesOrSharesLayout(op, value) && failed(propagation.spread(op, layout)))
        return failure();
    }
  }
  // Heads that need no padding must not have got another's.
  for (Operation &op : fn.getBody().front()) {
    auto [values, heads] = getHeads(&op);
    for (Value value : values)
      if (FeatureLayout need = headLayout(value, heads), found = propagation.layouts.lookup(value);
          need.isPlain() && !found.isPlain())
        return op.emitOpError() << "requires heads of " << need.size << " features, but found heads of " << found.size;
  }
  FeatureLayouts result;
  result.layouts = std::move(propagation.layouts);
  return result;
}
