//===- FuseProjections.cpp - One dense layer for all that read the same input -===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_FUSEPROJECTIONSPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct FuseProjectionsPass : convbert::impl::FuseProjectionsPassBase<FuseProjectionsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Block *block) {
      // Groups in order of first use, so that the result does not depend on addresses.
      llvm::MapVector<std::pair<Value, WeightLayout>, SmallVector<DenseOp>> groups;
      for (auto op : block->getOps<DenseOp>())
        if (op.getActivation() == ActivationKind::Identity && !op.getMultiplier() && op.getBias() && !isForConcat(op))
          groups[{op.getX(), op.getLayout()}].push_back(op);
      for (auto &[key, ops] : groups)
        if (ops.size() > 1 && succeeded(fuse(ops, key.second)))
          fused += ops.size() - 1;
    });
  }

private:
  /// A layer whose result is a part of a concatenation alone is written there; a slice would have to be copied.
  static bool isForConcat(DenseOp op) {
    return !op->use_empty() &&
           llvm::all_of(op->getUsers(), [](Operation *user) { return isa<tensor::ConcatOp>(user); });
  }

  /// True if `value` exists where the first of the layers stands.
  static bool isAvailable(Value value, Operation *before) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != before->getBlock() || op->isBeforeInBlock(before);
  }

  /// Parameters must exist before the first of the layers; pure producers are moved there.  What rests on one of the
  /// layers cannot be.
  static LogicalResult makeAvailable(Value value, ArrayRef<DenseOp> layers) {
    Operation *before = layers.front(), *op = value.getDefiningOp();
    if (isAvailable(value, before))
      return success();
    if (!isPure(op) || op->getNumRegions() != 0 || llvm::is_contained(layers, op) ||
        !llvm::all_of(op->getOperands(), [&](Value v) { return succeeded(makeAvailable(v, layers)); }))
      return failure();
    op->moveBefore(before);
    return success();
  }

  static LogicalResult fuse(ArrayRef<DenseOp> ops, WeightLayout layout) {
    DenseOp first = ops.front();
    SmallVector<Value> weights, biases;
    SmallVector<Location> locations;
    int64_t features = 0;
    for (DenseOp op : ops) {
      if (llvm::AddOverflow(features, op.getOutFeatures(), features))
        return failure(); // more than an extent can say
      if (failed(makeAvailable(op.getWeight(), ops)) || failed(makeAvailable(op.getBias(), ops)))
        return failure();
      weights.push_back(op.getWeight());
      biases.push_back(op.getBias());
      locations.push_back(op.getLoc());
    }
    OpBuilder b(first);
    Location loc = b.getFusedLoc(locations);
    Value weight = tensor::ConcatOp::create(b, loc, layout == WeightLayout::OutIn ? 0 : 1, weights);
    Value bias = tensor::ConcatOp::create(b, loc, 0, biases);
    Value all = DenseOp::create(b, loc, first.getX(), weight, bias, Value(), layout, ActivationKind::Identity);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, all);
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
    int64_t offset = 0;
    for (DenseOp op : ops) {
      offsets.back() = b.getIndexAttr(offset);
      sizes.back() = b.getIndexAttr(op.getOutFeatures());
      Value slice = tensor::ExtractSliceOp::create(b, op.getLoc(), cast<RankedTensorType>(op.getType()), all, offsets,
                                                   sizes, strides);
      offset += op.getOutFeatures();
      op.getResult().replaceAllUsesWith(slice);
    }
    for (DenseOp op : ops) // not before the last slice stands: the builder inserts before the first of them
      op.erase();
    return success();
  }
};

} // namespace
