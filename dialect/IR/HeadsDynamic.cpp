//===- HeadsDynamic.cpp - HeadedInterface of convolutions by heads ----------===//

#include "dialect/IR/Blocks.h"
#include "dialect/IR/HeadsBuilder.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Slices = SmallVector<HeadSlice>;
using Values = FailureOr<SmallVector<Value>>;

static constexpr HeadBranch kBranch = HeadBranch::Convolution;

/// The axis of a dense weight's output features.
static int64_t outAxis(WeightLayout layout) { return layout == WeightLayout::OutIn ? 0 : 1; }

//===----------------------------------------------------------------------===//
// Channels of heads
//===----------------------------------------------------------------------===//

/// Adds the channels of `head`, of `heads`, among the `channels` along `axis` of an operand.
static void addChannels(Slices &slices, unsigned operand, int64_t axis, int64_t channels, int64_t heads, int64_t head,
                        HeadMap map, std::optional<KeepIf> keepIf = std::nullopt) {
  int64_t size = channels / heads;
  if (map == HeadMap::Blocked)
    slices.push_back({operand, axis, head * size, size, keepIf});
  else
    slices.push_back({operand, axis, head, size, keepIf, heads});
}

/// The channels of the `kept` heads, of `heads`, along the last axis, in the order of `map`.
static Value selectChannels(OpBuilder &b, Location loc, Value tensor, int64_t heads, HeadMap map,
                            ArrayRef<int64_t> kept) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t last = type.getRank() - 1, size = type.getDimSize(last) / heads;
  if (map == HeadMap::Blocked || static_cast<int64_t>(kept.size()) == heads)
    return selectBlocks(b, loc, tensor, last, size, kept);
  // As R x H channels a head is a column: one slice for each run of heads, whatever R is.
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim <= last; ++dim)
    groups.push_back({dim});
  groups.back().push_back(last + 1);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = size;
  shape.push_back(heads);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  sizes.back() = b.getIndexAttr(size);
  sizes.push_back(b.getIndexAttr(heads));
  Value columns = tensor::ExpandShapeOp::create(b, loc, type.clone(shape), tensor, groups, sizes);
  return tensor::CollapseShapeOp::create(b, loc, selectBlocks(b, loc, columns, last + 1, 1, kept), groups);
}

//===----------------------------------------------------------------------===//
// Lightweight convolution
//===----------------------------------------------------------------------===//

int64_t LightConvOp::numHeads(HeadBranch branch) { return branch == kBranch ? getExtent(getWeight(), 0) : 0; }

Slices LightConvOp::slicesFor(Head head) {
  int64_t channels = getFeatures(getX()), heads = numHeads(kBranch);
  Slices slices;
  addChannels(slices, 0, 2, channels, heads, head.index, getHeadMap());
  slices.push_back({1, 0, head.index, 1, std::nullopt});
  if (getBias())
    addChannels(slices, 2, 0, channels, heads, head.index, getHeadMap());
  return slices;
}

Values LightConvOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, kBranch, removed);
  if (failed(kept))
    return failure();
  Location loc = getLoc();
  int64_t heads = numHeads(kBranch);
  auto channels = [&](Value value) { return selectChannels(b, loc, value, heads, getHeadMap(), *kept); };
  Value y = LightConvOp::create(b, loc, channels(getX()), selectBlocks(b, loc, getWeight(), 0, 1, *kept),
                                getBias() ? channels(getBias()) : Value(), getPadsAttr(), getDilationAttr(),
                                getNormalizeAttr(), getEdgeAttr(), getHeadMapAttr());
  return SmallVector<Value>{y};
}

//===----------------------------------------------------------------------===//
// Dynamic convolution
//===----------------------------------------------------------------------===//

int64_t DynamicKernelOp::numHeads(HeadBranch branch) {
  return branch == kBranch ? static_cast<int64_t>(getHeads()) : 0;
}

Slices DynamicKernelOp::slicesFor(Head head) {
  int64_t taps = getTaps();
  Slices slices{{1, outAxis(getLayout()), head.index * taps, taps, std::nullopt}};
  if (getBias())
    slices.push_back({2, 0, head.index * taps, taps, std::nullopt});
  return slices;
}

Values DynamicKernelOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, kBranch, removed);
  if (failed(kept))
    return failure();
  Value weight = selectBlocks(b, getLoc(), getWeight(), outAxis(getLayout()), getTaps(), *kept);
  Value bias = getBias() ? selectBlocks(b, getLoc(), getBias(), 0, getTaps(), *kept) : Value();
  Value taps = DynamicKernelOp::create(b, getLoc(), getQ(), weight, bias, getSpanKey(), kept->size(), getNormalize(),
                                       getLayout(), getEdge(), getPadsAttr(), getDilation());
  return SmallVector<Value>{taps};
}

