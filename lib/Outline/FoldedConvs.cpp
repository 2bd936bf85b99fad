//===- FoldedConvs.cpp - Depthwise convolutions that are never made ---------===//

#include "lib/Outline/FoldedConvs.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// The convolution with one filter a channel and one result a token that makes `value`, or null.
static DepthwiseConv1DOp getConv(Value value) {
  auto conv = value.getDefiningOp<DepthwiseConv1DOp>();
  bool isPlain = conv && conv.keepsTokens() && getFeatures(conv.getX()) == getFeatures(conv.getResult());
  return isPlain ? conv : DepthwiseConv1DOp();
}

static bool isMean(Operation *op) {
  auto pool = dyn_cast_or_null<PoolOp>(op);
  return pool && pool.getKind() == PoolKind::Mean && !pool.getMask();
}

/// The convolutions that make the branches of `op` and nothing else, of the same rows; empty if there are others.
static SmallVector<DepthwiseConv1DOp> getBranchConvs(SelectBranchesOp op) {
  SmallVector<DepthwiseConv1DOp> convs;
  for (Value branch : op.getBranches()) {
    DepthwiseConv1DOp conv = getConv(branch);
    if (!conv || !branch.hasOneUse() || (!convs.empty() && conv.getX() != convs.front().getX()))
      return {};
    convs.push_back(conv);
  }
  return convs;
}

bool convbert::isFoldedConv(Value value) {
  DepthwiseConv1DOp conv = getConv(value);
  if (!conv || conv.getDilation() != 1 || !value.hasOneUse())
    return false;
  Operation *user = *value.user_begin();
  if (isMean(user))
    return true;
  auto select = dyn_cast<SelectBranchesOp>(user);
  SmallVector<DepthwiseConv1DOp> convs = select ? getBranchConvs(select) : SmallVector<DepthwiseConv1DOp>();
  return !convs.empty() && llvm::all_of(convs, [&](DepthwiseConv1DOp other) {
    return other.getDilation() == 1 && other.getPads() == conv.getPads() && !other.getBias() == !conv.getBias();
  });
}

namespace {

/// The window that covers those of some convolutions.
struct Cover {
  int64_t low = 0, high = 0, count = 0;
  bool hasBias = false;

  void add(DepthwiseConv1DOp conv) {
    low = std::max(low, conv.getPads()[0]);
    high = std::max(high, conv.getPads()[1]);
    hasBias |= static_cast<bool>(conv.getBias());
    ++count;
  }

  /// Whether one convolution with this window costs no more than to make them all: to write the rows of one and to read
  /// them for the mean and for the sum takes as long as some 16 taps of rows that are in the cache.
  bool pays() const { return low + 1 + high <= 16 * count; }

  /// The taps of `conv` in this window, C x (low + 1 + high), zeros between and around them.
  Value getTaps(OpBuilder &b, DepthwiseConv1DOp conv) const {
    Location loc = conv.getWeight().getLoc();
    Value taps = conv.getWeight();
    int64_t channels = getFeatures(conv.getX()), count = conv.getTaps(), step = conv.getDilation();
    auto type = [&](ArrayRef<int64_t> shape) {
      return RankedTensorType::get(shape, getElementTypeOrSelf(conv.getWeight().getType()));
    };
    if (conv.getLayout() == WeightLayout::InOut) {
      Value init = tensor::EmptyOp::create(b, loc, {channels, count}, type({}).getElementType());
      taps = linalg::TransposeOp::create(b, loc, taps, init, ArrayRef<int64_t>{1, 0})->getResult(0);
    }
    auto pad = [&](ArrayRef<int64_t> shape, int64_t before, int64_t behind) {
      SmallVector<OpFoldResult> low(shape.size(), b.getIndexAttr(0)), high(low);
      low.back() = b.getIndexAttr(before);
      high.back() = b.getIndexAttr(behind);
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type({}).getElementType()));
      taps = tensor::PadOp::create(b, loc, type(shape), taps, low, high, zero);
    };
    if (step != 1) {
      taps = tensor::ExpandShapeOp::create(b, loc, type({channels, count, 1}), taps,
                                           ArrayRef<ReassociationIndices>{{0}, {1, 2}});
      pad({channels, count, step}, 0, step - 1);
      taps = tensor::CollapseShapeOp::create(b, loc, taps, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
      count = (count - 1) * step + 1;
      SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0)), strides(2, b.getIndexAttr(1)),
          sizes{b.getIndexAttr(channels), b.getIndexAttr(count)};
      taps = tensor::ExtractSliceOp::create(b, loc, type({channels, count}), taps, offsets, sizes, strides);
    }
    int64_t before = low - conv.getPads()[0], behind = high - conv.getPads()[1];
    if (before || behind)
      pad({channels, before + count + behind}, before, behind);
    return taps;
  }

  /// The bias of `conv`; zeros if only others have one.
  Value getBias(OpBuilder &b, DepthwiseConv1DOp conv) const {
    if (conv.getBias() || !hasBias)
      return conv.getBias();
    auto type = RankedTensorType::get({getFeatures(conv.getX())}, getElementTypeOrSelf(conv.getWeight().getType()));
    return arith::ConstantOp::create(b, conv.getLoc(), cast<TypedAttr>(b.getZeroAttr(type)));
  }

  /// A convolution of what `conv` reads with this window.
  Value build(OpBuilder &b, Location loc, DepthwiseConv1DOp conv, Value taps, Value bias) const {
    return DepthwiseConv1DOp::create(b, loc, conv.getType(), conv.getX(), taps, bias,
                                     b.getDenseI64ArrayAttr({low, high}),
                                     /*stride=*/b.getI64IntegerAttr(1), /*dilation=*/b.getI64IntegerAttr(1),
                                     WeightLayoutAttr::get(b.getContext(), WeightLayout::OutIn));
  }
};

} // namespace

