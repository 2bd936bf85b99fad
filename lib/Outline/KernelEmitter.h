//===- KernelEmitter.h - What emitters of kernel calls share ----*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_KERNELEMITTER_H
#define CONVBERT_LIB_OUTLINE_KERNELEMITTER_H

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Outline/HostBuilder.h"
#include "lib/Outline/PaddedRows.h"

namespace mlir::convbert {

/// Emits the calls of one operation: operands, template parameters, and the matrix products that several are made of.
struct KernelEmitter {
  Operation *operation;
  HostBuilder &host;
  KernelTemplates &kernels;
  const OperandLookup &lookup;

  Value parameter(Value weight, unsigned part = 0) { return lookup.parameter(weight, part); }
  Value input(Value value) { return lookup.input(value); }

  static std::string text(int64_t value) { return std::to_string(value); }
  OpFoldResult index(int64_t value) { return Builder(operation->getContext()).getIndexAttr(value); }

  /// What templates of a selection of branches repeat: tensors of type `tile` and their logits.
  static TemplateParameters branchParameters(size_t count, StringRef tile);

  LogicalResult call(StringRef name, StringRef suffix, const TemplateParameters &parameters, ValueRange operands);

  /// One matrix product: rows of `x` from `inColumn` on times panels, to rows of `y` from `outColumn` on.
  LogicalResult dense(Value x, OpFoldResult inColumn, Value panels, Value bias, Value multiplier,
                      ActivationKind activation, Value y, OpFoldResult outColumn);
  /// The product of `x` and `weight` to `y`, part by part.
  LogicalResult dense(Value x, Value weight, Value bias, Value multiplier, ActivationKind activation, Value y);
  /// The same on tiles of rows: `rows` as the kernel reads them, `multiplier` and `out` as it writes them.
  LogicalResult product(Value rows, Value panels, Value bias, Value multiplier, ActivationKind activation, Value out);
  /// Rounds the rows of `x`, for products of pairs, before the first product that reads them.
  LogicalResult round(Value x);

  /// What copies of tokens before and behind a product of windows agree on, for rows of `width`.
  static TemplateParameters orderParameters(const PaddedRows &order, int64_t width);
  /// What tells windows of as many taps apart, in names of kernels.
  static std::string windowSuffix(const Window &window);
};

/// Matrix products of groups and of windows: KernelCallsGroups.cpp.
LogicalResult emitGroups(KernelEmitter &emitter, GroupedDenseOp op);
LogicalResult emitGroups(KernelEmitter &emitter, Conv1DOp op);
/// Other convolutions: KernelCallsConv.cpp.
LogicalResult emitConvolution(KernelEmitter &emitter, DepthwiseConv1DOp op);
LogicalResult emitConvolution(KernelEmitter &emitter, ApplyKernelOp op);
LogicalResult emitConvolution(KernelEmitter &emitter, LightConvOp op);
/// The mean and the selection of convolutions that are not made.
LogicalResult emitFolded(KernelEmitter &emitter, PoolOp op);
LogicalResult emitFolded(KernelEmitter &emitter, SelectBranchesOp op);
/// The softmax over the taps that `op` has computed, where it is not taken by a convolution.
LogicalResult emitTapSoftmax(KernelEmitter &emitter, DynamicKernelOp op);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_KERNELEMITTER_H
