//===- Decompose.cpp - Block operations into step operations ----------------===//

#include "lib/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct DecomposePattern : OpInterfaceRewritePattern<DecomposeOpInterface> {
  DecomposePattern(MLIRContext *context, Pass::Statistic &decomposed)
      : OpInterfaceRewritePattern(context), decomposed(decomposed) {}

  LogicalResult matchAndRewrite(DecomposeOpInterface op, PatternRewriter &rewriter) const override {
    if (!op.isDecomposable())
      return rewriter.notifyMatchFailure(op, "is one step already");
    FailureOr<SmallVector<Value>> values = op.decompose(rewriter);
    if (failed(values))
      return rewriter.notifyMatchFailure(op, "cannot be decomposed in this form");
    rewriter.replaceOp(op, *values);
    ++decomposed;
    return success();
  }

  Pass::Statistic &decomposed;
};

struct DecomposePass : convbert::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposePattern>(&getContext(), decomposed);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
