//===- PackParameters.cpp - Weights in the order in which kernels read them -===//

#include "dialect/IR/ShapeRules.h"
#include "dialect/IR/WindowRules.h"
#include "lib/Outline/ExpandHeads.h"
#include "lib/Outline/FeatureLayout.h"
#include "lib/Outline/FoldedConvs.h"
#include "lib/Outline/MixedKernels.h"
#include "lib/Outline/Passes.h"
#include "lib/Outline/Relayout.h"
#include "lib/Outline/Requirements.h"
#include "lib/Outline/Target.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_PACKPARAMETERSPASS
#include "lib/Outline/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct PackParametersPass : convbert::impl::PackParametersPassBase<PackParametersPass> {
  using PackParametersPassBase::PackParametersPassBase;

  void runOnOperation() override {
    std::optional<TileSizes> found = TileSizes::get(instructionSet);
    if (!found) {
      getOperation().emitError() << "requires an instruction set " << InstructionSet::getNames() << ", but found "
                                 << instructionSet;
      return signalPassFailure();
    }
    tiles = *found;
    if (weights != "f32" && weights != "bf16") {
      getOperation().emitError() << "requires weights f32 or bf16, but found " << weights;
      return signalPassFailure();
    }
    if (getOperation().isExternal())
      return;
    if (failed(requireSizes(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (LightConvOp op : llvm::to_vector(getOperation().getBody().front().getOps<LightConvOp>()))
      if (failed(expandHeads(rewriter, op)))
        return signalPassFailure();
    for (Conv1DOp op : llvm::to_vector(getOperation().getBody().front().getOps<Conv1DOp>()))
      if (op.hasSequenceWeights() && failed(isolateMix(rewriter, op)))
        return signalPassFailure();
    foldConvs(rewriter, getOperation());
    FailureOr<FeatureLayouts> computed = FeatureLayouts::compute(getOperation());
    if (failed(computed))
      return signalPassFailure();
    layouts = std::move(*computed);
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      OpBuilder b(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case<DenseOp, GroupedDenseOp, DynamicKernelOp, Conv1DOp, DepthwiseConv1DOp, LayerNormOp, EmbeddingsOp,
                AddBiasOp, LightConvOp>([&](auto concrete) { pack(b, concrete); });
    }
  }

private:
  /// Puts the packed form before the uses of one parameter.
  static void replace(OpBuilder &b, OpOperand &use, ValueRange packed) {
    use.set(WeightViewOp::create(b, use.get().getLoc(), TypeRange{use.get().getType()}, packed).getResult(0));
  }

  /// The panels of a matrix product as they are stored: [panel][in][nr], or [panel][in / 2][nr][2] for pairs.  Axis 0
  /// or 1 of `weight` has the output features.
  Value packPanels(Relayout &weight, int64_t outAxis) {
    if (tiles.isPaired)
      weight.padTo(1 - outAxis, 2);
    int64_t panel = tiles.getPanel(weight.size(outAxis));
    weight.padTo(outAxis, panel).split(outAxis, panel);
    if (tiles.isPaired && outAxis == 0)
      weight.split(2, 2).transpose({0, 2, 1, 3});
    else if (tiles.isPaired)
      weight.split(0, 2).transpose({2, 0, 3, 1});
    else
      weight.transpose(outAxis == 0 ? ArrayRef<int64_t>{0, 2, 1} : ArrayRef<int64_t>{1, 0, 2});
    if (tiles.isPaired || weights == "bf16")
      weight.round(BFloat16Type::get(&getContext()));
    return weight.get();
  }

  /// The same in the parts that are products of their own: see TileSizes::getRest().
  SmallVector<Value> packParts(OpBuilder &b, Relayout &weight, int64_t outAxis) {
    int64_t features = weight.size(outAxis), rest = tiles.getRest(features);
    if (!rest)
      return {packPanels(weight, outAxis)};
    Relayout last(b, weight.get());
    return {packPanels(weight.slice(outAxis, 0, features - rest), outAxis),
            packPanels(last.slice(outAxis, features - rest, rest), outAxis)};
  }

  /// A bias (zeros if there is none), padded like the weight's output features, in panels.
  Value packBias(OpBuilder &b, Operation *op, Value bias, Value weight, int64_t features,
                 llvm::function_ref<void(Relayout &)> order) {
    Relayout r(b, bias ? bias : zeros(b, op, weight, {features}));
    order(r);
    int64_t panel = tiles.getPanel(r.size(0));
    r.padTo(0, panel).split(0, panel);
    // Zeros are zeros in any order.
    return bias ? r.get() : zeros(b, op, weight, {r.size(0), panel});
  }

  /// The same in parts like those of `panels`.
  SmallVector<Value> packBiasParts(OpBuilder &b, Operation *op, Value bias, Value weight, ArrayRef<Value> panels,
                                   int64_t features, llvm::function_ref<void(Relayout &)> order) {
    if (panels.size() == 1)
      return {packBias(b, op, bias, weight, features, order)};
    Relayout all(b, bias ? bias : zeros(b, op, weight, {features}));
    order(all);
    auto type = cast<RankedTensorType>(panels.front().getType());
    int64_t first = type.getDimSize(0) * type.getDimSize(2);
    auto part = [&](int64_t offset, int64_t extent) {
      Value own = bias ? Relayout(b, all.get()).slice(0, offset, extent).get() : Value();
      return packBias(b, op, own, weight, extent, [](Relayout &) {});
    };
    return {part(0, first), part(first, all.size(0) - first)};
  }

  /// Zeros of `weight`'s element type.
  static Value zeros(OpBuilder &b, Operation *op, Value weight, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(weight.getType()));
    return arith::ConstantOp::create(b, op->getLoc(), cast<TypedAttr>(b.getZeroAttr(type)));
  }

  void pack(OpBuilder &b, DenseOp op) {
    if (isMixedParameter(op.getResult()))
      return; // packed with its convolution
    FeatureLayout out = layouts.get(op.getResult()), in = layouts.get(op.getX());
    Relayout r(b, op.getWeight());
    int64_t outAxis = op.getLayout() == WeightLayout::OutIn ? 0 : 1;
    r.padBlocks(outAxis, out).padBlocks(1 - outAxis, in);
    SmallVector<Value> panels = packParts(b, r, outAxis);
    SmallVector<Value> bias = packBiasParts(b, op, op.getBias(), op.getWeight(), panels, op.getOutFeatures(),
                                            [&](Relayout &r) { r.padBlocks(0, out); });
    setBias(b, op, bias, op.getOutFeatures());
    replace(b, op.getWeightMutable(), panels);
  }

  /// Matrices of several products, N x in x out, each as if it were alone: N x panel x in x nr.
  Value packMatrices(Relayout &weight) {
    int64_t panel = tiles.getPanel(weight.size(2));
    weight.padTo(1, tiles.isPaired ? 2 : 1).padTo(2, panel).split(2, panel);
    if (tiles.isPaired)
      weight.split(1, 2).transpose({0, 3, 1, 4, 2});
    else
      weight.transpose({0, 2, 1, 3});
    if (tiles.isPaired || weights == "bf16")
      weight.round(BFloat16Type::get(&getContext()));
    return weight.get();
  }

  /// The matrices of groups, and biases in panels like theirs (zeros if there are none).
  template <typename Op> void packGroups(OpBuilder &b, Op op, Relayout &matrices) {
    int64_t groups = matrices.size(0), out = matrices.size(2), panel = tiles.getPanel(out);
    int64_t padded = llvm::alignTo(out, panel);
    Value biases = op.getBias() ? Relayout(b, op.getBias()).split(0, out).pad(1, padded).split(1, panel).get()
                                : zeros(b, op, op.getWeight(), {groups, padded / panel, panel});
    setBias(b, op, biases, groups * out);
    replace(b, op.getWeightMutable(), packMatrices(matrices));
  }

  void pack(OpBuilder &b, GroupedDenseOp op) {
    Relayout matrices(b, op.getWeight());
    packGroups(b, op, matrices);
  }

  /// The taps of a token lie behind each other, each with its features; pairs are of features of one token.
  void pack(OpBuilder &b, Conv1DOp op) {
    if (op.hasSequenceWeights())
      return packMixed(b, op);
    int64_t out = ConvFeatures::get(op.getWeight(), op.getLayout()).out / static_cast<int64_t>(op.getGroups());
    Relayout r(b, op.getWeight());
    if (op.getLayout() == WeightLayout::OutIn)
      r.split(0, out).transpose({0, 3, 2, 1});
    else
      r.split(2, out).transpose({2, 0, 1, 3});
    packGroups(b, op, r.padTo(2, tiles.isPaired ? 2 : 1).join(1));
  }

  /// Panels and biases of all kernels, one kernel after the other, as if each were alone: their sums are those of a
  /// mix.
  void packMixed(OpBuilder &b, Conv1DOp op) {
    MixedKernels mixed = *MixedKernels::get(op);
    b.setInsertionPoint(mixed.kernel);
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    int64_t panel = tiles.getPanel(features.out);
    Relayout r(b, mixed.kernel.getWeight());
    bool outFirst = op.getLayout() == WeightLayout::OutIn;
    r.split(1, features.in * (outFirst ? features.taps : features.out))
        .split(2, outFirst ? features.taps : features.out);
    if (outFirst)
      r.transpose({0, 3, 2, 1});
    replace(b, mixed.kernel.getWeightMutable(), packMatrices(r.padTo(2, tiles.isPaired ? 2 : 1).join(1)));

    b.setInsertionPoint(mixed.bias);
    Relayout biases(b, mixed.bias.getWeight());
    replace(b, mixed.bias.getWeightMutable(), biases.padTo(1, panel).split(1, panel).get());
  }

  /// Feature `h*K + k` goes to row `k*HP + h`: a vector holds one tap of several heads.
  void pack(OpBuilder &b, DynamicKernelOp op) {
    int64_t heads = op.getHeads(),
            features = getOutFeatures(cast<RankedTensorType>(op.getWeight().getType()), op.getLayout());
    int64_t taps = features / heads, padded = llvm::alignTo(heads, TileSizes::headBlock);
    Relayout r(b, op.getWeight());
    if (op.getLayout() == WeightLayout::InOut)
      r.transpose({1, 0});
    r.padBlocks(1, layouts.get(op.getQ())).split(0, taps).transpose({1, 0, 2}).pad(1, padded).join(0);
    SmallVector<Value> panels = packParts(b, r, 0);
    SmallVector<Value> bias = packBiasParts(b, op, op.getBias(), op.getWeight(), panels, features, [&](Relayout &r) {
      r.split(0, taps).transpose({1, 0}).pad(1, padded).join(0);
    });
    setBias(b, op, bias, features);
    replace(b, op.getWeightMutable(), panels);
  }

  /// A row of logits as dynamic_kernel makes them.
  void pack(OpBuilder &b, LightConvOp op) {
    Relayout r(b, op.getWeight());
    r.transpose({1, 0}).padTo(1, TileSizes::headBlock).join(0);
    replace(b, op.getWeightMutable(), r.get());
  }

  /// Blocks of channels, the taps of a block one after the other, and the bias behind them.
  void pack(OpBuilder &b, DepthwiseConv1DOp op) {
    Relayout r(b, op.getWeight());
    if (op.getLayout() == WeightLayout::InOut)
      r.transpose({1, 0});
    r.padTo(0, TileSizes::channelBlock).split(0, TileSizes::channelBlock).transpose({0, 2, 1});
    if (!op.getBias())
      return replace(b, op.getWeightMutable(), r.get());
    Relayout bias(b, op.getBias());
    bias.padTo(0, TileSizes::channelBlock).split(0, TileSizes::channelBlock).split(1, TileSizes::channelBlock);
    Location loc = b.getFusedLoc({op.getWeight().getLoc(), op.getBias().getLoc()});
    Value packed = tensor::ConcatOp::create(b, loc, 1, ValueRange{r.get(), bias.get()});
    auto view = WeightViewOp::create(b, loc, TypeRange{op.getWeight().getType(), op.getBias().getType()}, packed);
    op.getWeightMutable().assign(view.getResult(0));
    op.getBiasMutable().assign(view.getResult(1));
  }

  void pack(OpBuilder &b, AddBiasOp op) {
    Relayout r(b, op.getBias());
    r.padBlocks(0, layouts.get(op.getResult())).padTo(0, TileSizes::lanes);
    replace(b, op.getBiasMutable(), r.get());
  }

  /// Gamma and beta as two rows.
  void packNorm(OpBuilder &b, OpOperand &gamma, OpOperand &beta) {
    auto row = [&](Value v) { return Relayout(b, v).padTo(0, TileSizes::lanes).split(0, paddedWidth(v)).get(); };
    Location loc = b.getFusedLoc({gamma.get().getLoc(), beta.get().getLoc()});
    Value packed = tensor::ConcatOp::create(b, loc, 0, ValueRange{row(gamma.get()), row(beta.get())});
    auto view = WeightViewOp::create(b, loc, TypeRange{gamma.get().getType(), beta.get().getType()}, packed);
    gamma.set(view.getResult(0));
    beta.set(view.getResult(1));
  }
  void pack(OpBuilder &b, LayerNormOp op) { packNorm(b, op.getGammaMutable(), op.getBetaMutable()); }

  void pack(OpBuilder &b, EmbeddingsOp op) {
    SmallVector<OpOperand *> tables{&op.getPositionMutable(), &op.getTypeTableMutable()};
    for (OpOperand &word : op.getWordMutable())
      tables.insert(tables.begin(), &word);
    for (OpOperand *table : tables)
      replace(b, *table, Relayout(b, table->get()).padTo(1, TileSizes::lanes).get());
    packNorm(b, op.getGammaMutable(), op.getBetaMutable());
  }

  static int64_t paddedWidth(Value vector) { return llvm::alignTo(getFeatures(vector), TileSizes::lanes); }

  /// Sets (or adds) the bias, seen through its packed form.
  template <typename Op> static void setBias(OpBuilder &b, Op op, ValueRange packed, int64_t features) {
    auto type = RankedTensorType::get({features}, getElementTypeOrSelf(packed.front().getType()));
    auto view = WeightViewOp::create(b, packed.front().getLoc(), TypeRange{type}, packed);
    op.getBiasMutable().assign(view.getResult(0));
  }

  TileSizes tiles;
  FeatureLayouts layouts;
};

} // namespace
