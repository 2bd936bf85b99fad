//===- KernelCallsConv.cpp - Which kernels compute a convolution ------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/KernelEmitter.h"
#include "lib/Outline/MixedKernels.h"
#include "lib/Outline/PaddedRows.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ConvEmitter : KernelEmitter {
  OpFoldResult index(int64_t value) { return Builder(operation->getContext()).getIndexAttr(value); }

  /// A matrix product of rows that overlap: a row of a padded copy, read on over the rows behind it, is the window of a
  /// token.  Groups follow each other in the same copy.
  LogicalResult emit(Conv1DOp op) {
    const TileSizes &tiles = host.getTiles();
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    int64_t groups = op.getGroups(), in = features.in, out = features.out / groups;
    Window window = Window::get(op, features.taps);
    PaddedRows order = PaddedRows::get(window);
    auto [padded, made] = host.getPlan().getPadded(op.getResult());
    unsigned length = host.getLength(op.getResult());
    Value windowCount = host.countPadded(length, order.getSpare()), tileCount = host.countTiles(windowCount);
    Value rows = host.mul(windowCount, host.constant(order.step));
    int64_t pitch = host.getPlan().getBuffer(made).width;
    std::string suffix = text(features.taps) + getSuffix(window);
    int64_t width = llvm::alignTo(in, tiles.isPaired ? 2 : 1), depth = width * features.taps;
    Windows windows{padded, made, order.step * width, depth, pitch};
    for (int64_t g = 0; g < groups; ++g) {
      TemplateParameters padding = getOrder(order, in);
      padding.append({{"LOW", text(window.pads[0])},
                      {"STRIDE", text(window.stride)},
                      {"DILATION", text(window.dilation)},
                      {"STEP", text(order.step)}});
      if (tiles.isPaired)
        padding.append(
            {{"PAIRS", ""}, {"PAIRS_W", text(width)}, {"WHOLE", text(in / TileSizes::lanes * TileSizes::lanes)}});
      Value copy = host.view(padded, {rows, index(width)}, {index(width), index(1)});
      if (failed(call("pad_tokens", text(in) + "_k" + suffix, padding, {host.rows(op.getX(), in, g * in), copy})))
        return failure();
      if (failed(op.hasSequenceWeights() ? multiplyMixed(op, windows, order)
                                         : multiply(windows, tileCount, index(0), index(g * out),
                                                    parameter(op.getWeight(), g), parameter(op.getBias(), g))))
        return failure();
    }
    Value all = host.view(made, {windowCount, index(features.out)}, {index(pitch), index(1)});
    host.setLengths(length, length);
    return call("unpad_tokens", text(features.out) + "_k" + suffix, getOrder(order, features.out),
                {all, host.rows(op.getResult(), features.out)});
  }

  /// Rows that overlap, and rows of what is made of them.
  struct Windows {
    unsigned from, to; ///< buffers
    int64_t step, depth, pitch;
  };

  /// Multiplies tiles of windows from element `read` on; what they make begins at element `write`.
  LogicalResult multiply(const Windows &windows, Value tileCount, OpFoldResult read, OpFoldResult write, Value panels,
                         Value bias) {
    if (!panels)
      return operation->emitOpError() << "requires packed parameters that rest on globals";
    const TileSizes &tiles = host.getTiles();
    OpFoldResult mr = index(tiles.rows), tileStep = index(tiles.rows * windows.step), rowStep = index(windows.step);
    Value rows = tiles.isPaired ? host.view(windows.from, {tileCount, mr, index(windows.depth / 2), index(2)},
                                            {tileStep, rowStep, index(2), index(1)}, read)
                                : host.view(windows.from, {tileCount, mr, index(windows.depth)},
                                            {tileStep, rowStep, index(1)}, read);
    auto packed = cast<MemRefType>(panels.getType());
    OpFoldResult panelCount = index(packed.getDimSize(0)), panel = index(packed.getDimSize(2));
    Value results = host.view(windows.to, {tileCount, mr, panelCount, panel},
                              {index(tiles.rows * windows.pitch), index(windows.pitch), panel, index(1)}, write);
    return product(rows, panels, bias, /*multiplier=*/Value(), ActivationKind::Identity, results);
  }

  /// The windows of each sequence times panels that are mixed for it, in memory for one sequence.  The last tile of a
  /// sequence also makes rows of the next one, which are made again behind it.
  LogicalResult multiplyMixed(Conv1DOp op, const Windows &windows, const PaddedRows &order) {
    FailureOr<MixedKernels> mixed = MixedKernels::get(op);
    Value kernels = succeeded(mixed) ? parameter(mixed->kernel.getWeight()) : Value();
    Value biases = succeeded(mixed) && mixed->bias ? parameter(mixed->bias.getWeight()) : Value();
    if (!kernels || !biases)
      return op.emitOpError() << "requires packed parameters that rest on globals";
    // What stands before the loop can be read behind it.
    auto [panels, bias] = host.getPlan().getMixed(op.getResult());
    for (unsigned buffer : {windows.from, windows.to})
      host.memoryOf(buffer);
    Value weights = host.rows(mixed->weights);
    Value mixedPanels =
        host.reshape(host.memoryOf(panels), cast<MemRefType>(kernels.getType()).getShape().drop_front());
    Value mixedBias = host.reshape(host.memoryOf(bias), cast<MemRefType>(biases.getType()).getShape().drop_front());
    return host.forSequences([&](Value sequence) -> LogicalResult {
      Value factors = host.row(weights, sequence);
      if (failed(mix(kernels, factors, mixedPanels)) || failed(mix(biases, factors, mixedBias)))
        return failure();
      auto [start, made] = host.getSequence(host.getLength(op.getResult()), sequence);
      Value first = host.add(start, host.mul(sequence, host.constant(order.getSpare())));
      // Phases are rounded up, and windows behind the last one are none.
      Value count = host.add(made, host.constant(order.getSpare() - order.extra));
      return multiply(windows, host.countTiles(count), host.mul(first, host.constant(windows.step)),
                      host.mul(first, host.constant(windows.pitch)), mixedPanels, mixedBias);
    });
  }

  /// The sum of the arrays in `from`, each times its factor, to `to`.
  LogicalResult mix(Value from, Value factors, Value to) {
    auto source = cast<MemRefType>(from.getType()), target = cast<MemRefType>(to.getType());
    int64_t count = source.getDimSize(0), size = target.getNumElements();
    bool isWide = source.getElementType().isF32(), isRounded = target.getElementType().isBF16();
    std::string suffix = text(count);
    TemplateParameters parameters{{"N", text(count)},
                                  {"WT", isWide ? "f32" : "bf16"},
                                  {"MT", isRounded ? "bf16" : "f32"},
                                  {"CHUNK", text(CostModel::threadElements)}};
    if (!isWide) {
      suffix += "_bf16";
      parameters.push_back({"WIDEN", ""});
    }
    if (isRounded) {
      suffix += "_round";
      parameters.push_back({"ROUND", ""});
    }
    return call("mix_kernels", suffix, parameters,
                {host.reshape(from, {count, size}), factors, host.reshape(to, {size})});
  }

  /// What the copies before and behind the product agree on, for rows of `width`.
  static TemplateParameters getOrder(const PaddedRows &order, int64_t width) {
    return {{"W", text(width)},
            {"PHASES", text(order.phases)},
            {"EXTRA", text(order.extra)},
            {"SPARE", text(order.getSpare())}};
  }

  /// What tells windows of as many taps apart, in names of kernels.
  static std::string getSuffix(const Window &window) {
    std::string suffix;
    if (window.pads[0] != window.pads[1] || !window.keepsTokens())
      suffix += "_low" + text(window.pads[0]);
    if (!window.keepsTokens())
      suffix += "_high" + text(window.pads[1]);
    if (window.stride != 1)
      suffix += "_s" + text(window.stride);
    if (window.dilation != 1)
      suffix += "_d" + text(window.dilation);
    return suffix;
  }

  LogicalResult emit(DepthwiseConv1DOp op) {
    int64_t taps = op.getTaps(), low = op.getPads()[0], high = op.getPads()[1];
    Window window = Window::get(op, taps);
    constexpr int64_t rows = TileSizes::tokenRows;
    int64_t read = (rows - 1) * window.stride + (taps - 1) * window.dilation + 1;
    int64_t filters = getFeatures(op.getResult()) / getFeatures(op.getX());
    TemplateParameters parameters{
        {"K", text(taps)}, {"LOW", text(low)}, {"IN", text(read)}, {"ROWS", text(taps + (op.getBias() ? 1 : 0))}};
    std::string suffix = "k" + text(taps) + getSuffix(window);
    StringRef kernel = "depthwise";
    bool hasSteps = window.stride != 1 || window.dilation != 1;
    if (hasSteps || filters != 1) {
      kernel = "depthwise_steps";
      parameters.append({{"HIGH", text(high)}, {"SPARE", text(rows + std::max(read - rows, low + high))}});
    } else {
      int64_t width = llvm::alignTo(getFeatures(op.getX()), TileSizes::channelBlock);
      suffix += "_w" + text(width);
      parameters.append({{"W", text(width)}, {"TILE", text(host.getCosts().getTileChannels())}});
    }
    if (hasSteps)
      parameters.append({{"STEPS", ""}, {"STRIDE", text(window.stride)}, {"DILATION", text(window.dilation)}});
    if (filters != 1) {
      suffix += "_m" + text(filters);
      parameters.push_back({"FILTERS", text(filters)});
    }
    if (op.getBias()) {
      suffix += "_bias";
      parameters.push_back({"BIAS", ""});
    }
    if (!window.keepsTokens())
      parameters.push_back({"OUT", ""});
    return call(kernel, suffix, parameters,
                {host.rows(op.getX()), parameter(op.getWeight()), host.rows(op.getResult())});
  }

  /// What a convolution is like that is not made.
  struct Folded {
    int64_t taps, rows, low, high, width;

    explicit Folded(DepthwiseConv1DOp op)
        : taps(op.getTaps()), rows(taps + (op.getBias() ? 1 : 0)), low(op.getPads()[0]), high(op.getPads()[1]),
          width(llvm::alignTo(getFeatures(op.getX()), TileSizes::channelBlock)) {}

    std::string getSuffix() const {
      return "k" + text(taps) + (low == high ? "" : "_low" + text(low)) + "_w" + text(width) +
             (rows == taps ? "" : "_bias");
    }
    TemplateParameters getParameters() const {
      TemplateParameters parameters{{"K", text(taps)}, {"LOW", text(low)}, {"ROWS", text(rows)}, {"W", text(width)}};
      if (rows != taps)
        parameters.push_back({"BIAS", ""});
      return parameters;
    }
  };

  /// The mean of a convolution that is not made.
  LogicalResult emit(PoolOp op) {
    auto conv = op.getX().getDefiningOp<DepthwiseConv1DOp>();
    Folded folded(conv);
    TemplateParameters parameters = folded.getParameters();
    parameters.append({{"HIGH", text(folded.high)}, {"V", text(CostModel::getSumFeatures(folded.width))}});
    return call("pool_depthwise", folded.getSuffix(), parameters,
                {host.rows(conv.getX()), parameter(conv.getWeight()), host.rows(op.getResult())});
  }

  /// A sum of convolutions that are not made, with weights of the sequence, is one with taps of the sequence.
  LogicalResult emit(SelectBranchesOp op) {
    auto conv = op.getBranches().front().getDefiningOp<DepthwiseConv1DOp>();
    Folded folded(conv);
    SmallVector<Value> operands;
    for (Value branch : op.getBranches())
      operands.push_back(parameter(branch.getDefiningOp<DepthwiseConv1DOp>().getWeight()));
    for (Value logits : op.getLogits())
      operands.push_back(host.rows(logits));
    unsigned buffer = host.getPlan().getMixedTaps(op.getResult());
    int64_t block = folded.rows * TileSizes::channelBlock;
    OpFoldResult sequences = host.getContext().counts[getArena(RowKind::Sequence, 0)];
    Value mixed = host.view(
        buffer,
        {sequences, index(folded.width / TileSizes::channelBlock), index(folded.rows), index(TileSizes::channelBlock)},
        {index(host.getPlan().getBuffer(buffer).pitch), index(block), index(TileSizes::channelBlock), index(1)});
    operands.push_back(mixed);
    size_t branches = op.getBranches().size();
    TemplateParameters parameters = branchParameters(branches, "tensor<1x" + text(folded.rows) + "x16xf32>");
    parameters.append({{"W", text(folded.width)}, {"ROWS", text(folded.rows)}});
    if (failed(call("mix_taps", text(branches) + "_" + text(folded.rows) + "_w" + text(folded.width), parameters,
                    operands)))
      return failure();
    parameters = folded.getParameters();
    parameters.append({{"IN", text(TileSizes::tokenRows + folded.taps - 1)},
                       {"TILE", text(host.getCosts().getTileChannels())},
                       {"SEQUENCES", ""}});
    return call("depthwise", folded.getSuffix() + "_sequences", parameters,
                {host.rows(conv.getX()), mixed, host.rows(op.getResult())});
  }

  /// A convolution by taps of each token.
  struct Taps {
    Value logits; ///< rows of [tap][heads rounded up]
    int64_t heads, count, dilation;
    ArrayRef<int64_t> pads;
    HeadMap map;
    bool isRaw; ///< taps, not logits

    int64_t paddedHeads() const { return llvm::alignTo(heads, TileSizes::headBlock); }
    int64_t width() const { return count * paddedHeads(); }
  };

  /// Rows of a buffer of logits for `result`, as wide as `width`.
  Value ownTaps(Value result, unsigned buffer, int64_t width) {
    OpFoldResult rows = host.getContext().counts[getArena(RowKind::Token, host.getLength(result))];
    return host.view(buffer, {rows, index(width)}, {index(host.getPlan().getBuffer(buffer).pitch), index(1)});
  }

  /// Takes the taps that read beyond an end out of the softmax: their logits are lost.
  LogicalResult leaveOut(const Taps &taps) {
    std::string suffix = "k" + text(taps.count) + "_p" + text(taps.pads[0]) + "_h" + text(taps.paddedHeads());
    if (taps.dilation != 1)
      suffix += "_d" + text(taps.dilation);
    TemplateParameters parameters{{"K", text(taps.count)},
                                  {"LOW", text(taps.pads[0])},
                                  {"HIGH", text(taps.pads[1])},
                                  {"DILATION", text(taps.dilation)},
                                  {"HP", text(taps.paddedHeads())}};
    return call("leave_out_taps", suffix, parameters, {taps.logits});
  }

  /// The convolution of `v`; `maps` is memory for the softmax, or null.
  LogicalResult apply(const Taps &taps, Value v, Value result, Value maps) {
    bool isBlocked = taps.map == HeadMap::Blocked;
    int64_t padded = taps.paddedHeads(), width = llvm::alignTo(host.getPlan().getView(v).width, TileSizes::lanes);
    TemplateParameters parameters{
        {"K", text(taps.count)},    {"HALO", text(taps.pads[0])}, {"IN", text(TileSizes::tokenRows + taps.count - 1)},
        {"H", text(taps.heads)},    {"HP", text(padded)},         {"W", text(width)},
        {"KHP", text(taps.width())}};
    std::string suffix = "k" + text(taps.count) + "_h" + text(taps.heads);
    if (isBlocked) {
      suffix += "_d" + text(width / taps.heads);
      parameters.push_back({"DP", text(width / taps.heads)});
    } else {
      suffix += "_w" + text(width);
      parameters.push_back({"COLUMNS", ""});
      // The last copy of the heads begins before H + 16.
      parameters.push_back({"EXT", text(taps.heads + TileSizes::lanes + padded)});
    }
    if (taps.pads[0] != taps.pads[1])
      suffix += "_p" + text(taps.pads[0]);
    SmallVector<Value> operands{taps.logits, host.rows(v, width), host.rows(result, width)};
    if (maps) {
      suffix += "_taps";
      parameters.push_back({"TAPS", ""});
      operands.push_back(maps);
    }
    if (isBlocked && !taps.isRaw && taps.dilation == 1)
      return call("span", suffix, parameters, operands);
    suffix += "_apart" + text(taps.dilation);
    parameters.push_back({"DILATION", text(taps.dilation)});
    if (taps.isRaw) {
      suffix += "_raw";
      parameters.push_back({"RAW", ""});
    }
    return call("span_apart", suffix, parameters, operands);
  }

  LogicalResult emit(ApplyKernelOp op) {
    if (op.getMask())
      return op.emitOpError() << "requires its mask decomposed into a step of its own";
    Taps taps{host.rows(op.getTaps()),
              getExtent(op.getTaps(), 2),
              op.getTapCount(),
              static_cast<int64_t>(op.getDilation()),
              op.getPads(),
              op.getHeadMap(),
              op.getNormalize() != KernelNorm::Softmax};
    if (op.getEdge() == Edge::Renorm) {
      if (std::optional<unsigned> own = host.getPlan().getOwnTaps(op.getResult())) {
        Value copy = ownTaps(op.getResult(), *own, taps.width());
        PaddedRows rows{/*phases=*/1, /*step=*/1, /*extra=*/0};
        TemplateParameters parameters = getOrder(rows, taps.width());
        parameters.append({{"LOW", "0"}, {"STRIDE", "1"}, {"DILATION", "1"}, {"STEP", "1"}});
        if (failed(call("pad_tokens", text(taps.width()) + "_k1", parameters, {taps.logits, copy})))
          return failure();
        taps.logits = copy;
      }
      if (failed(leaveOut(taps)))
        return failure();
    }
    return apply(taps, op.getV(), op.getResult(), op.getWithTaps() ? host.base(op.getNormalized()) : Value());
  }

  /// In place: without the taps that are left out.
  LogicalResult emit(DynamicKernelOp op) {
    Taps taps{host.rows(op.getResult()),
              static_cast<int64_t>(op.getHeads()),
              op.getTaps(),
              static_cast<int64_t>(op.getDilation()),
              op.getPads().value_or(ArrayRef<int64_t>()),
              HeadMap::Blocked,
              /*isRaw=*/false};
    if (op.getEdge() == Edge::Renorm && failed(leaveOut(taps)))
      return failure();
    return call("softmax_taps", "k" + text(taps.count) + "_h" + text(taps.paddedHeads()),
                {{"K", text(taps.count)},
                 {"IN", text(TileSizes::tokenRows + taps.count - 1)},
                 {"HP", text(taps.paddedHeads())},
                 {"KHP", text(taps.width())}},
                {taps.logits});
  }

  /// Taps that are the same for all tokens, but for those at an end of the sequence.
  LogicalResult emit(LightConvOp op) {
    std::optional<unsigned> own = host.getPlan().getOwnTaps(op.getResult());
    assert(own && "every lightweight convolution that is left has them");
    Taps taps{Value(),
              getExtent(op.getWeight(), 0),
              getExtent(op.getWeight(), 1),
              static_cast<int64_t>(op.getDilation()),
              op.getPads(),
              op.getHeadMap(),
              op.getNormalize() != KernelNorm::Softmax};
    taps.logits = ownTaps(op.getResult(), *own, taps.width());
    if (failed(call("spread_taps", text(taps.width()), {{"KHP", text(taps.width())}},
                    {parameter(op.getWeight()), taps.logits})) ||
        failed(leaveOut(taps)))
      return failure();
    return apply(taps, op.getX(), op.getResult(), /*maps=*/Value());
  }
};

} // namespace

LogicalResult convbert::emitConvolution(KernelEmitter &emitter, Conv1DOp op) { return ConvEmitter{emitter}.emit(op); }
LogicalResult convbert::emitConvolution(KernelEmitter &emitter, DepthwiseConv1DOp op) {
  return ConvEmitter{emitter}.emit(op);
}
LogicalResult convbert::emitConvolution(KernelEmitter &emitter, ApplyKernelOp op) {
  return ConvEmitter{emitter}.emit(op);
}
LogicalResult convbert::emitConvolution(KernelEmitter &emitter, LightConvOp op) {
  return ConvEmitter{emitter}.emit(op);
}
LogicalResult convbert::emitTapSoftmax(KernelEmitter &emitter, DynamicKernelOp op) {
  return ConvEmitter{emitter}.emit(op);
}
LogicalResult convbert::emitFolded(KernelEmitter &emitter, PoolOp op) { return ConvEmitter{emitter}.emit(op); }
LogicalResult convbert::emitFolded(KernelEmitter &emitter, SelectBranchesOp op) {
  return ConvEmitter{emitter}.emit(op);
}
