//===- KernelCalls.cpp - Which kernel computes an operation -----------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/HostBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::convbert;

/// Of kernel template `select_branches`.
static constexpr size_t kMostBranches = 4;

namespace {

/// Emits the calls of one operation.
struct Emitter {
  Operation *operation;
  HostBuilder &host;
  KernelTemplates &kernels;
  const OperandLookup &lookup;

  Value parameter(Value weight, unsigned part = 0) { return lookup.parameter(weight, part); }
  Value input(Value value) { return lookup.input(value); }

  static std::string text(int64_t value) { return std::to_string(value); }
  static std::string number(const APFloat &value) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.17e", value.convertToDouble());
    return digits;
  }

  LogicalResult call(StringRef name, StringRef suffix, const TemplateParameters &parameters, ValueRange operands) {
    func::FuncOp kernel = kernels.get(name, suffix, parameters);
    if (!kernel)
      return failure();
    return host.call(operation, kernel, operands);
  }

  /// One matrix product: rows of `x` from `inColumn` on times panels, to rows of `y` from `outColumn` on.
  LogicalResult dense(Value x, int64_t inColumn, Value panels, Value bias, Value multiplier, ActivationKind activation,
                      Value y, int64_t outColumn) {
    const TileSizes &tiles = host.getTiles();
    auto type = panels ? cast<MemRefType>(panels.getType()) : MemRefType();
    if (!type || type.getRank() != (tiles.isPaired ? 4 : 3))
      return operation->emitOpError() << "requires packed parameters that rest on globals";
    if (tiles.isPaired && failed(round(x)))
      return failure();
    Value rows = tiles.isPaired ? host.pairTilesIn(x, inColumn, type.getDimSize(1))
                                : host.tilesIn(x, inColumn, type.getDimSize(1));
    if (multiplier)
      multiplier = host.tilesOut(multiplier, 0, type);
    return product(rows, panels, bias, multiplier, activation, host.tilesOut(y, outColumn, type));
  }

  /// The same on tiles of rows: `rows` as the kernel reads them, `multiplier` and `out` as it writes them.
  LogicalResult product(Value rows, Value panels, Value bias, Value multiplier, ActivationKind activation, Value out) {
    const TileSizes &tiles = host.getTiles();
    auto type = cast<MemRefType>(panels.getType());
    std::string kind = stringifyActivationKind(activation).str();
    std::string suffix = activation == ActivationKind::Identity ? "" : kind;
    int64_t panel = type.getDimSize(2);
    if (panel != tiles.panel)
      suffix = "n" + text(panel) + (suffix.empty() ? "" : "_" + suffix);
    StringRef weightType = type.getElementType().isBF16() ? "bf16" : "f32";
    TemplateParameters parameters{
        {"MR", text(tiles.rows)}, {"NR", text(panel)}, {"WT", weightType.str()}, {"ACT", kind}};
    SmallVector<Value> operands{rows, panels, bias};
    if (multiplier)
      operands.push_back(multiplier);
    operands.push_back(out);
    // Pairs are half as large; activations and multipliers need the whole sum.
    bool isDeep = false;
    if (!multiplier && suffix.empty() && !tiles.isPaired) {
      Choice choice = host.getCosts().sliceDepth(type.getDimSize(1));
      isDeep = choice.taken;
      host.explain(choice.why);
    }
    StringRef plain = multiplier ? "dense_times" : isDeep ? "dense_deep" : "dense";
    StringRef pairs = multiplier ? "dense_times_pairs" : "dense_pairs";
    if (tiles.isPaired || weightType == "f32")
      return call(tiles.isPaired ? pairs : plain, suffix, parameters, operands);
    host.explain(CostModel::describeWidening());
    func::FuncOp few = kernels.get(plain, suffix, parameters);
    // A panel is widened into scratch, whose size is known beforehand: one of two sizes serves most models.
    parameters.push_back({"WIDE", text(llvm::PowerOf2Ceil(std::max<int64_t>(type.getDimSize(1), 1024)))});
    func::FuncOp many = kernels.get(plain, suffix.empty() ? "wide" : suffix + "_wide", parameters);
    return success(
        few && many &&
        succeeded(host.callByTiles(operation, rows, CostModel::widenFrom / tiles.rows, few, many, operands)));
  }

