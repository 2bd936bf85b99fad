//===- FoldScales.cpp - The attention scale goes into the key's weights -----===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_FOLDSCALESPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct FoldScale : OpRewritePattern<SelfAttentionOp> {
  FoldScale(MLIRContext *context, Pass::Statistic &folded) : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(SelfAttentionOp op, PatternRewriter &rewriter) const override {
    double scale = op.getScale().convertToDouble();
    if (scale == 1.0)
      return rewriter.notifyMatchFailure(op, "has no scale");
    auto dense = op.getK().getDefiningOp<DenseOp>();
    if (!dense || !dense->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the key is no dense layer of its own");
    if (dense.getActivation() != ActivationKind::Identity || dense.getMultiplier())
      return rewriter.notifyMatchFailure(dense, "has an epilogue, which does not commute with a scale");
    rewriter.setInsertionPoint(dense);
    auto scaled = [&](Value parameter) -> Value {
      auto type = cast<RankedTensorType>(parameter.getType());
      auto splat = DenseElementsAttr::get(type, rewriter.getFloatAttr(type.getElementType(), scale));
      Value factor = arith::ConstantOp::create(rewriter, parameter.getLoc(), splat);
      return arith::MulFOp::create(rewriter, parameter.getLoc(), parameter, factor);
    };
    rewriter.modifyOpInPlace(dense, [&] {
      dense.getWeightMutable().assign(scaled(dense.getWeight()));
      if (Value bias = dense.getBias())
        dense.getBiasMutable().assign(scaled(bias));
    });
    rewriter.modifyOpInPlace(op, [&] { op.setScale(APFloat(1.0)); });
    ++folded;
    return success();
  }

  Pass::Statistic &folded;
};

struct FoldScalesPass : convbert::impl::FoldScalesPassBase<FoldScalesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldScale>(&getContext(), folded);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
