//===- KernelCallsConv.cpp - Which kernels compute a convolution ------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/KernelEmitter.h"
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
    OpFoldResult mr = index(tiles.rows), tileStep = index(tiles.rows * order.step * width),
                 rowStep = index(order.step * width);
    for (int64_t g = 0; g < groups; ++g) {
      Value panels = parameter(op.getWeight(), g);
      if (!panels)
        return op.emitOpError() << "requires packed parameters that rest on globals";
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
      Value windows = tiles.isPaired ? host.view(padded, {tileCount, mr, index(depth / 2), index(2)},
                                                 {tileStep, rowStep, index(2), index(1)})
                                     : host.view(padded, {tileCount, mr, index(depth)}, {tileStep, rowStep, index(1)});
      auto packed = cast<MemRefType>(panels.getType());
      OpFoldResult panelCount = index(packed.getDimSize(0)), panel = index(packed.getDimSize(2));
      Value results = host.view(made, {tileCount, mr, panelCount, panel},
                                {index(tiles.rows * pitch), index(pitch), panel, index(1)}, g * out);
      if (failed(product(windows, panels, parameter(op.getBias(), g), /*multiplier=*/Value(), ActivationKind::Identity,
                         results)))
        return failure();
    }
    Value all = host.view(made, {windowCount, index(features.out)}, {index(pitch), index(1)});
    host.setLengths(length, length);
    return call("unpad_tokens", text(features.out) + "_k" + suffix, getOrder(order, features.out),
                {all, host.rows(op.getResult(), features.out)});
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
      parameters.push_back({"W", text(width)});
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
