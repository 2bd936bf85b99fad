//===- FlattenTransfers.cpp - Reads of contiguous memory as one vector ----===//

#include "lib/Transforms/CPU/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_FLATTENTRANSFERS
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct FlattenTransfers : convbert::impl::FlattenTransfersBase<FlattenTransfers> {
  void runOnOperation() override {
    // The patterns also fold casts of shapes: where there is nothing to flatten, nothing is to change.
    WalkResult walk = getOperation().walk([](vector::TransferReadOp read) {
      return read.getVectorType().getRank() > 1 ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!walk.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    vector::populateFlattenVectorTransferPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