int64_t ApplyKernelOp::numHeads(HeadBranch branch) { return branch == kBranch ? getExtent(getTaps(), 2) : 0; }

Slices ApplyKernelOp::slicesFor(Head head) {
  Slices slices;
  addChannels(slices, 0, 2, getFeatures(getV()), numHeads(kBranch), head.index, getHeadMap());
  slices.push_back({1, 2, head.index, 1, std::nullopt});
  return slices;
}

Values ApplyKernelOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, kBranch, removed);
  if (failed(kept))
    return failure();
  Value v = selectChannels(b, getLoc(), getV(), numHeads(kBranch), getHeadMap(), *kept);
  auto op =
      ApplyKernelOp::create(b, getLoc(), v, selectBlocks(b, getLoc(), getTaps(), 2, 1, *kept), getMask(), getPadsAttr(),
                            getNormalizeAttr(), getWithTapsAttr(), getDilationAttr(), getEdgeAttr(), getHeadMapAttr());
  return SmallVector<Value>(op->getResults());
}

int64_t DynamicConvOp::numHeads(HeadBranch branch) { return branch == kBranch ? static_cast<int64_t>(getHeads()) : 0; }

/// Without a query, every head's taps rest on all channels of `x`.
Slices DynamicConvOp::slicesFor(Head head) {
  int64_t channels = getFeatures(getX()), heads = static_cast<int64_t>(getHeads()), taps = getTaps();
  std::optional<KeepIf> keepIf;
  if (!getQuery())
    keepIf = KeepIf{kBranch, std::nullopt};
  Slices slices;
  addChannels(slices, 0, 2, channels, heads, head.index, getHeadMap(), keepIf);
  slices.push_back({1, outAxis(getLayout()), head.index * taps, taps, std::nullopt});
  if (getBias())
    slices.push_back({2, 0, head.index * taps, taps, std::nullopt});
  if (getChannelBias())
    addChannels(slices, getODSOperandIndexAndLength(4).first, 0, channels, heads, head.index, getHeadMap());
  return slices;
}

Values DynamicConvOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, kBranch, removed);
  if (failed(kept))
    return failure();
  Location loc = getLoc();
  int64_t heads = static_cast<int64_t>(getHeads()), taps = getTaps();
  bool keepsAll = static_cast<int64_t>(kept->size()) == heads;
  auto channels = [&](Value value) { return selectChannels(b, loc, value, heads, getHeadMap(), *kept); };
  Value weight = selectBlocks(b, loc, getWeight(), outAxis(getLayout()), taps, *kept);
  Value bias = getBias() ? selectBlocks(b, loc, getBias(), 0, taps, *kept) : Value();
  Value y = DynamicConvOp::create(b, loc, channels(getX()), weight, bias, keepsAll ? getQuery() : getGeneratorInput(),
                                  getChannelBias() ? channels(getChannelBias()) : Value(),
                                  b.getI64IntegerAttr(kept->size()), getPadsAttr(), getDilationAttr(),
                                  getNormalizeAttr(), getEdgeAttr(), getHeadMapAttr(), getLayoutAttr());
  return SmallVector<Value>{y};
}

//===----------------------------------------------------------------------===//
// Span-based dynamic convolution
//===----------------------------------------------------------------------===//

int64_t SpanDynamicConvOp::numHeads(HeadBranch branch) {
  return branch == kBranch ? static_cast<int64_t>(getHeads()) : 0;
}

/// Every head's taps rest on all of the query and the span-aware key: both stay.
Slices SpanDynamicConvOp::slicesFor(Head head) {
  int64_t taps = getTaps();
  Slices slices;
  addChannels(slices, 2, 2, getFeatures(getV()), static_cast<int64_t>(getHeads()), head.index, getHeadMap());
  slices.push_back({3, outAxis(getLayout()), head.index * taps, taps, std::nullopt});
  if (getBias())
    slices.push_back({4, 0, head.index * taps, taps, std::nullopt});
  return slices;
}

Values SpanDynamicConvOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> kept = getKeptOfOne(*this, kBranch, removed);
  if (failed(kept))
    return failure();
  Location loc = getLoc();
  Value v = selectChannels(b, loc, getV(), static_cast<int64_t>(getHeads()), getHeadMap(), *kept);
  Value weight = selectBlocks(b, loc, getWeight(), outAxis(getLayout()), getTaps(), *kept);
  Value bias = getBias() ? selectBlocks(b, loc, getBias(), 0, getTaps(), *kept) : Value();
  Value y = SpanDynamicConvOp::create(b, loc, getQ(), getSpanKey(), v, weight, bias, getMask(),
                                      b.getI64IntegerAttr(kept->size()), getPadsAttr(), getLayoutAttr(),
                                      getDilationAttr(), getEdgeAttr(), getHeadMapAttr());
  return SmallVector<Value>{y};
}
