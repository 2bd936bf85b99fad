//===- CanonicalizeParameters.cpp - Layers that merge with their neighbours -===//
//
// Scale and shift of a norm move into the weights before it, two layers become one, kernels are mixed once: what is
// built rests on parameters alone.  Rewrites that need the numbers of a weight want a constant.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Parameters.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::convbert;

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

static bool isWide(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isF32() || element.isF64();
}

namespace {

//===----------------------------------------------------------------------===//
// batch_norm, dense
//===----------------------------------------------------------------------===//

/// Scale and shift go into weight and bias of the layer that makes the norm's operand.
struct FoldBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    Operation *layer = op.getX().getDefiningOp();
    if (!layer || !layer->hasOneUse() || !isWide(op.getX()))
      return rewriter.notifyMatchFailure(op, "is not the one user of a layer, or narrower than f32");
    return llvm::TypeSwitch<Operation *, LogicalResult>(layer)
        .Case([&](DenseOp dense) {
          if (dense.getActivation() != ActivationKind::Identity || dense.getMultiplier())
            return rewriter.notifyMatchFailure(op, "follows an epilogue");
          return fold(op, dense, &DenseOp::getWeightMutable, 1, rewriter);
        })
        .Case([&](Conv1DOp conv) {
          if (conv.hasSequenceWeights())
            return rewriter.notifyMatchFailure(op, "follows weights of each sequence");
          return fold(op, conv, &Conv1DOp::getWeightMutable, 2, rewriter);
        })
        .Case([&](DepthwiseConv1DOp conv) { return fold(op, conv, &DepthwiseConv1DOp::getWeightMutable, 1, rewriter); })
        .Case([&](SeparableConv1DOp conv) {
          return fold(op, conv, &SeparableConv1DOp::getPointwiseMutable, 1, rewriter);
        })
        .Default([&](Operation *) { return rewriter.notifyMatchFailure(op, "follows no layer with weights"); });
  }

private:
  /// `last` is the last axis of the weight.  The layer moves to the norm, whose parameters may come late.
  template <typename Op>
  static LogicalResult fold(BatchNormOp op, Op layer, OpOperand &(Op::*weight)(), int64_t last,
                            PatternRewriter &rewriter) {
    auto [scale, offset] = buildScaleAndShift(rewriter, op);
    Value shift = offset;
    Location loc = op.getLoc();
    if (Value bias = layer.getBias())
      shift = arith::AddFOp::create(rewriter, loc, arith::MulFOp::create(rewriter, loc, bias, scale), shift);
    int64_t axis = layer.getLayout() == WeightLayout::OutIn ? 0 : last;
    Value scaled = buildScaledWeight(rewriter, loc, (layer.*weight)().get(), axis, scale);
    auto folded = cast<Op>(rewriter.clone(*layer));
    rewriter.modifyOpInPlace(folded, [&] {
      (folded.*weight)().assign(scaled);
      folded.getBiasMutable().assign(shift);
    });
    rewriter.replaceOp(op, folded.getResult());
    rewriter.eraseOp(layer);
    return success();
  }
};

/// Two layers of constant weights are one, where that multiplies less.
struct DenseOfDense : OpRewritePattern<DenseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DenseOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<DenseOp>();
    if (!inner || !inner->hasOneUse() || inner.getActivation() != ActivationKind::Identity || inner.getMultiplier())
      return rewriter.notifyMatchFailure(op, "does not follow a plain layer of its own");
    int64_t in = inner.getInFeatures(), middle = op.getInFeatures(), out = op.getOutFeatures();
    int64_t both = addExtents(multiplyExtents(in, middle), multiplyExtents(middle, out));
    if (multiplyExtents(in, out) > both || multiplyExtents(multiplyExtents(in, out), middle) > kMostNumbers)
      return rewriter.notifyMatchFailure(op, "is no less work as one layer");
    std::optional<SmallVector<double>> first = getNumbers(inner.getWeight()), second = getNumbers(op.getWeight());
    std::optional<SmallVector<double>> firstBias = getBias(inner, middle), secondBias = getBias(op, out);
    if (!first || !second || !firstBias || !secondBias)
      return rewriter.notifyMatchFailure(op, "has no constant weights and biases");

    auto at = [](DenseOp op, ArrayRef<double> numbers, int64_t o, int64_t i) {
      return numbers[op.getLayout() == WeightLayout::OutIn ? o * op.getInFeatures() + i : i * op.getOutFeatures() + o];
    };
    bool outFirst = op.getLayout() == WeightLayout::OutIn;
    SmallVector<double> weight(in * out), bias(*secondBias);
    for (int64_t o = 0; o < out; ++o)
      for (int64_t m = 0; m < middle; ++m) {
        double factor = at(op, *second, o, m);
        bias[o] += factor * (*firstBias)[m];
        for (int64_t i = 0; i < in; ++i)
          weight[outFirst ? o * in + i : i * out + o] += factor * at(inner, *first, m, i);
      }
    auto type = cast<RankedTensorType>(op.getWeight().getType());
    RankedTensorType shape = type.clone(outFirst ? ArrayRef<int64_t>{out, in} : ArrayRef<int64_t>{in, out});
    Value newWeight = buildConstant(rewriter, op.getLoc(), shape, weight), newBias;
    bool hasBias = inner.getBias() || op.getBias();
    if (hasBias)
      newBias = buildConstant(rewriter, op.getLoc(), type.clone({out}), bias);
    if (!newWeight || (hasBias && !newBias))
      return rewriter.notifyMatchFailure(op, "has weights whose product is too large for their type");
    rewriter.replaceOpWithNewOp<DenseOp>(op, inner.getX(), newWeight, newBias, op.getMultiplier(), op.getLayout(),
                                         op.getActivation());
    return success();
  }

