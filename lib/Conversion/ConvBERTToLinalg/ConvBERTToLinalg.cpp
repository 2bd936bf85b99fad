//===- ConvBERTToLinalg.cpp - The pass convbert-to-linalg -----------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Conversion/ConvBERTToLinalg/Passes.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_CONVERTCONVBERTTOLINALG
#include "lib/Conversion/ConvBERTToLinalg/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Collects why patterns do not match.
struct MatchFailures : RewriterBase::Listener {
  void notifyMatchFailure(Location location, function_ref<void(Diagnostic &)> reason) override {
    Diagnostic diagnostic(location, DiagnosticSeverity::Remark);
    reason(diagnostic);
    if (std::string text = diagnostic.str(); !llvm::is_contained(reasons, text))
      reasons.push_back(text);
  }

  SmallVector<std::string> reasons;
};

struct ConvertConvBERTToLinalgPass : mlir::convbert::impl::ConvertConvBERTToLinalgBase<ConvertConvBERTToLinalgPass> {
  void runOnOperation() override {
    if (failed(requireSteps()))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateDensePatterns(patterns);
    populateNormPatterns(patterns);
    populateDepthwisePatterns(patterns);
    populateSpanPatterns(patterns);
    populateAttentionPatterns(patterns);
    populateStepDensePatterns(patterns);
    populateStepNormPatterns(patterns);
    populateStepConvPatterns(patterns);
    populateStepDynamicPatterns(patterns);
    populateStepGatingPatterns(patterns);
    populateStepWindowPatterns(patterns);
    populateStepAttentionPatterns(patterns);
    ConversionTarget target(getContext());
    // Neither legal nor illegal: what is left is reported below, with the reasons of the patterns.
    target.addDynamicallyLegalDialect<ConvBERTDialect>([](Operation *) -> std::optional<bool> { return std::nullopt; });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    FrozenRewritePatternSet frozen(std::move(patterns));
    llvm::DenseSet<Operation *> left;
    ConversionConfig config;
    config.unlegalizedOps = &left;
    if (succeeded(applyPartialConversion(getOperation(), target, frozen, config)) && left.empty())
      return;
    reportLeft(frozen);
    signalPassFailure();
  }

private:
  /// Says of every operation of the dialect that is left why no pattern takes it.
  void reportLeft(const FrozenRewritePatternSet &patterns) {
    SmallVector<Operation *> left;
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<ConvBERTDialect>(op->getDialect()))
        left.push_back(op);
    });
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    for (Operation *op : left) {
      // The conversion driver keeps the reasons to itself, so the patterns are asked again.
      MatchFailures failures;
      PatternRewriter rewriter(&getContext());
      rewriter.setListener(&failures);
      InFlightDiagnostic error = op->emitError("failed to legalize operation '") << op->getName() << "'";
      if (succeeded(applicator.matchAndRewrite(op, rewriter)))
        return; // by now the IR is another one
      error << ": "
            << (failures.reasons.empty() ? "no lowering to linalg is known" : llvm::join(failures.reasons, "; "));
    }
  }

  /// Block operations have no lowering of their own.
  LogicalResult requireSteps() {
    WalkResult result = getOperation().walk([](DecomposeOpInterface op) -> WalkResult {
      if (!op.isDecomposable())
        return WalkResult::advance();
      return op->emitOpError("requires decomposition before it is lowered; run convbert-decompose first");
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
