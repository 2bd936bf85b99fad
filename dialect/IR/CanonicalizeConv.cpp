//===- CanonicalizeConv.cpp - Canonicalisations of conv1d -----------------===//
//
// Rewrites that need the numbers of a weight want a constant.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Parameters.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// A convolution of one tap without pads is a dense layer.
struct OneTapConv : OpRewritePattern<Conv1DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv1DOp op, PatternRewriter &rewriter) const override {
    int64_t taps = ConvFeatures::get(op.getWeight(), op.getLayout()).taps;
    if (taps != 1 || op.getGroups() != 1 || op.hasSequenceWeights() || !Window::get(op, taps).keepsTokens())
      return rewriter.notifyMatchFailure(op, "is no dense layer");
    auto groups = op.getLayout() == WeightLayout::OutIn ? SmallVector<ReassociationIndices>{{0}, {1, 2}}
                                                        : SmallVector<ReassociationIndices>{{0, 1}, {2}};
    Value weight = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), op.getWeight(), groups);
    rewriter.replaceOpWithNewOp<DenseOp>(op, op.getX(), weight, op.getBias(), /*multiplier=*/Value(), op.getLayout(),
                                         ActivationKind::Identity);
    return success();
  }
};

/// A convolution with one input feature a group is a depthwise one.
struct DepthwiseConv : OpRewritePattern<Conv1DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv1DOp op, PatternRewriter &rewriter) const override {
    if (op.getGroups() == 1 || op.hasSequenceWeights() || ConvFeatures::get(op.getWeight(), op.getLayout()).in != 1)
      return rewriter.notifyMatchFailure(op, "has groups of several features");
    Value weight = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), op.getWeight(),
                                                   ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    rewriter.replaceOpWithNewOp<DepthwiseConv1DOp>(op, op.getX(), weight, op.getBias(), op.getPadsAttr(),
                                                   op.getStrideAttr(), op.getDilationAttr(), op.getLayoutAttr());
    return success();
  }
};

/// A kernel that is a product of taps and output features for each input feature is separable.
struct SeparableConv : OpRewritePattern<Conv1DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv1DOp op, PatternRewriter &rewriter) const override {
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    if (op.getGroups() != 1 || op.hasSequenceWeights() || features.taps == 1 || features.out == 1 ||
        !Window::get(op, features.taps).keepsTokens())
      return rewriter.notifyMatchFailure(op, "would gain nothing, or is no separable convolution");
    std::optional<SmallVector<double>> numbers = getNumbers(op.getWeight());
    std::optional<Factors> factors = numbers ? factor(op, features, *numbers) : std::nullopt;
    if (!factors)
      return rewriter.notifyMatchFailure(op, "has no constant kernel of rank one a feature");
    auto type = cast<RankedTensorType>(op.getWeight().getType());
    bool outFirst = op.getLayout() == WeightLayout::OutIn;
    auto build = [&](int64_t out, int64_t in, ArrayRef<double> values) {
      RankedTensorType shape = type.clone(outFirst ? ArrayRef<int64_t>{out, in} : ArrayRef<int64_t>{in, out});
      return buildConstant(rewriter, op.getLoc(), shape, values);
    };
    Value depthwise = build(features.in, features.taps, factors->taps);
    Value pointwise = build(features.out, features.in, factors->outs);
    rewriter.replaceOpWithNewOp<SeparableConv1DOp>(op, op.getX(), depthwise, pointwise, op.getBias(), op.getPadsAttr(),
                                                   op.getDilationAttr(), op.getLayoutAttr());
    return success();
  }

private:
  struct Factors {
    SmallVector<double> taps, outs; ///< in the layout of the operation
  };

  /// Products of rounded factors are this many units of the last place from rounded products, at most.
  static constexpr int kUnits = 4;

  static std::optional<Factors> factor(Conv1DOp op, const ConvFeatures &features, ArrayRef<double> numbers) {
    int64_t out = features.out, in = features.in, taps = features.taps;
    bool outFirst = op.getLayout() == WeightLayout::OutIn;
    auto at = [&](int64_t o, int64_t i, int64_t k) {
      return numbers[outFirst ? (o * in + i) * taps + k : (k * in + i) * out + o];
    };
    const llvm::fltSemantics &semantics = cast<FloatType>(getElementTypeOrSelf(op.getWeight())).getFloatSemantics();
    double unit = std::ldexp(1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(semantics)));
    Factors factors{SmallVector<double>(in * taps), SmallVector<double>(out * in)};
    for (int64_t i = 0; i < in; ++i) {
      // The row and the column of the largest number, the row divided by it.
      int64_t pivotOut = 0, pivotTap = 0;
      for (int64_t o = 0; o < out; ++o)
        for (int64_t k = 0; k < taps; ++k)
          if (std::abs(at(o, i, k)) > std::abs(at(pivotOut, i, pivotTap)))
            std::tie(pivotOut, pivotTap) = std::pair(o, k);
      double pivot = at(pivotOut, i, pivotTap);
      for (int64_t o = 0; o < out; ++o) {
        double share = pivot == 0 ? 0 : at(o, i, pivotTap) / pivot + 0.0; // no zero has a sign
        factors.outs[outFirst ? o * in + i : i * out + o] = share;
        for (int64_t k = 0; k < taps; ++k)
          if (std::abs(at(o, i, k) - at(pivotOut, i, k) * share) > kUnits * unit * std::abs(pivot))
            return std::nullopt;
      }
      for (int64_t k = 0; k < taps; ++k)
        factors.taps[outFirst ? i * taps + k : k * in + i] = at(pivotOut, i, k);
    }
    return factors;
  }
};

} // namespace

void Conv1DOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<OneTapConv, DepthwiseConv, SeparableConv>(context);
}