/// The mean of the first convolution plus the mean of the second is that of one.
static void mergeMeans(RewriterBase &rewriter, arith::AddFOp sum) {
  Operation *first = sum.getLhs().getDefiningOp(), *second = sum.getRhs().getDefiningOp();
  if (!isMean(first) || !isMean(second) || !first->hasOneUse() || !second->hasOneUse())
    return;
  DepthwiseConv1DOp convs[] = {getConv(first->getOperand(0)), getConv(second->getOperand(0))};
  if (!convs[0] || !convs[1] || convs[0] == convs[1] || convs[0].getX() != convs[1].getX() ||
      convs[0].getType() != convs[1].getType())
    return;
  // Sums of what is narrower would be rounded.
  Cover cover;
  for (DepthwiseConv1DOp conv : convs) {
    if (!getElementTypeOrSelf(conv.getWeight().getType()).isF32())
      return;
    cover.add(conv);
  }
  if (!cover.pays())
    return;
  rewriter.setInsertionPoint(sum);
  auto add = [&](Value x, Value y) -> Value { return arith::AddFOp::create(rewriter, sum.getLoc(), x, y); };
  Value taps = cover.getTaps(rewriter, convs[0]), bias = cover.getBias(rewriter, convs[0]);
  taps = add(taps, cover.getTaps(rewriter, convs[1]));
  bias = bias ? add(bias, cover.getBias(rewriter, convs[1])) : bias;
  Value conv = cover.build(rewriter, sum.getLoc(), convs[0], taps, bias);
  auto mean = PoolOp::create(rewriter, sum.getLoc(), sum.getType(), conv, /*mask=*/Value(), PoolKind::Mean);
  rewriter.replaceOp(sum, mean.getResult());
  for (Operation *pool : {first, second})
    rewriter.eraseOp(pool);
  for (DepthwiseConv1DOp made : convs)
    if (made->use_empty())
      rewriter.eraseOp(made);
}

static void coverBranches(RewriterBase &rewriter, SelectBranchesOp op) {
  Cover cover;
  SmallVector<DepthwiseConv1DOp> convs = getBranchConvs(op);
  for (DepthwiseConv1DOp conv : convs)
    cover.add(conv);
  if (!cover.pays())
    return;
  for (DepthwiseConv1DOp conv : convs) {
    rewriter.setInsertionPoint(conv);
    Value taps = cover.getTaps(rewriter, conv), bias = cover.getBias(rewriter, conv);
    rewriter.replaceOp(conv, cover.build(rewriter, conv.getLoc(), conv, taps, bias));
  }
}

void convbert::foldConvs(RewriterBase &rewriter, func::FuncOp fn) {
  Block &body = fn.getBody().front();
  for (arith::AddFOp sum : llvm::to_vector(body.getOps<arith::AddFOp>()))
    mergeMeans(rewriter, sum);
  for (SelectBranchesOp select : llvm::to_vector(body.getOps<SelectBranchesOp>()))
    coverBranches(rewriter, select);
}