  /// Rounds the rows of `x` before the first product that reads them.
  LogicalResult round(Value x) {
    if (!host.startRounding(x))
      return success();
    int64_t width = host.getPlan().getView(x).width, whole = width / TileSizes::lanes * TileSizes::lanes;
    TemplateParameters parameters{{"W", text(width)},
                                  {"WHOLE", text(whole)},
                                  {"REST", text(width - whole)},
                                  {"PITCH", text(TileSizes::roundedPitch(width))}};
    return call("round", text(width), parameters, {host.rows(x), host.rounded(x)});
  }

  LogicalResult emit(DenseOp op) {
    return dense(op.getX(), 0, parameter(op.getWeight()), parameter(op.getBias()), op.getMultiplier(),
                 op.getActivation(), op.getResult(), 0);
  }

  LogicalResult emit(DynamicKernelOp op) {
    if (op.getSpanKey())
      return op.emitOpError() << "requires its span-aware key fused into the layer that makes a factor of the product";
    if (op.getNormalize() != KernelNorm::None)
      return op.emitOpError() << "requires its softmax fused into the convolution that uses the taps";
    return dense(op.getQ(), 0, parameter(op.getWeight()), parameter(op.getBias()), Value(), ActivationKind::Identity,
                 op.getResult(), 0);
  }

  /// Group after group: a group's last panel may reach into the next group's columns, which are written later.
  LogicalResult emit(GroupedDenseOp op) {
    auto weight = cast<RankedTensorType>(op.getWeight().getType());
    for (int64_t g = 0; g < weight.getDimSize(0); ++g)
      if (failed(dense(op.getX(), g * weight.getDimSize(1), parameter(op.getWeight(), g), parameter(op.getBias(), g),
                       Value(), op.getActivation(), op.getResult(), g * weight.getDimSize(2))))
        return failure();
    return success();
  }

  LogicalResult emit(LayerNormOp op) {
    int64_t width = getFeatures(op.getX()), padded = llvm::alignTo(width, TileSizes::lanes);
    SmallVector<Value> operands{host.rows(op.getX(), padded)};
    if (op.getResidual())
      operands.push_back(host.rows(op.getResidual(), padded));
    operands.push_back(parameter(op.getGamma()));
    operands.push_back(host.rows(op.getResult(), padded));
    return call(op.getResidual() ? "norm_residual" : "norm", text(width), normParameters(width, padded, op.getEps()),
                operands);
  }

  static TemplateParameters normParameters(int64_t width, int64_t padded, const APFloat &eps) {
    int64_t grain = CostModel::countThreadRows(padded);
    return {{"W", text(padded)}, {"N", text(width)}, {"EPS", number(eps)}, {"GRAIN", text(grain)}};
  }

  LogicalResult emit(EmbeddingsOp op) {
    int64_t width = getFeatures(op.getPosition()), padded = llvm::alignTo(width, TileSizes::lanes);
    bool hasVectors = !op.getWord();
    SmallVector<Value> operands{hasVectors ? host.rows(op.getIds(), padded) : input(op.getIds()),
                                input(op.getTokenTypes()), input(op.getPositionIds())};
    if (!hasVectors)
      operands.push_back(parameter(op.getWord()));
    for (Value table : {op.getPosition(), op.getTypeTable(), op.getGamma()})
      operands.push_back(parameter(table));
    operands.push_back(host.rows(op.getResult(), padded));
    return call(hasVectors ? "embed_vectors" : "embed", text(width), normParameters(width, padded, op.getEps()),
                operands);
  }

