//===- FeatureLayout.cpp - How features lie in rows -------------------------===//

#include "lib/Outline/FeatureLayout.h"
#include "dialect/IR/ShapeRules.h"
#include "lib/Outline/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// What leaves zeros between heads zero.
static bool isSumOrProduct(Operation *op) { return isa<arith::AddFOp, arith::MulFOp, arith::SubFOp>(op); }

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
    if (isa<MaskTokensOp, AddBiasOp>(op))
      return failure(failed(assign(op, op->getOperand(0), layout)) || failed(assign(op, op->getResult(0), layout)));
    if (isSumOrProduct(op)) {
      for (Value operand : op->getOperands())
        if (failed(assign(op, operand, layout)))
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

/// Values that `op` reads and writes head by head, and the features of their heads.
static SmallVector<std::pair<Value, int64_t>> getHeads(Operation *op) {
  if (auto attention = dyn_cast<SelfAttentionOp>(op)) {
    // A query may have more slices than there are heads.
    int64_t size = attention.getHeadSize();
    int64_t valueSize = getFeatures(attention.getV()) / static_cast<int64_t>(attention.getHeads());
    return {{attention.getQ(), size},
            {attention.getK(), size},
            {attention.getV(), valueSize},
            {attention.getResult(), valueSize}};
  }
  // Heads that are every so many channels need no padding.
  if (auto apply = dyn_cast<ApplyKernelOp>(op); apply && apply.getHeadMap() == HeadMap::Blocked) {
    int64_t size = getFeatures(apply.getV()) / getExtent(apply.getTaps(), 2);
    return {{apply.getV(), size}, {apply.getResult(), size}};
  }
  if (auto conv = dyn_cast<LightConvOp>(op); conv && conv.getHeadMap() == HeadMap::Blocked) {
    int64_t size = getFeatures(conv.getX()) / getExtent(conv.getWeight(), 0);
    return {{conv.getX(), size}, {conv.getResult(), size}};
  }
  if (auto scale = dyn_cast<ScaleHeadsOp>(op)) {
    int64_t size = getFeatures(scale.getX()) / getExtent(scale.getScales(), 0);
    return {{scale.getX(), size}, {scale.getResult(), size}};
  }
  return {};
}

static FeatureLayout headLayout(int64_t size) {
  return {size, static_cast<int64_t>(llvm::alignTo(size, TileSizes::lanes))};
}

FailureOr<FeatureLayouts> FeatureLayouts::compute(func::FuncOp fn) {
  Propagation propagation;
  for (Operation &op : fn.getBody().front()) {
    for (auto [value, size] : getHeads(&op)) {
      FeatureLayout layout = headLayout(size);
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
    else if (fn.isPrivate())
      return fn.emitError() << "requires head-padded rows to stay inside a function, but an argument has heads of "
                            << layout.size << " features";
    for (Operation *op : ops) {
      if (!isa<tensor::ExtractSliceOp, tensor::ConcatOp, tensor::DimOp, DenseOp, DynamicKernelOp, SelfAttentionOp,
               ApplyKernelOp, LightConvOp, MaskTokensOp, ScaleHeadsOp, AddBiasOp>(op) &&
          !isSumOrProduct(op) && !(isa<func::ReturnOp>(op) && !fn.isPrivate())) { // copied without the padding
        if (!isa<ConvBERTDialect>(op->getDialect()))
          return op->emitOpError() << "has no CPU kernel";
        return op->emitOpError() << "cannot work on heads of " << layout.size << " features padded to " << layout.pitch;
      }
      if (producesOrSharesLayout(op, value) && failed(propagation.spread(op, layout)))
        return failure();
    }
  }
  // Heads that need no padding must not have got another's.
  for (Operation &op : fn.getBody().front()) {
    for (auto [value, size] : getHeads(&op))
      if (FeatureLayout need = headLayout(size), found = propagation.layouts.lookup(value);
          need.isPlain() && !found.isPlain())
        return op.emitOpError() << "requires heads of " << need.size << " features, but found heads of " << found.size;
  }
  FeatureLayouts result;
  result.layouts = std::move(propagation.layouts);
  return result;
}
