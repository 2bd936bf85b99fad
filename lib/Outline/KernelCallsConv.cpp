//===- KernelCallsConv.cpp - Which kernels compute a convolution ------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/KernelEmitter.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ConvEmitter : KernelEmitter {
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
      int64_t panelCount = cast<MemRefType>(panels.getType()).getDimSize(0);
      Value results = host.view(made, {tileCount, index(tiles.rows), index(panelCount), index(tiles.panel)},
                                {index(tiles.rows * pitch), index(pitch), index(tiles.panel), index(1)}, g * out);
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
};

} // namespace

LogicalResult convbert::emitConvolution(KernelEmitter &emitter, Conv1DOp op) { return ConvEmitter{emitter}.emit(op); }
LogicalResult convbert::emitConvolution(KernelEmitter &emitter, DepthwiseConv1DOp op) {
  return ConvEmitter{emitter}.emit(op);
}
LogicalResult convbert::emitConvolution(KernelEmitter &emitter, ApplyKernelOp op) {
  return ConvEmitter{emitter}.emit(op);
}
