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
  // TODO(#8): weights of each sequence (kernel_attention_conv), pairs of bf16.
  LogicalResult emit(Conv1DOp op) {
    const TileSizes &tiles = host.getTiles();
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    int64_t groups = op.getGroups(), in = features.in, out = features.out / groups;
    if (op.hasSequenceWeights())
      return op.emitOpError() << "requires one weight for all sequences for the CPU kernel";
    if (tiles.isPaired)
      return op.emitOpError() << "requires products of f32 for the CPU kernel, but found an instruction set for bf16";
    Window window = Window::get(op, features.taps);
    PaddedRows order = PaddedRows::get(window);
    auto [padded, made] = host.getPlan().getPadded(op.getResult());
    unsigned length = host.getLength(op.getResult());
    Value windowCount = host.countPadded(length, order.getSpare()), tileCount = host.countTiles(windowCount);
    Value rows = host.mul(windowCount, host.constant(order.step));
    int64_t pitch = host.getPlan().getBuffer(made).width;
    std::string suffix = text(features.taps) + getSuffix(window);
    for (int64_t g = 0; g < groups; ++g) {
      Value panels = parameter(op.getWeight(), g);
      if (!panels)
        return op.emitOpError() << "requires packed parameters that rest on globals";
      TemplateParameters padding = getOrder(order, in);
      padding.append({{"LOW", text(window.pads[0])},
                      {"STRIDE", text(window.stride)},
                      {"DILATION", text(window.dilation)},
                      {"STEP", text(order.step)}});
      Value copy = host.view(padded, {rows, index(in)}, {index(in), index(1)});
      if (failed(call("pad_tokens", text(in) + "_k" + suffix, padding, {host.rows(op.getX(), in, g * in), copy})))
        return failure();
      Value windows = host.view(padded, {tileCount, index(tiles.rows), index(in * features.taps)},
                                {index(tiles.rows * order.step * in), index(order.step * in), index(1)});
      int64_t panelCount = cast<MemRefType>(panels.getType()).getDimSize(0);
      Value results = host.view(made, {tileCount, index(tiles.rows), index(panelCount), index(tiles.panel)},
                                {index(tiles.rows * pitch), index(pitch), index(tiles.panel), index(1)}, g * out);
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
    TemplateParameters parameters{{"K", text(taps)},
                                  {"LOW", text(low)},
                                  {"HIGH", text(high)},
                                  {"IN", text(read)},
                                  {"SPARE", text(rows + std::max(read - rows, low + high))},
                                  {"ROWS", text(taps + (op.getBias() ? 1 : 0))}};
    std::string suffix = "k" + text(taps) + getSuffix(window);
    if (window.stride != 1 || window.dilation != 1)
      parameters.append({{"STEPS", ""}, {"STRIDE", text(window.stride)}, {"DILATION", text(window.dilation)}});
    if (int64_t filters = getFeatures(op.getResult()) / getFeatures(op.getX()); filters != 1) {
      suffix += "_m" + text(filters);
      parameters.push_back({"FILTERS", text(filters)});
    }
    if (op.getBias()) {
      suffix += "_bias";
      parameters.push_back({"BIAS", ""});
    }
    if (!window.keepsTokens())
      parameters.push_back({"OUT", ""});
    return call("depthwise", suffix, parameters,
                {host.rows(op.getX()), parameter(op.getWeight()), host.rows(op.getResult())});
  }

  /// Takes the taps that read beyond an end out of the softmax: their logits are lost.
  LogicalResult leaveOut(ApplyKernelOp op, int64_t paddedHeads) {
    if (!op.getTaps().hasOneUse() || !op.getTaps().getDefiningOp<DynamicKernelOp>())
      return op.emitOpError() << "requires logits made for it alone for `edge = renorm` and the CPU kernel, but found "
                                 "others";
    int64_t taps = op.getTapCount(), low = op.getPads()[0], high = op.getPads()[1];
    int64_t dilation = static_cast<int64_t>(op.getDilation());
    std::string suffix = "k" + text(taps) + "_p" + text(low) + "_h" + text(paddedHeads);
    if (dilation != 1)
      suffix += "_d" + text(dilation);
    TemplateParameters parameters{{"K", text(taps)},
                                  {"LOW", text(low)},
                                  {"HIGH", text(high)},
                                  {"DILATION", text(dilation)},
                                  {"HP", text(paddedHeads)}};
    return call("leave_out_taps", suffix, parameters, {host.rows(op.getTaps())});
  }

  LogicalResult emit(ApplyKernelOp op) {
    auto type = cast<RankedTensorType>(op.getTaps().getType());
    int64_t heads = type.getDimSize(2), taps = type.getDimSize(3), halo = op.getPads()[0];
    int64_t dilation = static_cast<int64_t>(op.getDilation());
    if (op.getMask())
      return op.emitOpError() << "requires its mask decomposed into a step of its own";
    bool isRaw = op.getNormalize() != KernelNorm::Softmax, isBlocked = op.getHeadMap() == HeadMap::Blocked;
    int64_t padded = llvm::alignTo(heads, TileSizes::headBlock);
    int64_t width = llvm::alignTo(host.getPlan().getView(op.getV()).width, TileSizes::lanes);
    TemplateParameters parameters{
        {"K", text(taps)},           {"HALO", text(halo)}, {"IN", text(TileSizes::tokenRows + taps - 1)},
        {"H", text(heads)},          {"HP", text(padded)}, {"W", text(width)},
        {"KHP", text(taps * padded)}};
    if (op.getEdge() == Edge::Renorm && failed(leaveOut(op, padded)))
      return failure();
    std::string suffix = "k" + text(taps) + "_h" + text(heads);
    if (isBlocked) {
      suffix += "_d" + text(width / heads);
      parameters.push_back({"DP", text(width / heads)});
    } else {
      suffix += "_w" + text(width);
      parameters.push_back({"COLUMNS", ""});
      // The last copy of the heads begins before H + 16.
      parameters.push_back({"EXT", text(heads + TileSizes::lanes + padded)});
    }
    if (op.getPads()[0] != op.getPads()[1])
      suffix += "_p" + text(halo);
    SmallVector<Value> operands{host.rows(op.getTaps()), host.rows(op.getV(), width), host.rows(op.getResult(), width)};
    if (op.getWithTaps()) {
      suffix += "_taps";
      parameters.push_back({"TAPS", ""});
      operands.push_back(host.base(op.getNormalized()));
    }
    if (isBlocked && !isRaw && dilation == 1)
      return call("span", suffix, parameters, operands);
    suffix += "_apart" + text(dilation);
    parameters.push_back({"DILATION", text(dilation)});
    if (isRaw) {
      suffix += "_raw";
      parameters.push_back({"RAW", ""});
    }
    return call("span_apart", suffix, parameters, operands);
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
