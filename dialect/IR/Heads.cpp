//===- Heads.cpp - HeadedInterface: what is shared, and self-attention ------===//

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

FailureOr<SmallVector<int64_t>> convbert::getKeptOfOne(Operation *op, HeadBranch branch, ArrayRef<Head> removed) {
  HeadBranch other = branch == HeadBranch::Attention ? HeadBranch::Convolution : HeadBranch::Attention;
  if (failed(getKeptHeads(op, other, 0, removed)))
    return failure();
  FailureOr<SmallVector<int64_t>> kept = getKeptHeads(op, branch, cast<HeadedInterface>(op).numHeads(branch), removed);
  if (succeeded(kept) && kept->empty())
    return op->emitOpError() << "requires a head to stay, but found all to be removed";
  return kept;
}

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
