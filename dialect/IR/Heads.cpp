//===- Heads.cpp - HeadedInterface of step operations and dynamic convolution -===//

#include "dialect/IR/Blocks.h"
#include "dialect/IR/HeadsBuilder.h"
#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

using Slices = SmallVector<HeadSlice>;
using Values = FailureOr<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Shared
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> convbert::getKeptHeads(Operation *op, HeadBranch branch, int64_t count,
                                                       ArrayRef<Head> removed) {
  SmallVector<bool> kept(count, true);
  for (const Head &head : removed) {
    if (head.branch != branch)
      continue;
    if (head.index < 0 || head.index >= count)
      return op->emitOpError() << "requires heads to remove below " << count << ", but found " << head.index;
    kept[head.index] = false;
  }
  SmallVector<int64_t> heads;
  for (int64_t head = 0; head < count; ++head)
    if (kept[head])
      heads.push_back(head);
  return heads;
}

SmallVector<int64_t> convbert::compactSlices(SmallVectorImpl<int64_t> &slices) {
  SmallVector<int64_t> used(slices.begin(), slices.end());
  llvm::sort(used);
  used.erase(llvm::unique(used), used.end());
  for (int64_t &slice : slices)
    slice = llvm::lower_bound(used, slice) - used.begin();
  return used;
}

DenseI64ArrayAttr convbert::getSlicesAttr(Builder &b, ArrayRef<int64_t> slices, int64_t available) {
  bool isDefault = slices == ArrayRef<int64_t>(getSlices(std::nullopt, available));
  return isDefault ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(slices);
}

std::optional<KeepIf> convbert::findOtherReader(std::optional<ArrayRef<int64_t>> slices, int64_t head) {
  if (slices)
    for (auto [other, slice] : llvm::enumerate(*slices))
      if (static_cast<int64_t>(other) != head && slice == (*slices)[head])
        return KeepIf{HeadBranch::Attention, static_cast<int64_t>(other)};
  return std::nullopt;
}

/// The heads that stay of an operation that has heads of `branch` only.
static FailureOr<SmallVector<int64_t>> getKeptOfOne(Operation *op, HeadBranch branch, ArrayRef<Head> removed) {
  HeadBranch other = branch == HeadBranch::Attention ? HeadBranch::Convolution : HeadBranch::Attention;
  if (failed(getKeptHeads(op, other, 0, removed)))
    return failure();
  FailureOr<SmallVector<int64_t>> kept = getKeptHeads(op, branch, cast<HeadedInterface>(op).numHeads(branch), removed);
  if (succeeded(kept) && kept->empty())
    return op->emitOpError() << "requires a head to stay, but found all to be removed";
  return kept;
}

/// The axis of a dense weight's output features.
static int64_t outAxis(WeightLayout layout) { return layout == WeightLayout::OutIn ? 0 : 1; }

//===----------------------------------------------------------------------===//
// Self-attention
//===----------------------------------------------------------------------===//

int64_t SelfAttentionOp::numHeads(HeadBranch branch) {
  return branch == HeadBranch::Attention ? static_cast<int64_t>(getHeads()) : 0;
}

Slices SelfAttentionOp::slicesFor(Head head) {
  int64_t h = head.index, size = getHeadSize(), valueSize = getFeatures(getV()) / static_cast<int64_t>(getHeads());
  // A slice of the query that another head reads as well stays with that one.
  std::optional<KeepIf> keepIf = findOtherReader(getQueryHeads(), h);
  Slices slices{{0, 2, getQuerySlice(h) * size, size, keepIf},
                {1, 2, h * size, size, std::nullopt},
                {2, 2, h * valueSize, valueSize, std::nullopt}};
  if (getHeadMask())
    slices.push_back({getODSOperandIndexAndLength(4).first, 0, h, 1, std::nullopt});
  return slices;
}

