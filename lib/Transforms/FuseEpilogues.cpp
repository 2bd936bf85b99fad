//===- FuseEpilogues.cpp - What follows a matrix product joins it -----------===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// A pattern that counts its applications.
template <typename Op> struct CountingPattern : OpRewritePattern<Op> {
  CountingPattern(MLIRContext *context, Pass::Statistic &fused) : OpRewritePattern<Op>(context), fused(fused) {}
  Pass::Statistic &fused;
};

template <typename Producer> struct FuseActivation : CountingPattern<ActivationOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(ActivationOp op, PatternRewriter &rewriter) const override {
    auto producer = op.getX().getDefiningOp<Producer>();
    if (!producer || !producer->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the producer is no matrix product, or it has other users");
    if (producer.getActivation() != ActivationKind::Identity || hasMultiplier(producer))
      return rewriter.notifyMatchFailure(op, "the producer has an epilogue already");
    rewriter.modifyOpInPlace(producer, [&] { producer.setActivation(op.getKind()); });
    rewriter.replaceOp(op, producer);
    ++fused;
    return success();
  }
  static bool hasMultiplier(DenseOp op) { return static_cast<bool>(op.getMultiplier()); }
  static bool hasMultiplier(GroupedDenseOp) { return false; }
};

/// dense(x) * y, in either order.
struct FuseMultiplier : CountingPattern<arith::MulFOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    for (auto [x, y] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto dense = x.getDefiningOp<DenseOp>();
      if (!dense || !dense->hasOneUse() || dense.getMultiplier() || x == y)
        continue;
      // The product moves to where both factors exist: the place of the multiplication.
      Value product = DenseOp::create(rewriter, rewriter.getFusedLoc({dense.getLoc(), op.getLoc()}), dense.getX(),
                                      dense.getWeight(), dense.getBias(), y, dense.getLayout(), dense.getActivation());
      rewriter.replaceOp(op, product);
      rewriter.eraseOp(dense);
      ++fused;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no factor is a dense layer of its own without multiplier");
  }
};

/// The product with the span-aware key comes before the kernel generator, where FuseMultiplier joins it to the layer
/// that makes either factor.  Not for narrow types: the generator computes it in f32, by itself it is rounded to its
/// type, which may be too small.
struct SplitSpanKey : CountingPattern<DynamicKernelOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(DynamicKernelOp op, PatternRewriter &rewriter) const override {
    Value key = op.getSpanKey();
    if (!key || getElementTypeOrSelf(key).getIntOrFloatBitWidth() < 32)
      return rewriter.notifyMatchFailure(op, "no product of f32 or wider");
    // Types may know different extents.
    if (key.getType() != op.getQ().getType())
      key = tensor::CastOp::create(rewriter, op.getLoc(), op.getQ().getType(), key);
    Value product = arith::MulFOp::create(rewriter, op.getLoc(), key, op.getQ());
    rewriter.modifyOpInPlace(op, [&] {
      op.getQMutable().assign(product);
      op.getSpanKeyMutable().clear();
    });
    ++fused;
    return success();
  }
};

/// The softmax over the taps moves from the kernel generator to the convolution that uses it, which returns it too if
/// the function does.
struct FuseTapSoftmax : CountingPattern<ApplyKernelOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(ApplyKernelOp op, PatternRewriter &rewriter) const override {
    auto kernel = op.getTaps().getDefiningOp<DynamicKernelOp>();
    bool isUsedHereAlone = kernel && llvm::all_of(kernel->getUsers(), [&](Operation *user) {
                             return user == op || user->hasTrait<OpTrait::IsTerminator>();
                           });
    if (!isUsedHereAlone)
      return rewriter.notifyMatchFailure(op, "the taps are not generated for this convolution alone");
    if (op.getNormalize() != KernelNorm::None || kernel.getNormalize() != KernelNorm::Softmax)
      return rewriter.notifyMatchFailure(op, "no softmax to move");
    // A softmax that leaves taps out must leave out those of this convolution.
    bool renorm = kernel.getEdge() == Edge::Renorm;
    if (renorm && (*kernel.getPads() != op.getPads() || kernel.getDilation() != op.getDilation()))
      return rewriter.notifyMatchFailure(op, "the taps are those of another window");
    EdgeAttr edge = kernel.getEdgeAttr();
    rewriter.modifyOpInPlace(kernel, [&] {
      kernel.setNormalize(KernelNorm::None);
      kernel.setEdge(Edge::Zero);
      kernel.removePadsAttr();
      kernel.setDilation(1);
    });
    UnitAttr withTaps = kernel->hasOneUse() ? UnitAttr() : rewriter.getUnitAttr();
    auto fusedOp = ApplyKernelOp::create(rewriter, op.getLoc(), op.getV(), op.getTaps(), op.getMask(), op.getPadsAttr(),
                                         KernelNormAttr::get(op.getContext(), KernelNorm::Softmax), withTaps,
                                         op.getDilationAttr(), edge, op.getHeadMapAttr());
    rewriter.replaceOp(op, fusedOp.getResult());
    if (withTaps)
      rewriter.replaceAllUsesExcept(kernel.getResult(), fusedOp.getNormalized(), fusedOp);
    ++fused;
    return success();
  }
};

/// norm(x + y) reads both and adds them itself.
struct FuseResidual : CountingPattern<LayerNormOp> {
  using CountingPattern::CountingPattern;
  LogicalResult matchAndRewrite(LayerNormOp op, PatternRewriter &rewriter) const override {
    auto sum = op.getX().getDefiningOp<arith::AddFOp>();
    if (!sum || !sum->hasOneUse() || op.getResidual())
      return rewriter.notifyMatchFailure(op, "no sum of its own, or it has a residual already");
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(sum.getLhs());
      op.getResidualMutable().assign(sum.getRhs());
    });
    rewriter.eraseOp(sum);
    ++fused;
    return success();
  }
};

struct FuseEpiloguesPass : convbert::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseActivation<DenseOp>, FuseActivation<GroupedDenseOp>, FuseMultiplier, FuseResidual, FuseTapSoftmax,
                 SplitSpanKey>(&getContext(), fused);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
