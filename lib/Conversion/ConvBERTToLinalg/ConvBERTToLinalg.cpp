//===- ConvBERTToLinalg.cpp - The pass convbert-to-linalg -----------------===//

#include "dialect/IR/ConvBERTDialect.h"
#include "lib/Conversion/ConvBERTToLinalg/Passes.h"
#include "lib/Conversion/ConvBERTToLinalg/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_CONVERTCONVBERTTOLINALG
#include "lib/Conversion/ConvBERTToLinalg/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ConvertConvBERTToLinalgPass : mlir::convbert::impl::ConvertConvBERTToLinalgBase<ConvertConvBERTToLinalgPass> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr("convbert.kernel"))
      return;
    RewritePatternSet patterns(&getContext());
    populateDensePatterns(patterns);
    populateNormPatterns(patterns);
    populateDepthwisePatterns(patterns);
    populateSpanPatterns(patterns);
    populateAttentionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalDialect<ConvBERTDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(kernel, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
