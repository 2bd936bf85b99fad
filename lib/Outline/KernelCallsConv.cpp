//===- KernelCallsConv.cpp - Which kernels compute a convolution ------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/KernelEmitter.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ConvEmitter : KernelEmitter {
  LogicalResult emit(DepthwiseConv1DOp op) {
    int64_t taps = op.getTaps(), low = op.getPads()[0], high = op.getPads()[1];
    Window window = Window::get(op, taps);
    constexpr int64_t rows = TileSizes::tokenRows;
    int64_t read = (rows - 1) * window.stride + (taps - 1) * window.dilation + 1;
    int64_t filters = getFeatures(op.getResult()) / getFeatures(op.getX());
    TemplateParameters parameters{
        {"K", text(taps)}, {"LOW", text(low)}, {"IN", text(read)}, {"ROWS", text(taps + (op.getBias() ? 1 : 0))}};
    std::string suffix = "k" + text(taps) + windowSuffix(window);
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
        TemplateParameters parameters = orderParameters(rows, taps.width());
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
