//===- Raise.cpp - From linalg to the operations of the dialect -----------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_RAISEPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

static int64_t indexOf(ArrayRef<unsigned> dims, unsigned dim) { return llvm::find(dims, dim) - dims.begin(); }

/// One axis for the axes `first` and the next.
static SmallVector<ReassociationIndices> joining(int64_t rank, int64_t first) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i)
    if (i == first + 1)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  return groups;
}

namespace {

/// Builds the operation of the dialect that computes a WindowSum.
class Raising {
public:
  Raising(PatternRewriter &b, linalg::LinalgOp op, const WindowSum &sum) : b(b), op(op), loc(op.getLoc()), sum(sum) {}

  LogicalResult run() {
    if (failed(checkExtents()))
      return failure();
    // Heads may be the inner axis: every H-th channel belongs to one.
    isInterleaved = sum.shared && sum.kept && indexOf(sum.xDims, *sum.kept) < indexOf(sum.xDims, *sum.shared) &&
                    indexOf(sum.outDims, *sum.kept) < indexOf(sum.outDims, *sum.shared);
    FailureOr<Value> result = build();
    if (failed(result))
      return failure();
    finish(*result);
    return success();
  }

private:
  int64_t extent(Value value, ArrayRef<unsigned> dims, unsigned dim) {
    return cast<RankedTensorType>(value.getType()).getDimSize(indexOf(dims, dim));
  }
  int64_t taps() { return extent(sum.weight, sum.weightDims, sum.tap); }
  bool keepsTokens() { return sum.stride == 1 && sum.low + sum.high == (taps() - 1) * sum.dilation; }

  /// Everything but batch and tokens is static, and the result has as many tokens as windows fit.
  LogicalResult checkExtents() {
    for (unsigned i = 0; i < sum.weightDims.size(); ++i)
      if (cast<RankedTensorType>(sum.weight.getType()).isDynamicDim(i) && sum.weightDims[i] != sum.batch &&
          sum.weightDims[i] != sum.token)
        return b.notifyMatchFailure(op, "has a weight of unknown size");
    for (std::optional<unsigned> dim : {sum.shared, sum.kept, sum.summed})
      if (dim && ShapedType::isDynamic(extent(sum.x, sum.xDims, *dim)))
        return b.notifyMatchFailure(op, "has features of unknown number");
    int64_t tokens = extent(sum.x, sum.xDims, sum.token), axis = indexOf(sum.xDims, sum.token);
    OpFoldResult made = getExtent(b, sum.start, indexOf(sum.outDims, sum.token));
    std::optional<int64_t> known = made ? getConstantIntValue(made) : std::nullopt;
    int64_t extra = sum.low + sum.high - (taps() - 1) * sum.dilation - 1;
    if (known && !ShapedType::isDynamic(tokens))
      return *known == (tokens + extra) / sum.stride + 1
                 ? success()
                 : b.notifyMatchFailure(op, "has other tokens than windows fit");
    using Bounds = ValueBoundsConstraintSet;
    AffineExpr windows = (b.getAffineDimExpr(0) + extra).floorDiv(sum.stride) + 1;
    FailureOr<bool> fits = failure();
    if (made)
      fits = Bounds::areEqual(made, {AffineMap::get(1, 0, windows), {Bounds::Variable(sum.x, axis)}});
    return succeeded(fits) && *fits ? success() : b.notifyMatchFailure(op, "may have other tokens than windows fit");
  }

  /// Axes in the order of the dialect: batch, token, features, of which there are one or two.
  SmallVector<unsigned> sequenceDims(std::optional<unsigned> inner) {
    SmallVector<unsigned> dims{sum.batch, sum.token};
    for (std::optional<unsigned> dim : {sum.shared, inner})
      if (dim)
        dims.push_back(*dim);
    if (isInterleaved)
      std::swap(dims[2], dims[3]);
    return dims;
  }

  Value joined(Value value, int64_t first) {
    auto type = cast<RankedTensorType>(value.getType());
    return tensor::CollapseShapeOp::create(b, loc, value, joining(type.getRank(), first));
  }

  Value sequence() {
    SmallVector<unsigned> want = sequenceDims(sum.kept ? sum.kept : sum.summed);
    Value x = arrange(b, loc, sum.x, sum.xDims, want);
    return want.size() == 4 ? joined(x, 2) : x;
  }

  Value weight(ArrayRef<unsigned> want) { return arrange(b, loc, sum.weight, sum.weightDims, want); }

