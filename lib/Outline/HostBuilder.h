//===- HostBuilder.h - Views and calls in host code -------------*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_HOSTBUILDER_H
#define CONVBERT_LIB_OUTLINE_HOSTBUILDER_H

#include "lib/Outline/CostModel.h"
#include "lib/Outline/KernelTemplates.h"
#include "lib/Outline/WorkspacePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::convbert {

/// What host code knows of a call: the counts that sizes depend on, and the arguments that kernels take.
struct HostContext {
  Value workspace;            ///< memref<?xi8>: own arenas, then those of callees
  Value scratch;              ///< memref<?xi8>: temporaries of kernels, a share for each thread
  Value threads;              ///< i32
  Value batch;                ///< index
  SmallVector<Value> shapes;  ///< by length, memref<?xi64>: { B, T_max, row_start[B+1], length[B] }
  SmallVector<Value> longest; ///< by length, index
  SmallVector<Value> counts;  ///< by getArena(), index
};

/// Emits views of buffers and calls of kernels at the end of a function under construction.
class HostBuilder {
public:
  HostBuilder(OpBuilder &b, Location loc, WorkspacePlan &plan, const TileSizes &tiles, const CostModel &costs,
              HostContext context)
      : b(b), loc(loc), plan(plan), tiles(tiles), costs(costs), context(context) {}

  Value constant(int64_t value);
  Value mul(Value x, Value y);
  Value add(Value x, Value y);

  const HostContext &getContext() const { return context; }
  WorkspacePlan &getPlan() { return plan; }
  const Buffer &getBuffer(Value value) { return plan.getBuffer(plan.getView(value).buffer); }
  const TileSizes &getTiles() const { return tiles; }
  const CostModel &getCosts() const { return costs; }
  /// Notes why a kernel was chosen, for remarks.
  void explain(std::string why) {
    if (!llvm::is_contained(reasons, why))
      reasons.push_back(std::move(why));
  }
  /// What has been noted since the last call.
  std::string takeReasons() { return llvm::join(std::exchange(reasons, {}), "; "); }
  void setLoc(Location newLoc) { loc = newLoc; }
  /// Sets which shapes kernels get that follow: that of what they read, and that of what they make.
  void setLengths(unsigned read, unsigned made) { lengths = {read, made}; }
  unsigned getLength(Value value) const { return plan.getLengths().get(value); }
  Location getLoc() const { return loc; }

  /// The memory of a whole buffer.
  Value memoryOf(unsigned index);
  /// The whole buffer of `value`: memref<? x pitch>, or for keys memref<batch x keys>.
  Value base(Value value);
  /// True in a call whose sequences of length `length` lie in the workspace as in an array of the caller: all of them
  /// are as long as the longest, and the rows are whole tiles.
  Value isDense(unsigned length);
  /// Lets the rows of `value`, memref<? x pitch>, lie in `bytes`, an array of the caller, where isDense().
  void setDense(Value value, Value bytes);
  /// Rows of `value`, from `column` on: memref<? x width, strided<[?, 1], offset: ?>>.  `width` defaults to that of the
  /// value.
  Value rows(Value value, std::optional<int64_t> width = std::nullopt, int64_t column = 0) {
    return rows(value, width.value_or(plan.getView(value).width), OpFoldResult(b.getIndexAttr(column)));
  }
  Value rows(Value value, int64_t width, OpFoldResult column);
  /// Row tiles as a dense kernel reads them: [row tile][mr][depth], from `column` on.
  Value tilesIn(Value value, OpFoldResult column, int64_t depth);
  /// The buffer of bf16 for the rows of `value`, memref<? x pitch x bf16>, and row tiles of it as a dense kernel reads
  /// them: [row tile][mr][pairs][2], from `column` on.
  Value rounded(Value value);
  Value pairTilesIn(Value value, OpFoldResult column, int64_t pairs);
  /// True once: the rows of `value` have not been rounded yet.
  bool startRounding(Value value) { return isRounded.insert(value).second; }
  /// Row tiles as a dense kernel writes them: [row tile][mr][panels][nr], from `column` on; panels as in `weight`.
  Value tilesOut(Value value, OpFoldResult column, MemRefType weight);

