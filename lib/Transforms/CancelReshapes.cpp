//===- CancelReshapes.cpp - Joins axes and takes them apart again: nothing ===//

#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::convbert;

/// True if both are one constant, one value, or the same dimension of one tensor.
static bool isSameSize(OpFoldResult a, OpFoldResult b) {
  if (isEqualConstantIntOrValue(a, b))
    return true;
  auto getDim = [](OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  };
  tensor::DimOp x = getDim(a), y = getDim(b);
  return x && y && x.getSource() == y.getSource() && x.getConstantIndex() &&
         x.getConstantIndex() == y.getConstantIndex();
}

/// True if `size` is the extent of `tensor` along `axis`.
static bool isKnownExtent(OpFoldResult size, Value tensor, int64_t axis) {
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>())
    return isSameSize(size, expand.getMixedOutputShape()[axis]);
  return isExtentOf(size, tensor, axis);
}

namespace {

/// Upstream folds this where one extent of a group at most is dynamic: the others say what it is.
struct ExpandOfCollapse : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp expand, PatternRewriter &rewriter) const override {
    auto collapse = expand.getSrc().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || collapse.getSrcType() != expand.getResultType() ||
        collapse.getReassociationIndices() != expand.getReassociationIndices())
      return rewriter.notifyMatchFailure(expand, "takes apart what was not joined like this");
    for (auto [axis, size] : llvm::enumerate(expand.getMixedOutputShape()))
      if (expand.getResultType().isDynamicDim(axis) && !isKnownExtent(size, collapse.getSrc(), axis))
        return rewriter.notifyMatchFailure(expand, "may have other extents than were joined");
    rewriter.replaceOp(expand, collapse.getSrc());
    return success();
  }
};

} // namespace

void convbert::populateCancelReshapesPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandOfCollapse>(patterns.getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
}
