//===- CancelReshapes.cpp - Joins axes and takes them apart again: nothing ===//

#include "lib/Transforms/RaiseWindow.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::convbert;

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
      if (expand.getResultType().isDynamicDim(axis) && !isExtentOf(size, collapse.getSrc(), axis))
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