  LogicalResult emit(AttentionBiasOp op) {
    return call("attention_bias", "", {}, {input(op.getMask()), host.base(op.getResult())});
  }

  // TODO(#8): strides and other numbers of tokens need rows of another count, dilation a kernel that steps over rows.
  LogicalResult requireTokensKept(const Window &window) {
    if (window.keepsTokens() && window.dilation == 1)
      return success();
    return operation->emitOpError()
           << "requires as many tokens out as in and no dilation for the CPU kernel, but found "
           << "stride " << window.stride << ", dilation " << window.dilation << ", " << window.taps << " taps and pads "
           << window.pads[0] << ", " << window.pads[1];
  }

  /// A matrix product of rows that overlap: row t of a padded copy, read on over the rows behind it, is the window of
  /// token t.  Groups follow each other in the same copy.
  // TODO(#8): weights of each sequence (kernel_attention_conv), several filters a channel, pairs of bf16.
  LogicalResult emit(Conv1DOp op) {
    const TileSizes &tiles = host.getTiles();
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    int64_t groups = op.getGroups(), in = features.in, out = features.out / groups, reach = features.taps - 1;
    if (failed(requireTokensKept(Window::get(op, features.taps))))
      return failure();
    if (op.hasSequenceWeights())
      return op.emitOpError() << "requires one weight for all sequences for the CPU kernel";
    if (tiles.isPaired)
      return op.emitOpError() << "requires products of f32 for the CPU kernel, but found an instruction set for bf16";
    auto [padded, made] = host.getPlan().getPadded(op.getResult());
    Value rows = host.countPadded(host.getBuffer(op.getX()).length, reach), tileCount = host.countTiles(rows);
    int64_t pitch = host.getPlan().getBuffer(made).width;
    auto index = [&](int64_t value) -> OpFoldResult { return Builder(op.getContext()).getIndexAttr(value); };
    for (int64_t g = 0; g < groups; ++g) {
      Value panels = parameter(op.getWeight(), g);
      if (!panels)
        return op.emitOpError() << "requires packed parameters that rest on globals";
      TemplateParameters padding{{"W", text(in)}, {"REACH", text(reach)}, {"LOW", text(op.getPads()[0])}};
      std::string suffix = text(in) + "_r" + text(reach) + "_low" + text(op.getPads()[0]);
      Value copy = host.view(padded, {rows, index(in)}, {index(in), index(1)});
      if (failed(call("pad_tokens", suffix, padding, {host.rows(op.getX(), in, g * in), copy})))
        return failure();
      Value windows = host.view(padded, {tileCount, index(tiles.rows), index(in * features.taps)},
                                {index(tiles.rows * in), index(in), index(1)});
      auto packed = cast<MemRefType>(panels.getType());
      int64_t panelCount = packed.getDimSize(0), panel = packed.getDimSize(2);
      Value results = host.view(made, {tileCount, index(tiles.rows), index(panelCount), index(panel)},
                                {index(tiles.rows * pitch), index(pitch), index(panel), index(1)}, g * out);
      if (failed(product(windows, panels, parameter(op.getBias(), g), /*multiplier=*/Value(), ActivationKind::Identity,
                         results)))
        return failure();
    }
    Value all = host.view(made, {rows, index(features.out)}, {index(pitch), index(1)});
    return call("unpad_tokens", text(features.out) + "_r" + text(reach),
                {{"W", text(features.out)}, {"REACH", text(reach)}}, {all, host.rows(op.getResult(), features.out)});
  }

