//===- VerifyGating.cpp - Verifiers of pools and gates ----------------------===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

CONVBERT_VERIFY(PoolOp) {
  if (!op.getMask())
    return success();
  // POOL-C1, POOL-C2
  if (op.getKind() != PoolKind::Mean)
    return error() << "requires `kind = mean` for a mask, but found `" << stringifyPoolKind(op.getKind()) << "`";
  return requireTokens(error, "mask", op.getMask(), op.getX());
}

/// `gate` has one element for each sequence and channel of `x`.
static LogicalResult requireGate(EmitError error, const Twine &name, Value gate, Value x) {
  if (failed(requireExtent(error, "the batch of `" + name + "`", getExtent(x, 0), getExtent(gate, 0))))
    return failure();
  return requireExtent(error, "the channels of `" + name + "`", getFeatures(x), getFeatures(gate));
}

CONVBERT_VERIFY(ScaleChannelsOp) {
  return requireGate(error, "gate", op.getGate(), op.getX()); // SCALE_CHANNELS-C1
}

/// All branches have the shape of the first.
static LogicalResult requireBranches(EmitError error, ValueRange branches) {
  for (auto [m, branch] : llvm::enumerate(branches))
    if (failed(requireShape(error, ("branches[" + Twine(m) + "]").str(), branch, branches.front())))
      return failure();
  return success();
}

CONVBERT_VERIFY(SelectBranchesOp) {
  // SELECT_BRANCHES-C2, SELECT_BRANCHES-C3; C1 is a condition of type inference.
  if (failed(requireBranches(error, op.getBranches())))
    return failure();
  if (op.getLogits().size() != op.getBranches().size())
    return error() << "requires as many logits as branches, " << op.getBranches().size() << ", but found "
                   << op.getLogits().size();
  for (auto [m, logits] : llvm::enumerate(op.getLogits()))
    if (failed(requireGate(error, "logits[" + Twine(m) + "]", logits, op.getBranches().front())))
      return failure();
  return success();
}

CONVBERT_VERIFY(SqueezeExciteOp) {
  int64_t channels = getFeatures(op.getX()), hidden = getOutFeatures(op.getW1(), op.getLayout());
  // SQUEEZE_EXCITE-C1, SQUEEZE_EXCITE-C2
  if (failed(requireExtent(error, "the input features of `w1`", channels, getInFeatures(op.getW1(), op.getLayout()))) ||
      failed(requireVector(error, "b1", op.getB1(), hidden)) ||
      failed(requireWeight(error, "w2", op.getW2(), op.getLayout(), hidden, channels)) ||
      failed(requireVector(error, "b2", op.getB2(), channels)))
    return failure();
  // SQUEEZE_EXCITE-C3
  if (op.getMask() && failed(requireTokens(error, "mask", op.getMask(), op.getX())))
    return failure();
  // SQUEEZE_EXCITE-C4
  if (op.getGate() != ActivationKind::Sigmoid && op.getGate() != ActivationKind::HardSigmoid)
    return error() << "requires a `gate` of sigmoid or hard_sigmoid, but found "
                   << stringifyActivationKind(op.getGate());
  return success();
}

CONVBERT_VERIFY(SelectiveKernelOp) {
  if (op.getBranches().empty())
    return success(); // SELECTIVE_KERNEL-C1 is a condition of type inference, which complains
  int64_t channels = getFeatures(op.getBranches().front()), hidden = getOutFeatures(op.getWz(), op.getLayout());
  // SELECTIVE_KERNEL-C2
  if (failed(requireBranches(error, op.getBranches())))
    return failure();
  // SELECTIVE_KERNEL-C3
  if (failed(requireExtent(error, "the input features of `wz`", channels, getInFeatures(op.getWz(), op.getLayout()))) ||
      failed(requireVector(error, "scale", op.getScale(), hidden)) ||
      failed(requireVector(error, "shift", op.getShift(), hidden)))
    return failure();
  // SELECTIVE_KERNEL-C4
  int64_t branches = static_cast<int64_t>(op.getBranches().size());
  if (failed(requireExtent(error, "the branches of `a`", branches, getExtent(op.getA(), 0))) ||
      failed(requireExtent(error, "the input features of `a`", hidden, getExtent(op.getA(), 1))))
    return failure();
  return requireExtent(error, "the output features of `a`", channels, getExtent(op.getA(), 2));
}
