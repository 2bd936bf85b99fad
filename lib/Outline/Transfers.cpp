//===- Transfers.cpp - Between arrays of the caller and the workspace -------===//

#include "lib/Outline/Transfers.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// A value as it lies in the caller's array and in the workspace: rows of `features`, in blocks of `size` that are
/// padded to `pitch`.
struct Rows {
  Rows(HostBuilder &host, Value value) : layout(host.getPlan().getLayouts().get(value)) {
    auto type = cast<RankedTensorType>(value.getType());
    const HostContext &context = host.getContext();
    isTokens = host.getBuffer(value).kind == RowKind::Token;
    count = isTokens ? host.mul(context.batch, context.longest[host.getLength(value)]) : context.batch;
    // One number a token is a row of one feature.
    features = type.getRank() == (isTokens ? 2 : 1) ? 1 : type.getShape().back();
    size = layout.isPlain() ? features : layout.size;
    pitch = layout.isPlain() ? host.getPlan().getView(value).width : layout.pitch;
  }

  int64_t blocks() const { return features / size; }
  /// Block number `block` of `array`, the caller's memory.
  Value blockOf(HostBuilder &host, Value array, int64_t block) const {
    return host.slice(array, 1, block * size, size);
  }
  Value array(HostBuilder &host, Value bytes) const { return host.viewRows(bytes, count, {features}); }

  FeatureLayout layout;
  bool isTokens;
  Value count;
  int64_t features, size, pitch;
};

} // namespace

static bool isTaps(Value value) { return cast<RankedTensorType>(value.getType()).getRank() == 4; }

/// Taps are transposed: B x T x H x K for the caller, rows of [tap][heads rounded up] in the workspace.
static LogicalResult copyTaps(Operation *op, HostBuilder &host, KernelTemplates &kernels, StringRef name, Value value,
                              Value bytes) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t heads = type.getDimSize(2), taps = type.getDimSize(3), padded = llvm::alignTo(heads, TileSizes::headBlock);
  const HostContext &context = host.getContext();
  Value array = host.viewRows(bytes, host.mul(context.batch, context.longest[host.getLength(value)]), {heads, taps});
  auto text = [](int64_t number) { return std::to_string(number); };
  func::FuncOp kernel =
      kernels.get(name, "k" + text(taps) + "_h" + text(heads),
                  {{"K", text(taps)}, {"H", text(heads)}, {"HP", text(padded)}, {"KHP", text(taps * padded)}});
  if (!kernel)
    return failure();
  SmallVector<Value> operands{array, host.rows(value)};
  if (name == "store_taps")
    std::swap(operands[0], operands[1]);
  return host.call(op, kernel, operands);
}

LogicalResult convbert::emitLoad(Operation *op, HostBuilder &host, KernelTemplates &kernels, Value value, Value bytes) {
  host.setLengths(host.getLength(value), host.getLength(value));
  if (isTaps(value))
    return copyTaps(op, host, kernels, "load_taps", value, bytes);
  Rows rows(host, value);
  // Heads with padding go one by one; what pads them becomes zero.
  int64_t padded = rows.layout.isPlain() ? llvm::alignTo(rows.size, TileSizes::lanes) : rows.pitch;
  std::string width = std::to_string(rows.size);
  func::FuncOp kernel = kernels.get(rows.isTokens ? "load_tokens" : "load_sequences", width,
                                    {{"W", width}, {"P", std::to_string(padded)}});
  Value array = rows.array(host, bytes);
  for (int64_t block = 0; kernel && block < rows.blocks(); ++block)
    if (failed(host.call(op, kernel, {rows.blockOf(host, array, block), host.rows(value, padded, block * rows.pitch)})))
      return failure();
  return success(kernel);
}

LogicalResult convbert::emitStore(Operation *op, HostBuilder &host, KernelTemplates &kernels, Value value,
                                  Value bytes) {
  host.setLengths(host.getLength(value), host.getLength(value));
  if (isTaps(value))
    return copyTaps(op, host, kernels, "store_taps", value, bytes);
  Rows rows(host, value);
  std::string width = std::to_string(rows.size);
  func::FuncOp kernel = kernels.get(rows.isTokens ? "store_tokens" : "store_sequences", width, {{"W", width}});
  Value array = rows.array(host, bytes);
  for (int64_t block = 0; kernel && block < rows.blocks(); ++block)
    if (failed(
            host.call(op, kernel, {host.rows(value, rows.size, block * rows.pitch), rows.blockOf(host, array, block)})))
      return failure();
  return success(kernel);
}