  LogicalResult emit(DepthwiseConv1DOp op) {
    int64_t taps = op.getTaps(), low = op.getPads()[0], high = op.getPads()[1];
    if (op.getStride() != 1 || op.getDilation() != 1)
      return op.emitOpError() << "requires neither stride nor dilation for the CPU kernel, but found stride "
                              << op.getStride() << ", dilation " << op.getDilation();
    if (int64_t channels = getFeatures(op.getX()), filters = getFeatures(op.getResult()); channels != filters)
      return op.emitOpError() << "requires one filter a channel for the CPU kernel, but found " << filters
                              << " filters of " << channels << " channels";
    TemplateParameters parameters{{"K", text(taps)},
                                  {"LOW", text(low)},
                                  {"HIGH", text(high)},
                                  {"IN", text(TileSizes::tokenRows + taps - 1)},
                                  {"SPARE", text(TileSizes::tokenRows + std::max(taps - 1, low + high))},
                                  {"ROWS", text(taps + (op.getBias() ? 1 : 0))}};
    std::string suffix = "k" + text(taps);
    if (low != high)
      suffix += "_low" + text(low);
    if (op.getBias()) {
      suffix += "_bias";
      parameters.push_back({"BIAS", ""});
    }
    if (low + high != taps - 1) {
      suffix += "_high" + text(high);
      parameters.push_back({"OUT", ""});
    }
    return call("depthwise", suffix, parameters,
                {host.rows(op.getX()), parameter(op.getWeight()), host.rows(op.getResult())});
  }

  /// Takes the taps that read beyond an end out of the softmax: their logits are lost.
  LogicalResult leaveOut(ApplyKernelOp op, int64_t paddedHeads) {
    if (!op.getTaps().hasOneUse() || !op.getTaps().getDefiningOp<DynamicKernelOp>())
      return op.emitOpError() << "requires logits made for it alone for `edge = renorm` and the CPU kernel, but found "
                                 "others";
    int64_t taps = op.getTapCount(), low = op.getPads()[0], high = op.getPads()[1];
    TemplateParameters parameters{
        {"K", text(taps)}, {"LOW", text(low)}, {"HIGH", text(high)}, {"HP", text(paddedHeads)}};
    return call("leave_out_taps", "k" + text(taps) + "_p" + text(low) + "_h" + text(paddedHeads), parameters,
                {host.rows(op.getTaps())});
  }

  LogicalResult emit(ApplyKernelOp op) {
    auto type = cast<RankedTensorType>(op.getTaps().getType());
    int64_t heads = type.getDimSize(2), taps = type.getDimSize(3), halo = op.getPads()[0];
    if (op.getMask())
      return op.emitOpError() << "requires its mask decomposed into a step of its own";
    if (op.getNormalize() != KernelNorm::Softmax)
      return op.emitOpError() << "requires logits, with the softmax fused, for the CPU kernel";
    // TODO(#8): dilation, and heads that are columns
    if (op.getHeadMap() != HeadMap::Blocked || op.getDilation() != 1)
      return op.emitOpError() << "requires blocked heads and no dilation for the CPU kernel, but found "
                              << stringifyHeadMap(op.getHeadMap()) << " and dilation " << op.getDilation();
    int64_t padded = llvm::alignTo(heads, TileSizes::headBlock), width = host.getPlan().getView(op.getV()).width;
    TemplateParameters parameters{
        {"K", text(taps)},  {"HALO", text(halo)},        {"IN", text(TileSizes::tokenRows + taps - 1)},
        {"H", text(heads)}, {"HP", text(padded)},        {"DP", text(width / heads)},
        {"W", text(width)}, {"KHP", text(taps * padded)}};
    if (op.getEdge() == Edge::Renorm && failed(leaveOut(op, padded)))
      return failure();
    std::string suffix = "k" + text(taps) + "_h" + text(heads) + "_d" + text(width / heads);
    if (taps % 2 == 0 || op.getPads()[0] != op.getPads()[1])
      suffix += "_p" + text(halo);
    SmallVector<Value> operands{host.rows(op.getTaps()), host.rows(op.getV()), host.rows(op.getResult())};
    if (op.getWithTaps()) {
      suffix += "_taps";
      parameters.push_back({"TAPS", ""});
      operands.push_back(host.base(op.getNormalized()));
    }
    return call("span", suffix, parameters, operands);
  }