  /// A caller's dense array: `bytes` as memref<count x shape x f32>.
  Value viewRows(Value bytes, Value count, ArrayRef<int64_t> shape);
  /// The key bias of attention without a mask, memref<batch x keys>.
  Value plainBias(unsigned length) { return memoryOf(plan.getPlainBias(length)); }
  /// True once: the plain key bias for that length has not been written yet.
  bool startPlainBias(unsigned length) { return hasPlainBias.insert(length).second; }
  /// A view of a buffer from element `offset` on.
  Value view(unsigned index, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides, OpFoldResult offset);
  Value view(unsigned index, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides, int64_t offset = 0) {
    return view(index, sizes, strides, b.getIndexAttr(offset));
  }
  /// The first elements of `memory`, where they lie one behind the other, as an array of `shape`.
  Value reshape(Value memory, ArrayRef<int64_t> shape);
  /// Row `index` of `memory`, memref<? x width>, as memref<1 x width>.
  Value row(Value memory, Value index);
  /// Rows of all sequences of length `length`, with `reach` rows more for each.
  Value countPadded(unsigned length, int64_t reach);
  /// The first row and the tokens of a sequence of length `length`.
  std::pair<Value, Value> getSequence(unsigned length, Value sequence);
  /// Emits `body` in a loop over the sequences of a call, from the first to the last.
  LogicalResult forSequences(llvm::function_ref<LogicalResult(Value sequence)> body);
  /// The same for `groups` of features; one group needs no loop.
  LogicalResult forGroups(int64_t groups, llvm::function_ref<LogicalResult(OpFoldResult group)> body);
  /// `index` times `factor`.
  OpFoldResult scale(OpFoldResult index, int64_t factor);
  /// What `memory` holds for `index` of its first dimension; null stays null.
  Value element(Value memory, OpFoldResult index);
  /// Row tiles that hold `rows` rows.
  Value countTiles(Value rows);

  /// `count` slices of `memory` along `axis`, from `first` on; null stays null.
  Value slice(Value memory, int64_t axis, int64_t first, int64_t count);

  /// Calls `kernel` with `operands`, casting memrefs to the types that it declares, then shapes (the last is that of
  /// what it reads, one before it that of what it makes), threads and scratch where it takes them.  Reports at `op` and
  /// fails if an operand is missing or cannot be cast.
  LogicalResult call(Operation *op, func::FuncOp kernel, ValueRange operands);
  /// The same with `many` where `rows`, row tiles as a kernel reads them, have `enough` tiles or more, else with `few`.
  LogicalResult callByTiles(Operation *op, Value rows, int64_t enough, func::FuncOp few, func::FuncOp many,
                            ValueRange operands);

private:
  /// Floats from a row to the one `rows` behind it.
  OpFoldResult rowStride(Value value, int64_t rows = 1);
  /// Number `at` of the shape of length `length`.
  Value loadShape(unsigned length, Value at);
  Value reinterpret(Value value, OpFoldResult column, ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides);
  LogicalResult loop(Value count, llvm::function_ref<LogicalResult(Value)> body);
  int64_t pitch(Value value) { return getBuffer(value).pitch; }
  Value count(Value value) { return context.counts[getArena(getBuffer(value).kind, getBuffer(value).length)]; }

  OpBuilder &b;
  Location loc;
  WorkspacePlan &plan;
  const TileSizes &tiles;
  const CostModel &costs;
  HostContext context;
  llvm::DenseMap<unsigned, Value> bases;
  /// Memory, memref<? x f32>, and floats from row to row of values that lie here or there.
  llvm::DenseMap<Value, std::pair<Value, Value>> dense;
  llvm::DenseSet<Value> isRounded;
  llvm::DenseSet<unsigned> hasPlainBias;
  std::pair<unsigned, unsigned> lengths;
  SmallVector<std::string, 2> reasons;
};

/// Start of each kind's arena in a workspace laid out as `footprint` says; the last is its end.
SmallVector<Value> arenaOffsets(OpBuilder &b, Location loc, const Footprint &footprint, ArrayRef<Value> counts);

/// Where operands that are no activations come from in host code.
struct OperandLookup {
  /// Part `part` of the packed parameter that stands behind a weight.
  llvm::function_ref<Value(Value weight, unsigned part)> parameter;
  /// An input: memref<? x ? x i64>, memref<? x ? x i8> for a mask, memref<heads x f32> for a head mask.
  llvm::function_ref<Value(Value value)> input;
};

/// Whether emitKernelCalls() knows the operation.
bool hasKernel(Operation *op);

/// Emits the kernel calls for one operation of the function that is being outlined.  Reports and fails on operations
/// without a kernel.
LogicalResult emitKernelCalls(Operation *op, HostBuilder &host, KernelTemplates &kernels, const OperandLookup &lookup);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_HOSTBUILDER_H
