//===- HeadsMixed.cpp - HeadedInterface of mixed attention ------------------===//
//
// One query serves both branches, and every convolution head reads all of its product with the span-aware key.  So the
// query, the span-aware key and the columns of the generator stay while any convolution head does.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Blocks.h"
#include "dialect/IR/HeadsBuilder.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::convbert;

int64_t MixedAttentionOp::numHeads(HeadBranch branch) {
  return static_cast<int64_t>(branch == HeadBranch::Attention ? getAttnHeads() : getConvHeads());
}

namespace {

/// Numbers of the operands in ODS, where each of them is a group.
enum Operands { WQ = 1, BQ, WK, BK, WV, BV, WD, WP, BP, WF, BF, WC, BC, WO, BO, KeyBias, ConvMask, HeadMask };

/// Collects the slices of one head.
struct SliceCollector {
  MixedAttentionOp op;
  int64_t size = static_cast<int64_t>(op.getHeadSize());
  int64_t outAxis = op.getLayout() == WeightLayout::OutIn ? 0 : 1;
  SmallVector<HeadSlice> slices = {};

  void add(unsigned group, int64_t axis, int64_t offset, int64_t count, std::optional<KeepIf> keepIf = std::nullopt) {
    auto [index, length] = op.getODSOperandIndexAndLength(group);
    if (length > 0)
      slices.push_back({index, axis, offset, count, keepIf});
  }
  /// Output features of a dense layer and of its bias, which follows it.
  void addLayer(unsigned weight, int64_t offset, int64_t count, std::optional<KeepIf> keepIf = std::nullopt) {
    add(weight, outAxis, offset, count, keepIf);
    add(weight + 1, 0, offset, count, keepIf);
  }
  void addOutput(int64_t head) {
    add(WO, 1 - outAxis, head * size, size);
    add(HeadMask, 0, head, 1);
  }
};

} // namespace

SmallVector<HeadSlice> MixedAttentionOp::slicesFor(Head head) {
  SliceCollector collector{*this};
  int64_t h = head.index, size = static_cast<int64_t>(getHeadSize()), taps = getTaps();
  if (head.branch == HeadBranch::Attention) {
    // The query: while any convolution head stays, or another attention head that reads the same slice.
    std::optional<KeepIf> keepIf = KeepIf{HeadBranch::Convolution, std::nullopt};
    if (getConvHeads() == 0)
      keepIf = findOtherReader(getQueryHeads(), h);
    collector.addLayer(WQ, getQuerySlice(h) * size, size, keepIf);
    collector.addLayer(WK, h * size, size);
    collector.addLayer(WV, h * size, size,
                       sharesValues() ? std::optional(KeepIf{HeadBranch::Convolution, h}) : std::nullopt);
    collector.addOutput(h);
    return collector.slices;
  }
  if (sharesValues())
    collector.addLayer(WV, h * size, size, KeepIf{HeadBranch::Attention, h});
  collector.addLayer(WF, h * taps, taps);
  collector.addLayer(WC, h * size, size);
  collector.addOutput(static_cast<int64_t>(getAttnHeads()) + h);
  return collector.slices;
}

namespace {

/// Builds what is left of a mixed attention.
struct MixedRemover {
  MixedAttentionOp op;
  OpBuilder &b;
  SmallVector<int64_t> attn, conv; ///< heads that stay
  Location loc = op.getLoc();
  int64_t size = static_cast<int64_t>(op.getHeadSize());
  int64_t outAxis = op.getLayout() == WeightLayout::OutIn ? 0 : 1;

  Value rows(Value weight, int64_t count, ArrayRef<int64_t> blocks) {
    return weight && !blocks.empty() ? selectBlocks(b, loc, weight, outAxis, count, blocks) : Value();
  }
  Value elements(Value vector, int64_t count, ArrayRef<int64_t> blocks) {
    return vector && !blocks.empty() ? selectBlocks(b, loc, vector, 0, count, blocks) : Value();
  }

  /// What all heads together gave is the bias of the output layer.
  Value buildBiasAlone() {
    auto type = cast<RankedTensorType>(op.getWo().getType());
    SmallVector<int64_t> shape{getFeatures(op.getX()), getFeatures(op.getX())};
    shape[outAxis] = getExtent(op.getBo(), 0);
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.clone(shape)));
    return DenseOp::create(b, loc, op.getX(), zeros, op.getBo(), /*multiplier=*/Value(), op.getLayout(),
                           ActivationKind::Identity);
  }

  MixedAttentionOp build() {
    SmallVector<int64_t> slices, outputs(attn);
    for (int64_t head : attn)
      slices.push_back(op.getQuerySlice(head));
    for (int64_t head : conv)
      outputs.push_back(static_cast<int64_t>(op.getAttnHeads()) + head);
    // A query that meets no span-aware key keeps what attention reads.
    int64_t available = getExtent(op.getBq(), 0) / size;
    SmallVector<int64_t> used = getSlices(std::nullopt, available);
    if (conv.empty()) {
      used = compactSlices(slices);
      available = static_cast<int64_t>(used.size());
    }
    bool hasConv = !conv.empty();
    auto convOnly = [&](Value value) { return hasConv ? value : Value(); };
    // Shared values are shared no more where the branches keep different heads.
    bool separate = op.sharesValues() && hasConv && attn != conv;
    Value wc = separate ? op.getWv() : op.getWc(), bc = separate ? op.getBv() : op.getBc();
    int64_t taps = op.getTaps();
    return MixedAttentionOp::create(
        b, loc, op.getX(), rows(op.getWq(), size, used), elements(op.getBq(), size, used), rows(op.getWk(), size, attn),
        elements(op.getBk(), size, attn), rows(op.getWv(), size, attn), elements(op.getBv(), size, attn),
        convOnly(op.getWd()), convOnly(op.getWp()), convOnly(op.getBp()), rows(op.getWf(), taps, conv),
        elements(op.getBf(), taps, conv), rows(wc, size, conv), elements(bc, size, conv),
        selectBlocks(b, loc, op.getWo(), 1 - outAxis, size, outputs), op.getBo(), attn.empty() ? Value() : op.getBias(),
        convOnly(op.getConvMask()), elements(op.getHeadMask(), 1, outputs), b.getI64IntegerAttr(attn.size()),
        b.getI64IntegerAttr(conv.size()), op.getHeadSizeAttr(),
        getSlicesAttr(b, slices, static_cast<int64_t>(slices.size())),
        hasConv ? op.getSpanQueryHeadsAttr() : DenseI64ArrayAttr(), op.getWithProbabilitiesAttr(),
        op.getWithKernelsAttr(), op.getLayoutAttr());
  }
};

} // namespace

FailureOr<SmallVector<Value>> MixedAttentionOp::removeHeads(OpBuilder &b, ArrayRef<Head> removed) {
  FailureOr<SmallVector<int64_t>> attn =
      getKeptHeads(*this, HeadBranch::Attention, numHeads(HeadBranch::Attention), removed);
  FailureOr<SmallVector<int64_t>> conv =
      getKeptHeads(*this, HeadBranch::Convolution, numHeads(HeadBranch::Convolution), removed);
  if (failed(attn) || failed(conv))
    return failure();
  if ((attn->empty() && getWithProbabilities()) || (conv->empty() && getWithKernels()))
    return emitOpError() << "requires a head to stay in a branch whose probabilities or kernels are results, but found "
                            "all to be removed";
  MixedRemover remover{*this, b, *attn, *conv};
  if (attn->empty() && conv->empty())
    return SmallVector<Value>{remover.buildBiasAlone()};
  return SmallVector<Value>(remover.build()->getResults());
}
