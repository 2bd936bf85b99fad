//===- WorkspaceBuffers.cpp - Buffers that operations need beside their values -===//

#include "lib/Outline/FoldedConvs.h"
#include "lib/Outline/MixedKernels.h"
#include "lib/Outline/PaddedRows.h"
#include "lib/Outline/WorkspacePlan.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::convbert;

/// Calls `action` with each operation of `fn` and its number, as live ranges count them.
static void forEach(func::FuncOp fn, llvm::function_ref<void(Operation *, int64_t)> action) {
  int64_t position = 0;
  for (Operation &op : fn.getBody().front())
    action(&op, ++position);
}

/// The same with each operation that is an `Op`.
template <typename Op> static void forEach(func::FuncOp fn, llvm::function_ref<void(Op, int64_t)> action) {
  forEach(fn, [&](Operation *op, int64_t position) {
    if (auto found = dyn_cast<Op>(op))
      action(found, position);
  });
}

unsigned WorkspacePlan::append(Buffer buffer, int64_t position) {
  buffer.first = buffer.last = position;
  buffers.push_back(buffer);
  return buffers.size() - 1;
}

/// The activation that `op` multiplies by weights, or null.
static Value getProductInput(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<DenseOp, GroupedDenseOp>([](auto dense) { return dense.getX(); })
      .Case([](DynamicKernelOp kernel) { return kernel.getQ(); })
      .Default(Value());
}

/// A buffer for the rounded rows of each input of a matrix product, in use from the first product to the last.
void WorkspacePlan::addRounded(func::FuncOp fn) {
  forEach(fn, [&](Operation *op, int64_t position) {
    Value input = getProductInput(op);
    if (!input || !views.contains(input) || isMixedParameter(op->getResult(0)))
      return;
    auto [it, isNew] = rounded.try_emplace(input);
    if (isNew) {
      const View &view = views.lookup(input);
      Buffer buffer;
      buffer.kind = buffers[view.buffer].kind;
      buffer.length = buffers[view.buffer].length;
      buffer.width = view.width;
      buffer.pitch = TileSizes::roundedPitch(view.width);
      buffer.isRounded = true;
      it->second = append(buffer, position);
    }
    buffers[it->second].last = position;
  });
}

/// One buffer for all attention without a bias on keys of one length, in use from the first to the last.
void WorkspacePlan::addPlainBias(func::FuncOp fn) {
  forEach<SelfAttentionOp>(fn, [&](SelfAttentionOp attention, int64_t position) {
    if (attention.getBias())
      return;
    unsigned length = lengths.get(attention.getK());
    auto [it, isNew] = plainBias.try_emplace(length);
    if (isNew) {
      Buffer buffer;
      buffer.kind = RowKind::Key;
      buffer.length = length;
      buffer.width = buffer.pitch = 1;
      it->second = append(buffer, position);
    }
    buffers[it->second].last = position;
  });
}

/// Two buffers for each convolution: padded rows, and what the product makes of all windows.  A sequence owns at least
/// 8 rows, so a row of the result stands for so many that those of all sequences fit, and behind them those that a row
/// tile and its last window read.
void WorkspacePlan::addPadded(func::FuncOp fn) {
  forEach<Conv1DOp>(fn, [&](Conv1DOp conv, int64_t position) {
    ConvFeatures features = ConvFeatures::get(conv.getWeight(), conv.getLayout());
    int64_t groups = static_cast<int64_t>(conv.getGroups()), out = features.out / groups;
    PaddedRows order = PaddedRows::get(Window::get(conv, features.taps));
    int64_t windows = order.getSpare() + tiles.rows - 1;
    auto add = [&](int64_t width, int64_t rows, int64_t behind, bool isRounded) {
      Buffer buffer;
      buffer.kind = RowKind::Token;
      buffer.length = lengths.get(conv.getResult());
      buffer.isRounded = isRounded;
      buffer.width = width;
      buffer.pitch = llvm::alignTo((rows + llvm::divideCeil(behind, TileSizes::queryRows)) * width, TileSizes::lanes);
      return append(buffer, position);
    };
    int64_t width = llvm::alignTo(features.in, tiles.isPaired ? 2 : 1);
    unsigned in = add(width, order.step, order.step * windows + features.taps, tiles.isPaired);
    padded[conv.getResult()] = {in, add(features.out - out + tiles.padToPanels(out), 1, windows, false)};
  });
}

/// Panels and a bias for each convolution that mixes them: those of one sequence at a time.
void WorkspacePlan::addMixed(func::FuncOp fn) {
  forEach<Conv1DOp>(fn, [&](Conv1DOp conv, int64_t position) {
    if (!conv.hasSequenceWeights())
      return;
    ConvFeatures features = ConvFeatures::get(conv.getWeight(), conv.getLayout());
    int64_t out = tiles.padToPanels(features.out), in = llvm::alignTo(features.in, tiles.isPaired ? 2 : 1);
    auto add = [&](int64_t width, bool isRounded) {
      Buffer buffer;
      buffer.kind = RowKind::Call;
      buffer.isRounded = isRounded;
      buffer.width = width;
      buffer.pitch = llvm::alignTo(width, 2 * TileSizes::lanes);
      return append(buffer, position);
    };
    unsigned panels = add(features.taps * in * out, tiles.isPaired);
    mixed[conv.getResult()] = {panels, add(out, false)};
  });
}

/// A buffer for each selection of convolutions that are not made: blocks of channels, the taps and the bias of each.
void WorkspacePlan::addMixedTaps(func::FuncOp fn) {
  forEach<SelectBranchesOp>(fn, [&](SelectBranchesOp select, int64_t position) {
    if (!isFoldedConv(select.getBranches().front()))
      return;
    auto conv = select.getBranches().front().getDefiningOp<DepthwiseConv1DOp>();
    Buffer buffer;
    buffer.kind = RowKind::Sequence;
    buffer.width =
        llvm::alignTo(getFeatures(conv.getX()), TileSizes::channelBlock) * (conv.getTaps() + (conv.getBias() ? 1 : 0));
    buffer.pitch = buffer.width + TileSizes::lanes;
    mixedTaps[select.getResult()] = append(buffer, position);
  });
}

/// A buffer for each convolution that leaves taps out of logits that are not made for it alone.
void WorkspacePlan::addOwnTaps(func::FuncOp fn) {
  auto add = [&](Value result, int64_t heads, int64_t taps, int64_t position) {
    Buffer buffer;
    buffer.kind = RowKind::Token;
    buffer.length = lengths.get(result);
    buffer.width = taps * llvm::alignTo(heads, TileSizes::headBlock);
    buffer.pitch = tiles.pitch(buffer.width);
    ownTaps[result] = append(buffer, position);
  };
  forEach<LightConvOp>(fn, [&](LightConvOp conv, int64_t position) {
    add(conv.getResult(), getExtent(conv.getWeight(), 0), getExtent(conv.getWeight(), 1), position);
  });
  forEach<ApplyKernelOp>(fn, [&](ApplyKernelOp apply, int64_t position) {
    if (apply.getEdge() == Edge::Renorm &&
        !(apply.getTaps().hasOneUse() && apply.getTaps().getDefiningOp<DynamicKernelOp>()))
      add(apply.getResult(), getExtent(apply.getTaps(), 2), apply.getTapCount(), position);
  });
}
