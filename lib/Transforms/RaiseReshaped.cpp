//===- RaiseReshaped.cpp - Recognises dynamic convolutions among reshapes -===//
//
// Frameworks that have no dynamic convolution copy all windows, join batch, tokens and heads to one axis, and multiply
// by the taps of each: [N, D, K] x [N, K, 1] or [N, 1, K] x [N, K, D].  Which element of the sequence a product reads
// is followed through the copies and reshapes in between; that, and nothing about their order, decides.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Transforms/RaiseElements.h"
#include "lib/Transforms/RaiseWindow.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// A batch matrix product that is a dynamic convolution.
class Product {
public:
  Product(PatternRewriter &b, linalg::BatchMatmulOp op) : b(b), op(op), loc(op.getLoc()) {}

  LogicalResult run() {
    if (op.hasUserDefinedMaps() || !op.hasPureTensorSemantics() || !isZeroTensor(op.getDpsInits()[0]))
      return b.notifyMatchFailure(op, "does not start at zero");
    bool isRow = getType(op.getDpsInits()[0]).getDimSize(1) == 1; // taps times windows
    if (!isRow && getType(op.getDpsInits()[0]).getDimSize(2) != 1)
      return b.notifyMatchFailure(op, "multiplies by more than one column");
    auto joined = op.getDpsInputs()[isRow].getDefiningOp<tensor::CollapseShapeOp>();
    if (!joined || joined.getSrcType().getRank() != kLoops ||
        joined.getReassociationIndices() != SmallVector<ReassociationIndices>{{0, 1, 2}, {3}, {4}})
      return b.notifyMatchFailure(op, "reads no windows whose batch, tokens and heads are joined");
    if (failed(follow(joined, isRow)) || failed(sortLoops()))
      return b.notifyMatchFailure(op, "reads no windows of tokens");
    Value logits = matchTaps(op.getDpsInputs()[!isRow], isRow ? 2 : 1);
    if (!logits)
      return b.notifyMatchFailure(op, "has taps that are no softmax over the taps");
    replace(logits, isRow);
    return success();
  }

private:
  static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

  /// From the windows back to the sequence, and the zeros around it.
  LogicalResult follow(tensor::CollapseShapeOp joined, bool isRow) {
    RankedTensorType type = joined.getSrcType();
    SmallVector<unsigned> order{0, 1, 2, isRow ? kTap : kFeature, isRow ? kFeature : kTap};
    x = {joined.getSrc(), AffineMap::getMultiDimMapWithTargets(kLoops, order, op.getContext()),
         SmallVector<int64_t>(kLoops)};
    for (auto [axis, loop] : llvm::enumerate(order))
      x.extents[loop] = type.getDimSize(axis);
    if (ShapedType::isDynamic(x.extents[kFeature]) || ShapedType::isDynamic(x.extents[kTap]))
      return failure();
    while (x.readThroughCopy(b) || x.readThroughExpand() || x.readThroughCollapse())
      ;
    for (unsigned axis = 0; axis < x.map.getNumResults(); ++axis)
      if (std::optional<SmallVector<int64_t>> used = x.coefficients(axis); used && (*used)[kTap] != 0)
        peelPadding(x.value, axis, low, high);
    while (x.readThroughExpand() || x.readThroughTranspose())
      ;
    return success(x.map.getNumResults() == 3);
  }

  /// Which of the joined loops is which, and that each runs over all that the sequence has.
  LogicalResult sortLoops() {
    axes.assign(3, 3);
    for (unsigned axis = 0; axis < 3; ++axis) {
      std::optional<SmallVector<int64_t>> used = x.coefficients(axis);
      if (!used)
        return failure();
      SmallVector<unsigned> outer;
      for (unsigned i = 0; i < kFeature; ++i)
        if ((*used)[i] != 0)
          outer.push_back(i);
      int64_t feature = (*used)[kFeature], tap = (*used)[kTap];
      if (outer.size() != 1 || (feature != 0 && tap != 0))
        return failure();
      unsigned loop = outer.front();
      int64_t factor = (*used)[loop], size = x.extents[kFeature], heads = x.extents[loop];
      if (tap != 0) {
        if (factor != 1 || tap < 1)
          return failure();
        dilation = tap;
        token = loop;
        axes[1] = axis;
      } else if (feature != 0) {
        isInterleaved = factor == 1 && feature == heads && heads > 1 && size > 1;
        if (ShapedType::isDynamic(heads) || (!isInterleaved && (factor != size || feature != 1)) ||
            getType(x.value).getDimSize(axis) != heads * size)
          return failure();
        head = loop;
        axes[2] = axis;
      } else if (factor == 1) {
        batch = loop;
        axes[0] = axis;
      }
    }
    bool isEachOnce = batch != token && token != head && head != batch;
    if (llvm::is_contained(axes, 3u) || !isEachOnce || low + high != (x.extents[kTap] - 1) * dilation)
      return failure();
    auto runsOver = [&](unsigned loop, unsigned axis) {
      int64_t size = getType(x.value).getDimSize(axis);
      return ShapedType::isDynamic(size) ? x.made[loop] && isExtentOf(x.made[loop], x.value, axis)
                                         : size == x.extents[loop];
    };
    return success(runsOver(batch, axes[0]) && runsOver(token, axes[1]));
  }