  FailureOr<Value> build() {
    DenseI64ArrayAttr pads = b.getDenseI64ArrayAttr({sum.low, sum.high});
    HeadMap heads = isInterleaved ? HeadMap::Interleaved : HeadMap::Blocked;
    if (sum.isDynamic) {
      if (!sum.shared || sum.made || sum.summed || !keepsTokens())
        return b.notifyMatchFailure(op, "differs from token to token, but is no dynamic convolution");
      Value logits = sum.weightDims.back() == sum.tap ? matchSoftmax(sum.weight) : Value();
      if (!logits)
        return b.notifyMatchFailure(op, "has taps that are no softmax over the taps");
      logits = arrange(b, loc, logits, sum.weightDims, {sum.batch, sum.token, *sum.shared, sum.tap});
      return ApplyKernelOp::create(b, loc, sequence(), logits, /*mask=*/Value(), pads, KernelNorm::Softmax,
                                   /*with_taps=*/false, sum.dilation, Edge::Zero, heads)
          .getResult();
    }
    if (sum.summed && sum.made && !sum.kept)
      return buildConv(pads);
    if (!sum.shared || sum.summed)
      return b.notifyMatchFailure(op, "is no convolution of the dialect");
    if (sum.kept && !sum.made) {
      if (!keepsTokens())
        return b.notifyMatchFailure(op, "shares taps between channels, but changes the number of tokens");
      Value logits = sum.weightDims.back() == sum.tap ? matchSoftmax(sum.weight) : Value();
      Value taps = arrange(b, loc, logits ? logits : sum.weight, sum.weightDims, {*sum.shared, sum.tap});
      KernelNorm norm = logits ? KernelNorm::Softmax : KernelNorm::None;
      return LightConvOp::create(b, loc, sequence(), taps, /*bias=*/Value(), pads, sum.dilation, norm, Edge::Zero,
                                 heads)
          .getResult();
    }
    if (sum.kept)
      return b.notifyMatchFailure(op, "is no convolution of the dialect");
    return buildDepthwise(pads);
  }

  FailureOr<Value> buildConv(DenseI64ArrayAttr pads) {
    bool isInOut = sum.weightDims == SmallVector<unsigned>{sum.tap, *sum.summed, *sum.made};
    SmallVector<unsigned> want{*sum.made, *sum.summed, sum.tap};
    int64_t groups = 1;
    if (sum.shared) {
      want.insert(want.begin(), *sum.shared);
      groups = extent(sum.x, sum.xDims, *sum.shared);
    }
    Value w = isInOut ? sum.weight : weight(want);
    w = sum.shared ? joined(w, 0) : w;
    return Conv1DOp::create(b, loc, sequence(), w, /*bias=*/Value(), pads, sum.stride, sum.dilation, groups,
                            isInOut ? WeightLayout::InOut : WeightLayout::OutIn)
        .getResult();
  }

  FailureOr<Value> buildDepthwise(DenseI64ArrayAttr pads) {
    bool isInOut = sum.weightDims == SmallVector<unsigned>{sum.tap, *sum.shared};
    SmallVector<unsigned> want{*sum.shared, sum.tap};
    if (sum.made)
      want.insert(want.begin() + 1, *sum.made);
    Value w = isInOut ? sum.weight : weight(want);
    w = sum.made ? joined(w, 0) : w;
    return DepthwiseConv1DOp::create(b, loc, sequence(), w, /*bias=*/Value(), pads, sum.stride, sum.dilation,
                                     isInOut ? WeightLayout::InOut : WeightLayout::OutIn)
        .getResult();
  }

  /// Replaces the operation by `result`, with the axes that it had.
  void finish(Value result) {
    SmallVector<unsigned> dims = sequenceDims(sum.kept ? sum.kept : sum.made);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (dims.size() == 4) {
      SmallVector<int64_t> shape;
      for (unsigned dim : dims)
        shape.push_back(type.getDimSize(indexOf(sum.outDims, dim)));
      auto own = cast<RankedTensorType>(result.getType());
      shape[0] = own.getDimSize(0);
      shape[1] = own.getDimSize(1);
      result = tensor::ExpandShapeOp::create(b, loc, own.clone(shape), result, joining(4, 2));
    }
    result = arrange(b, loc, result, dims, sum.outDims);
    if (result.getType() != type)
      result = tensor::CastOp::create(b, loc, type, result);
    b.replaceOp(op, result);
  }

  PatternRewriter &b;
  linalg::LinalgOp op;
  Location loc;
  const WindowSum &sum;
  bool isInterleaved = false;
};

/// The operation of the dialect for the sum that `match` finds.
template <FailureOr<WindowSum> (*match)(linalg::LinalgOp, PatternRewriter &)>
LogicalResult raiseSum(linalg::LinalgOp op, PatternRewriter &rewriter) {
  FailureOr<WindowSum> sum = match(op, rewriter);
  return failed(sum) ? failure() : Raising(rewriter, op, *sum).run();
}

template <LogicalResult (*raise)(linalg::LinalgOp, PatternRewriter &)>
struct RaisePattern : OpInterfaceRewritePattern<linalg::LinalgOp> {
  RaisePattern(MLIRContext *context, bool &changed, Pass::Statistic &raised)
      : OpInterfaceRewritePattern(context), changed(changed), raised(raised) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (failed(raise(op, rewriter)))
      return failure();
    changed = true;
    ++raised;
    return success();
  }

  bool &changed;
  Pass::Statistic &raised;
};

struct RaisePass : convbert::impl::RaisePassBase<RaisePass> {
  void runOnOperation() override {
    bool changed = false;
    RewritePatternSet patterns(&getContext());
    patterns.add<RaisePattern<raiseSum<matchWindowSum>>, RaisePattern<raiseSum<matchShiftedSums>>,
                 RaisePattern<raiseReshapedProduct>>(&getContext(), changed, raised);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (!changed)
      return;
    RewritePatternSet cleanup(&getContext());
    populateCancelReshapesPatterns(cleanup);
    if (failed(applyPatternsGreedily(getOperation(), std::move(cleanup))))
      signalPassFailure();
  }
};

} // namespace