  LogicalResult emit(SelfAttentionOp op) {
    if (op.getBias() && host.getBuffer(op.getBias()).kind != RowKind::Key)
      return op.emitOpError() << "requires a key bias made by convbert.attention_bias for the CPU kernel";
    if (getFeatures(op.getV()) != getFeatures(op.getK()))
      return op.emitOpError() << "requires values as wide as keys for the CPU kernel, but found "
                              << getFeatures(op.getV()) << " and " << getFeatures(op.getK()) << " features";
    int64_t heads = static_cast<int64_t>(op.getHeads()), pitch = host.getPlan().getView(op.getK()).width / heads;
    TemplateParameters parameters{
        {"NR", text(host.getTiles().keyPanel)}, {"DP", text(pitch)}, {"NR_DP", text(pitch * host.getTiles().keyPanel)}};
    std::string suffix = "d" + text(pitch);
    // A scale that could not be folded into the weights of the key.
    if (op.getScale().convertToDouble() != 1.0) {
      suffix += "_scale";
      parameters.push_back({"SCALE", number(op.getScale())});
    }
    unsigned length = host.getLength(op.getK());
    if (!op.getBias() && host.startPlainBias(length) && failed(call("plain_bias", "", {}, {host.plainBias(length)})))
      return failure();
    if (op.getHeadMask()) {
      suffix += "_head_mask";
      parameters.push_back({"HEAD_MASK", ""});
    }
    if (op.getProbabilities()) {
      suffix += "_probabilities";
      parameters.push_back({"PROBABILITIES", ""});
    }
    // One call for each run of heads that read neighbouring slices of the query.
    for (int64_t begin = 0, end; begin < heads; begin = end) {
      end = op.getQueryHeads() ? begin + 1 : heads;
      while (end < heads && op.getQuerySlice(end) == op.getQuerySlice(end - 1) + 1)
        ++end;
      auto run = [&](Value value, int64_t slice) { return host.rows(value, (end - begin) * pitch, slice * pitch); };
      SmallVector<Value> operands{run(op.getQ(), op.getQuerySlice(begin)), run(op.getK(), begin), run(op.getV(), begin),
                                  op.getBias() ? host.base(op.getBias()) : host.plainBias(length),
                                  run(op.getResult(), begin)};
      if (op.getHeadMask())
        operands.push_back(host.slice(input(op.getHeadMask()), 0, begin, end - begin));
      if (op.getProbabilities())
        operands.push_back(host.slice(host.base(op.getProbabilities()), 1, begin, end - begin));
      if (failed(call("attention", suffix, parameters, operands)))
        return failure();
    }
    return success();
  }

  LogicalResult emit(ActivationOp op) {
    int64_t padded = llvm::alignTo(getFeatures(op.getX()), TileSizes::lanes);
    std::string kind = stringifyActivationKind(op.getKind()).str();
    return call("activation", kind + "_" + text(padded), {{"W", text(padded)}, {"ACT", kind}},
                {host.rows(op.getX(), padded), host.rows(op.getResult(), padded)});
  }

