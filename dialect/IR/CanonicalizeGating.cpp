//===- CanonicalizeGating.cpp - Algebra of gates ----------------------------===//

#include "dialect/IR/Constants.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ShapeRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::convbert;

/// Whatever the weights are, they sum to one: one branch, or branches that are one value, come out as they are.
static OpFoldResult foldBranches(ValueRange branches) {
  return llvm::all_equal(branches) ? OpFoldResult(branches.front()) : OpFoldResult();
}

OpFoldResult SelectBranchesOp::fold(FoldAdaptor) { return foldBranches(getBranches()); }
OpFoldResult SelectiveKernelOp::fold(FoldAdaptor) { return foldBranches(getBranches()); }

static double applyGate(ActivationKind kind, double x) {
  return kind == ActivationKind::Sigmoid ? 1 / (1 + std::exp(-x)) : std::min(std::max(x + 3, 0.0), 6.0) / 6;
}

namespace {

/// Without a weight after the squeeze the gate is that of the bias: one factor a channel, whatever the sequence holds.
struct ConstantGate : OpRewritePattern<SqueezeExciteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SqueezeExciteOp op, PatternRewriter &rewriter) const override {
    DenseFPElementsAttr bias;
    if (!isZero(op.getW2()) || (op.getB2() && !matchPattern(op.getB2(), m_Constant(&bias))))
      return rewriter.notifyMatchFailure(op, "has no excitation of zeros with a constant bias, or none");
    auto element = cast<FloatType>(getElementTypeOrSelf(op.getX()));
    auto type = RankedTensorType::get({getFeatures(op.getX())}, element);
    auto gate = [&](double value) { return rewriter.getFloatAttr(element, applyGate(op.getGate(), value)); };
    SmallVector<Attribute> scales;
    if (!bias || bias.isSplat())
      scales.push_back(gate(bias ? bias.getSplatValue<APFloat>().convertToDouble() : 0.0));
    else
      for (const APFloat &value : bias.getValues<APFloat>())
        scales.push_back(gate(value.convertToDouble()));
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, scales));
    rewriter.replaceOpWithNewOp<ScaleHeadsOp>(op, op.getX(), constant);
    return success();
  }
};

} // namespace

void SqueezeExciteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantGate>(context);
}
