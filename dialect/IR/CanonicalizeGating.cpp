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

/// `elements` times `scales[feature(i)]`, element by element, rounded once.
static DenseElementsAttr scale(DenseFPElementsAttr elements, DenseFPElementsAttr scales,
                               llvm::function_ref<int64_t(int64_t)> feature) {
  SmallVector<APFloat> factors(scales.getValues<APFloat>()), products;
  for (auto [i, value] : llvm::enumerate(elements.getValues<APFloat>()))
    products.push_back(value * factors[feature(static_cast<int64_t>(i))]);
  return DenseElementsAttr::get(elements.getType(), products);
}

/// Constant factors join the constant weights of the layer before them.
struct ScaleConstantDense : OpRewritePattern<ScaleHeadsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScaleHeadsOp op, PatternRewriter &rewriter) const override {
    auto dense = op.getX().getDefiningOp<DenseOp>();
    DenseFPElementsAttr scales, weight, bias;
    if (!dense || !dense->hasOneUse() || dense.getActivation() != ActivationKind::Identity || dense.getMultiplier())
      return rewriter.notifyMatchFailure(op, "scales no layer without an epilogue");
    if (!matchPattern(op.getScales(), m_Constant(&scales)) || !matchPattern(dense.getWeight(), m_Constant(&weight)) ||
        (dense.getBias() && !matchPattern(dense.getBias(), m_Constant(&bias))))
      return rewriter.notifyMatchFailure(op, "scales and weights are not all constants");
    // As many numbers as the type says: a splat of a huge one is none that anybody wants written out.
    if (weight.isSplat() && weight.getNumElements() > kMostElements)
      return rewriter.notifyMatchFailure(op, "has a weight that is one number for very many elements");
    int64_t size = dense.getOutFeatures() / scales.getNumElements(), in = dense.getInFeatures(),
            out = dense.getOutFeatures();
    bool outFirst = dense.getLayout() == WeightLayout::OutIn;
    auto row = [&](int64_t i) { return (outFirst ? i / in : i % out) / size; };
    rewriter.setInsertionPoint(dense);
    Value scaled = arith::ConstantOp::create(rewriter, dense.getLoc(), scale(weight, scales, row));
    Value shift = bias ? arith::ConstantOp::create(rewriter, dense.getLoc(),
                                                   scale(bias, scales, [&](int64_t i) { return i / size; }))
                             .getResult()
                       : Value();
    rewriter.replaceOpWithNewOp<DenseOp>(op, dense.getX(), scaled, shift, /*multiplier=*/Value(), dense.getLayout(),
                                         ActivationKind::Identity);
    return success();
  }
  static constexpr int64_t kMostElements = int64_t(1) << 20;
};

} // namespace

void ScaleHeadsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ScaleConstantDense>(context);
}
void SqueezeExciteOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantGate>(context);
}