  /// Sums and products of activations, element by element.
  template <typename Op> LogicalResult emit(Op op) {
    int64_t padded = llvm::alignTo(host.getPlan().getView(op.getResult()).width, TileSizes::lanes);
    std::string name = op->getName().stripDialect().str();
    return call("binary", name + "_" + text(padded), {{"W", text(padded)}, {"OP", name}},
                {host.rows(op.getLhs(), padded), host.rows(op.getRhs(), padded), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(ScaleHeadsOp op) {
    int64_t heads = cast<RankedTensorType>(op.getScales().getType()).getDimSize(0);
    int64_t pitch = host.getPlan().getView(op.getX()).width / heads;
    return call("scale_heads", "d" + text(pitch), {{"DP", text(pitch)}},
                {host.rows(op.getX()), input(op.getScales()), host.rows(op.getResult())});
  }

  LogicalResult emit(AddBiasOp op) {
    int64_t padded = llvm::alignTo(host.getPlan().getView(op.getX()).width, TileSizes::lanes);
    return call("add_bias", text(padded), {{"W", text(padded)}},
                {host.rows(op.getX(), padded), parameter(op.getBias()), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(ScaleChannelsOp op) {
    int64_t padded = llvm::alignTo(getFeatures(op.getX()), TileSizes::lanes);
    return call("scale_channels", text(padded), {{"W", text(padded)}},
                {host.rows(op.getX(), padded), host.rows(op.getGate(), padded), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(SelectBranchesOp op) {
    size_t branches = op.getBranches().size();
    if (branches > kMostBranches)
      return op.emitOpError() << "requires at most " << kMostBranches << " branches for the CPU kernel, but found "
                              << branches;
    int64_t padded = llvm::alignTo(getFeatures(op.getResult()), TileSizes::lanes);
    TemplateParameters parameters{{"W", text(padded)}};
    if (branches > 1)
      parameters.push_back({"M2", ""});
    if (branches > 2)
      parameters.push_back({"M3", ""});
    if (branches > 3)
      parameters.push_back({"M4", ""});
    SmallVector<Value> operands;
    for (Value value : op->getOperands())
      operands.push_back(host.rows(value, padded));
    operands.push_back(host.rows(op.getResult(), padded));
    return call("select_branches", text(branches) + "_" + text(padded), parameters, operands);
  }

  LogicalResult emit(MaskTokensOp op) {
    int64_t width = host.getPlan().getView(op.getX()).width;
    return call("mask_tokens", text(width), {{"W", text(width)}, {"WHOLE", text(width / 16 * 16)}},
                {host.rows(op.getX()), input(op.getMask()), host.rows(op.getResult())});
  }

  LogicalResult emit(PoolOp op) {
    int64_t width = getFeatures(op.getX());
    if (op.getKind() == PoolKind::Mean) {
      int64_t padded = llvm::alignTo(width, TileSizes::lanes);
      TemplateParameters parameters{{"W", text(padded)}};
      SmallVector<Value> operands{host.rows(op.getX(), padded), host.rows(op.getResult(), padded)};
      if (op.getMask()) {
        parameters.push_back({"MASK", ""});
        operands.push_back(input(op.getMask()));
      }
      return call("pool_mean", text(padded) + (op.getMask() ? "_mask" : ""), parameters, operands);
    }
    return call("pool", text(width), {{"W", text(width)}, {"LAST", op.getKind() == PoolKind::Last ? "true" : "false"}},
                {host.rows(op.getX()), host.rows(op.getResult())});
  }
};

} // namespace

/// Calls `action` with the operation as what it is; `otherwise` if it has no kernel.
template <typename Result, typename Action> static Result dispatch(Operation *op, Action action, Result otherwise) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .template Case<DenseOp, DynamicKernelOp, GroupedDenseOp, LayerNormOp, EmbeddingsOp, AttentionBiasOp, Conv1DOp,
                     DepthwiseConv1DOp, ApplyKernelOp, SelfAttentionOp, ActivationOp, MaskTokensOp, ScaleHeadsOp,
                     PoolOp, AddBiasOp, ScaleChannelsOp, SelectBranchesOp, arith::AddFOp, arith::MulFOp, arith::SubFOp>(
          action)
      .Default(otherwise);
}

bool convbert::hasKernel(Operation *op) {
  return dispatch(op, [](auto) { return true; }, false);
}

LogicalResult convbert::emitKernelCalls(Operation *op, HostBuilder &host, KernelTemplates &kernels,
                                        const OperandLookup &lookup) {
  Emitter emitter{op, host, kernels, lookup};
  return dispatch<LogicalResult>(op, [&](auto concrete) { return emitter.emit(concrete); }, failure());
}