private:
  /// The numbers of a bias; zeros where there is none.
  static std::optional<SmallVector<double>> getBias(DenseOp op, int64_t size) {
    return op.getBias() ? getNumbers(op.getBias()) : SmallVector<double>(size);
  }
};

//===----------------------------------------------------------------------===//
// kernel_attention_conv
//===----------------------------------------------------------------------===//

/// The convolution of `op` with one kernel.
void replaceByConv(PatternRewriter &rewriter, KernelAttentionConvOp op, Value weight, Value bias) {
  rewriter.replaceOpWithNewOp<Conv1DOp>(op, op.getX(), weight, bias, op.getPadsAttr(), op.getStrideAttr(),
                                        op.getDilationAttr(), /*groups=*/rewriter.getI64IntegerAttr(1),
                                        op.getLayoutAttr());
}

/// The softmax of one number is 1.
struct OneKernel : OpRewritePattern<KernelAttentionConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(KernelAttentionConvOp op, PatternRewriter &rewriter) const override {
    if (op.getKernelCount() != 1)
      return rewriter.notifyMatchFailure(op, "has several kernels");
    auto first = [&](Value stack, ArrayRef<ReassociationIndices> groups) -> Value {
      return stack ? tensor::CollapseShapeOp::create(rewriter, op.getLoc(), stack, groups).getResult() : Value();
    };
    replaceByConv(rewriter, op, first(op.getKernels(), {{0, 1}, {2}, {3}}), first(op.getBiases(), {{0, 1}}));
    return success();
  }
};

/// A gate of zeros weighs all kernels alike: they are their mean.
struct MeanKernel : OpRewritePattern<KernelAttentionConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(KernelAttentionConvOp op, PatternRewriter &rewriter) const override {
    if (op.getKernelCount() == 1 || !isWide(op.getX()) || !isZero(op.getF2()) || (op.getB2() && !isZero(op.getB2())))
      return rewriter.notifyMatchFailure(op, "has no gate of zeros");
    Value bias = op.getBiases();
    replaceByConv(rewriter, op, mean(rewriter, op.getLoc(), op.getKernels()),
                  bias ? mean(rewriter, op.getLoc(), bias) : Value());
    return success();
  }

private:
  /// The mean over the first axis.
  static Value mean(OpBuilder &b, Location loc, Value stack) {
    auto type = cast<RankedTensorType>(stack.getType());
    auto result = cast<RankedTensorType>(type.clone(type.getShape().drop_front()));
    auto splat = [&](double value) -> Value {
      auto number = b.getFloatAttr(type.getElementType(), value);
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(result, number));
    };
    Value sum = linalg::ReduceOp::create(b, loc, stack, splat(0.0), ArrayRef<int64_t>{0},
                                         [](OpBuilder &b, Location loc, ValueRange args) {
                                           linalg::YieldOp::create(
                                               b, loc, arith::AddFOp::create(b, loc, args[0], args[1]).getResult());
                                         })
                    .getResult(0);
    return arith::MulFOp::create(b, loc, sum, splat(1.0 / static_cast<double>(type.getDimSize(0))));
  }
};

/// Where the number of tokens is known, so is the form that needs fewer multiplications.
struct ChooseAggregate : OpRewritePattern<KernelAttentionConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(KernelAttentionConvOp op, PatternRewriter &rewriter) const override {
    int64_t length = getExtent(op.getX(), 1);
    if (op.getAggregate() != Aggregate::Auto || ShapedType::isDynamic(length))
      return rewriter.notifyMatchFailure(op, "has its form, or no known length");
    rewriter.modifyOpInPlace(op, [&] { op.setAggregate(op.chooseAggregate(length)); });
    return success();
  }
};

} // namespace

void BatchNormOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldBatchNorm>(context);
}
void DenseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DenseOfDense>(context);
}
void KernelAttentionConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<OneKernel, MeanKernel, ChooseAggregate>(context);
}
