//===- KernelCallsGroups.cpp - Products of groups and of windows ------------===//

#include "dialect/IR/WindowRules.h"
#include "lib/Outline/KernelEmitter.h"
#include "lib/Outline/MixedKernels.h"

using namespace mlir;
using namespace mlir::convbert;

TemplateParameters KernelEmitter::orderParameters(const PaddedRows &order, int64_t width) {
  return {{"W", text(width)},
          {"PHASES", text(order.phases)},
          {"EXTRA", text(order.extra)},
          {"SPARE", text(order.getSpare())}};
}

std::string KernelEmitter::windowSuffix(const Window &window) {
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

namespace {

/// Groups are multiplied one after the other, in this order: a group's last panel may reach into the next group's
/// columns, which are written later.
struct GroupEmitter : KernelEmitter {
  /// What is packed for all groups, a value of `rank` dimensions for each, or null.
  Value groupsOf(Value weight, int64_t groups, int64_t rank) {
    Value packed = parameter(weight);
    auto type = packed ? cast<MemRefType>(packed.getType()) : MemRefType();
    return type && type.getRank() == rank + 1 && type.getDimSize(0) == groups ? packed : Value();
  }
  Value panelsOf(Value weight, int64_t groups) { return groupsOf(weight, groups, host.getTiles().isPaired ? 4 : 3); }
  Value biasesOf(Value bias, int64_t groups) { return groupsOf(bias, groups, /*rank=*/2); }

  LogicalResult emit(GroupedDenseOp op) {
    auto weight = cast<RankedTensorType>(op.getWeight().getType());
    int64_t groups = weight.getDimSize(0), in = weight.getDimSize(1), out = weight.getDimSize(2);
    Value panels = panelsOf(op.getWeight(), groups), biases = biasesOf(op.getBias(), groups);
    // What stands before the loop can be read behind it.
    host.base(op.getX());
    host.base(op.getResult());
    if (failed(round(op.getX())))
      return failure();
    return host.forGroups(groups, [&](OpFoldResult group) {
      return dense(op.getX(), host.scale(group, in), host.element(panels, group), host.element(biases, group),
                   /*multiplier=*/Value(), op.getActivation(), op.getResult(), host.scale(group, out));
    });
  }

  /// A matrix product of rows that overlap: a row of a padded copy, read on over the rows behind it, is the window of a
  /// token.  Groups follow each other in the same copy.
  LogicalResult emit(Conv1DOp op) {
    const TileSizes &tiles = host.getTiles();
    ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
    int64_t groups = op.getGroups(), in = features.in, out = features.out / groups;
    Window window = Window::get(op, features.taps);
    PaddedRows order = PaddedRows::get(window);
    unsigned padded, made;
    std::tie(padded, made) = host.getPlan().getPadded(op.getResult());
    unsigned length = host.getLength(op.getResult());
    Value windowCount = host.countPadded(length, order.getSpare()), tileCount = host.countTiles(windowCount);
    Value rows = host.mul(windowCount, host.constant(order.step));
    int64_t pitch = host.getPlan().getBuffer(made).width;
    std::string suffix = text(features.taps) + windowSuffix(window);
    int64_t width = llvm::alignTo(in, tiles.isPaired ? 2 : 1), depth = width * features.taps;
    Windows windows{padded, made, order.step * width, depth, pitch};
    TemplateParameters padding = orderParameters(order, in);
    padding.append({{"LOW", text(window.pads[0])},
                    {"STRIDE", text(window.stride)},
                    {"DILATION", text(window.dilation)},
                    {"STEP", text(order.step)}});
    if (tiles.isPaired)
      padding.append(
          {{"PAIRS", ""}, {"PAIRS_W", text(width)}, {"WHOLE", text(in / TileSizes::lanes * TileSizes::lanes)}});
    // What stands before the loops can be read behind them.
    host.base(op.getX());
    for (unsigned buffer : {padded, made})
      host.memoryOf(buffer);
    Value panels = panelsOf(op.getWeight(), groups), biases = biasesOf(op.getBias(), groups);
    auto emitGroup = [&](OpFoldResult group) -> LogicalResult {
      Value copy = host.view(padded, {rows, index(width)}, {index(width), index(1)});
      Value x = host.rows(op.getX(), in, host.scale(group, in));
      if (failed(call("pad_tokens", text(in) + "_k" + suffix, padding, {x, copy})))
        return failure();
      if (op.hasSequenceWeights())
        return multiplyMixed(op, windows, order);
      return multiply(windows, tileCount, index(0), host.scale(group, out), host.element(panels, group),
                      host.element(biases, group));
    };
    if (failed(host.forGroups(groups, emitGroup)))
      return failure();
    Value all = host.view(made, {windowCount, index(features.out)}, {index(pitch), index(1)});
    host.setLengths(length, length);
    return call("unpad_tokens", text(features.out) + "_k" + suffix, orderParameters(order, features.out),
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
    auto [panels, bias] = host.getPlan().getMixed(op.getResult());
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
};

} // namespace

LogicalResult convbert::emitGroups(KernelEmitter &emitter, GroupedDenseOp op) { return GroupEmitter{emitter}.emit(op); }
LogicalResult convbert::emitGroups(KernelEmitter &emitter, Conv1DOp op) { return GroupEmitter{emitter}.emit(op); }