  /// The logits of `taps`, whose axis `axis` is that of the taps, with an axis of extent 1 somewhere: [N, K], or with
  /// the joined loops apart.
  Value matchTaps(Value taps, int64_t axis) {
    if (auto softmax = taps.getDefiningOp<linalg::SoftmaxOp>())
      return static_cast<int64_t>(softmax.getDimension()) == axis ? softmax.getInput() : Value();
    if (axis == 2)
      if (Value logits = matchSoftmax(taps))
        return logits;
    if (auto expand = taps.getDefiningOp<tensor::ExpandShapeOp>();
        expand && expand.getSrcType().getRank() == 2 && expand.getSrcType().getDimSize(1) == x.extents[kTap]) {
      taps = expand.getSrc();
      if (Value logits = matchSoftmax(taps))
        return logits;
    }
    auto collapse = taps.getDefiningOp<tensor::CollapseShapeOp>();
    bool isApart = collapse && collapse.getSrcType().getRank() == 4 && getType(taps).getRank() == 2 &&
                   collapse.getReassociationIndices()[0].size() == 3;
    return isApart ? matchSoftmax(collapse.getSrc()) : Value();
  }

  /// [N, K], with or without axes of extent 1, or with N apart, as batch, token, head and tap.
  Value apart(Value logits, Value sequence) {
    int64_t taps = x.extents[kTap];
    SmallVector<ReassociationIndices> joined{{0}, {1, 2}};
    if (getType(logits).getRank() == 4)
      joined = {{0, 1, 2}, {3}};
    if (getType(logits).getRank() != 2)
      logits = tensor::CollapseShapeOp::create(b, loc, logits, joined);
    SmallVector<OpFoldResult> sizes(4, b.getIndexAttr(x.extents[head]));
    sizes[batch] = tensor::getMixedSize(b, loc, sequence, 0);
    sizes[token] = tensor::getMixedSize(b, loc, sequence, 1);
    sizes[3] = b.getIndexAttr(taps);
    SmallVector<int64_t> shape;
    SmallVector<Value> ignored;
    dispatchIndexOpFoldResults(sizes, ignored, shape);
    logits = tensor::ExpandShapeOp::create(b, loc, getType(logits).clone(shape), logits, {{0, 1, 2}, {3}}, sizes);
    return arrange(b, loc, logits, {0, 1, 2, kTap}, {batch, token, head, kTap});
  }

  void replace(Value logits, bool isRow) {
    SmallVector<unsigned> have(3);
    for (unsigned role = 0; role < 3; ++role)
      have[axes[role]] = role;
    Value sequence = arrange(b, loc, x.value, have, {0, 1, 2});
    Value result = ApplyKernelOp::create(b, loc, sequence, apart(logits, sequence), /*mask=*/Value(),
                                         b.getDenseI64ArrayAttr({low, high}), KernelNorm::Softmax, /*with_taps=*/false,
                                         dilation, Edge::Zero, isInterleaved ? HeadMap::Interleaved : HeadMap::Blocked)
                       .getResult();
    RankedTensorType type = getType(result);
    SmallVector<unsigned> loops{batch, token, head, kFeature};
    if (isInterleaved)
      std::swap(loops[2], loops[3]);
    SmallVector<int64_t> shape{type.getDimSize(0), type.getDimSize(1), x.extents[loops[2]], x.extents[loops[3]]};
    result = tensor::ExpandShapeOp::create(b, loc, type.clone(shape), result, {{0}, {1}, {2, 3}});
    result = arrange(b, loc, result, loops, {0, 1, 2, kFeature});
    result = tensor::CollapseShapeOp::create(b, loc, result, {{0, 1, 2}, {3}});
    int64_t joined = getType(result).getDimSize(0), features = x.extents[kFeature];
    type = type.clone(isRow ? ArrayRef{joined, int64_t(1), features} : ArrayRef{joined, features, int64_t(1)});
    result = tensor::ExpandShapeOp::create(b, loc, type, result, {{0}, {1, 2}});
    if (type != op->getResult(0).getType())
      result = tensor::CastOp::create(b, loc, op->getResult(0).getType(), result);
    b.replaceOp(op, result);
  }

  PatternRewriter &b;
  linalg::BatchMatmulOp op;
  Location loc;
  ReadElement x;
  int64_t low = 0, high = 0, dilation = 1;
  unsigned batch = 0, token = 0, head = 0;
  SmallVector<unsigned> axes; ///< of the sequence: batch, token, features
  bool isInterleaved = false;
};

} // namespace

LogicalResult convbert::raiseReshapedProduct(linalg::LinalgOp op, PatternRewriter &rewriter) {
  auto product = dyn_cast<linalg::BatchMatmulOp>(op.getOperation());
  return product ? Product(rewriter, product).run() : failure();
}