Values SelfAttentionOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, HeadBranch::Attention, removed);
  if (failed(kept))
    return failure();
  Location loc = getLoc();
  int64_t size = getHeadSize(), valueSize = getFeatures(getV()) / static_cast<int64_t>(getHeads());
  SmallVector<int64_t> slices;
  for (int64_t head : *kept)
    slices.push_back(getQuerySlice(head));
  SmallVector<int64_t> used = compactSlices(slices);
  Value mask = getHeadMask() ? selectBlocks(b, loc, getHeadMask(), 0, 1, *kept) : Value();
  auto op = SelfAttentionOp::create(
      b, loc, selectBlocks(b, loc, getQ(), 2, size, used), selectBlocks(b, loc, getK(), 2, size, *kept),
      selectBlocks(b, loc, getV(), 2, valueSize, *kept), getBias(), mask, b.getI64IntegerAttr(kept->size()),
      getScaleAttr(), getSlicesAttr(b, slices, used.size()), getWithProbabilitiesAttr());
  return SmallVector<Value>(op->getResults());
}

//===----------------------------------------------------------------------===//
// Dynamic convolution
//===----------------------------------------------------------------------===//

int64_t DynamicKernelOp::numHeads(HeadBranch branch) {
  return branch == HeadBranch::Convolution ? static_cast<int64_t>(getHeads()) : 0;
}

Slices DynamicKernelOp::slicesFor(Head head) {
  int64_t taps = getTaps();
  Slices slices{{1, outAxis(getLayout()), head.index * taps, taps, std::nullopt}};
  if (getBias())
    slices.push_back({2, 0, head.index * taps, taps, std::nullopt});
  return slices;
}

Values DynamicKernelOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, HeadBranch::Convolution, removed);
  if (failed(kept))
    return failure();
  Value weight = selectBlocks(b, getLoc(), getWeight(), outAxis(getLayout()), getTaps(), *kept);
  Value bias = getBias() ? selectBlocks(b, getLoc(), getBias(), 0, getTaps(), *kept) : Value();
  Value taps = DynamicKernelOp::create(b, getLoc(), getQ(), weight, bias, getSpanKey(), kept->size(), getNormalize(),
                                       getLayout());
  return SmallVector<Value>{taps};
}

int64_t ApplyKernelOp::numHeads(HeadBranch branch) {
  return branch == HeadBranch::Convolution ? getExtent(getTaps(), 2) : 0;
}

Slices ApplyKernelOp::slicesFor(Head head) {
  int64_t size = getFeatures(getV()) / numHeads(HeadBranch::Convolution);
  return {{0, 2, head.index * size, size, std::nullopt}, {1, 2, head.index, 1, std::nullopt}};
}

Values ApplyKernelOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, HeadBranch::Convolution, removed);
  if (failed(kept))
    return failure();
  int64_t size = getFeatures(getV()) / numHeads(HeadBranch::Convolution);
  auto op = ApplyKernelOp::create(b, getLoc(), selectBlocks(b, getLoc(), getV(), 2, size, *kept),
                                  selectBlocks(b, getLoc(), getTaps(), 2, 1, *kept), getMask(), getPadsAttr(),
                                  getNormalizeAttr(), getWithTapsAttr());
  return SmallVector<Value>(op->getResults());
}

int64_t SpanDynamicConvOp::numHeads(HeadBranch branch) {
  return branch == HeadBranch::Convolution ? static_cast<int64_t>(getHeads()) : 0;
}

/// Every head's taps rest on all of the query and the span-aware key: both stay.
Slices SpanDynamicConvOp::slicesFor(Head head) {
  int64_t size = getFeatures(getV()) / static_cast<int64_t>(getHeads()), taps = getTaps();
  Slices slices{{2, 2, head.index * size, size, std::nullopt},
                {3, outAxis(getLayout()), head.index * taps, taps, std::nullopt}};
  if (getBias())
    slices.push_back({4, 0, head.index * taps, taps, std::nullopt});
  return slices;
}

Values SpanDynamicConvOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, HeadBranch::Convolution, removed);
  if (failed(kept))
    return failure();
  Location loc = getLoc();
  int64_t size = getFeatures(getV()) / static_cast<int64_t>(getHeads());
  Value weight = selectBlocks(b, loc, getWeight(), outAxis(getLayout()), getTaps(), *kept);
  Value bias = getBias() ? selectBlocks(b, loc, getBias(), 0, getTaps(), *kept) : Value();
  Value y =
      SpanDynamicConvOp::create(b, loc, getQ(), getSpanKey(), selectBlocks(b, loc, getV(), 2, size, *kept), weight,
                                bias, getMask(), b.getI64IntegerAttr(kept->size()), getPadsAttr(), getLayoutAttr());
  return SmallVector<Value>{y};
}
