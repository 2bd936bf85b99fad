//===- WorkspacePlan.h - Where activations lie in the workspace -*- C++ -*-===//
//
// A buffer holds the rows of one value, or of several that are written side by side (a concatenation) or are parts of
// one (slices).  Its size is a constant times one of a few counts that a call's shape determines, so buffers of a kind
// and length share an arena and the size of the workspace is a closed formula of the counts.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_WORKSPACEPLAN_H
#define CONVBERT_LIB_OUTLINE_WORKSPACEPLAN_H

#include "lib/Outline/FeatureLayout.h"
#include "lib/Outline/Lengths.h"
#include "lib/Outline/Target.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::convbert {

/// What a buffer has one row for.
enum class RowKind {
  Token,    ///< a token of any sequence; count: rows in use, rounded up to the row tile
  Sequence, ///< a sequence; count: batch, rounded up to the row tile
  Key,      ///< a sequence's keys; count: batch times the longest length, rounded up to the key panel, in elements
  Call,     ///< a call; count: 1
  Map       ///< what attention or a convolution looks at: dense memory of the caller, never in the workspace
};
/// Counts of a function with one length: one a kind that has an arena.
inline constexpr unsigned kRowKinds = 4;

/// Which count a buffer's size depends on: tokens, sequences, keys, 1; tokens and keys of each further length behind
/// them.
inline unsigned getArena(RowKind kind, unsigned length) {
  if (kind == RowKind::Sequence || kind == RowKind::Call || length == 0)
    return static_cast<unsigned>(kind);
  return kRowKinds + 2 * (length - 1) + (kind == RowKind::Key ? 1 : 0);
}
inline unsigned getNumArenas(unsigned lengths) { return kRowKinds + 2 * (lengths - 1); }

/// Bytes for each count.
using Footprint = SmallVector<int64_t>;

struct Buffer {
  RowKind kind;
  unsigned length = 0; ///< number of its length among those of the function
  int64_t width = 0;   ///< features in use, head padding included
  int64_t pitch = 0;   ///< floats from row to row (1 for keys)
  int64_t offset = 0;  ///< bytes for one count, from the start of the arena of its kind
  int64_t first = 0;   ///< operations between which the buffer is in use, both included
  int64_t last = 0;
  bool isRounded = false; ///< rows of bf16; pitch counts these
  Value external = {};    ///< the memory, where it is not the workspace's: an argument of the function

  /// Bytes from row to row.
  int64_t getRowBytes() const { return pitch * (isRounded ? 2 : 4); }
};

/// A part of the features of a buffer.
struct View {
  unsigned buffer;
  int64_t column; ///< first feature
  int64_t width;  ///< features, head padding included
};

class WorkspacePlan {
public:
  /// Plans the values of `fn` (before any conversion).  Reports and fails on operations that it does not know.
  static FailureOr<WorkspacePlan> compute(func::FuncOp fn, const TileSizes &tiles);

  View getView(Value value) const { return views.lookup(value); }
  bool hasView(Value value) const { return views.contains(value); }
  Buffer &getBuffer(unsigned index) { return buffers[index]; }
  /// The buffer that holds `value`, the input of a matrix product, rounded to bf16.
  unsigned getRounded(Value value) const { return rounded.lookup(value); }
  /// The buffer of zeros for keys that attention without a bias reads.
  unsigned getPlainBias(unsigned length) const { return plainBias.lookup(length); }
  /// The buffers of a convolution for its input with zeros around each sequence, and for what it makes of those rows.
  std::pair<unsigned, unsigned> getPadded(Value result) const { return padded.lookup(result); }
  /// The buffers of a convolution for the panels and the bias of one sequence, mixed from those of its kernels.
  std::pair<unsigned, unsigned> getMixed(Value result) const { return mixed.lookup(result); }
  /// The buffer of a selection of convolutions that are not made for the taps of each sequence.
  unsigned getMixedTaps(Value result) const { return mixedTaps.lookup(result); }
  /// The buffer of a convolution for logits of taps that it may change; nothing if it may change those that it is
  /// given.
  std::optional<unsigned> getOwnTaps(Value result) const {
    auto it = ownTaps.find(result);
    return it == ownTaps.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }
  const FeatureLayouts &getLayouts() const { return layouts; }
  const Lengths &getLengths() const { return lengths; }

  bool isMap(Value value) const { return buffers[views.lookup(value).buffer].kind == RowKind::Map; }

  /// Whether the rows of `value` may lie one behind the other without padding, as in an array of the caller: they are
  /// no part of others, no function takes them, and no kernel touches what is behind their features.
  bool canBeDense(Value value) const;

  /// Binds the buffer of `value` to memory of the caller.
  void setExternal(Value value, Value memory) { buffers[views.lookup(value).buffer].external = memory; }

  /// Assigns offsets by first fit over the live ranges of all buffers that are not external.
  void assignOffsets();

  /// Bytes of the own arenas.
  Footprint getFootprint() const { return footprint; }

  /// True if `value` holds activations or masks rather than parameters or integers.
  static bool isActivation(Value value);

private:
  LogicalResult addValue(Operation *by, Value value);
  void addBuffer(Value value, Buffer buffer);
  LogicalResult addSlice(tensor::ExtractSliceOp slice);
  LogicalResult aliasConcat(Operation *op);
  LogicalResult reserveTouched(func::FuncOp fn);
  void extendLiveRanges(func::FuncOp fn);
  /// Appends a buffer that the operation of this number uses; returns its index.
  unsigned append(Buffer buffer, int64_t position);
  void addRounded(func::FuncOp fn);
  void addPlainBias(func::FuncOp fn);
  void addPadded(func::FuncOp fn);
  void addMixed(func::FuncOp fn);
  void addMixedTaps(func::FuncOp fn);
  void addOwnTaps(func::FuncOp fn);
  int64_t physicalWidth(Value value) const;

  TileSizes tiles;
  FeatureLayouts layouts;
  Lengths lengths;
  SmallVector<Buffer> buffers;
  llvm::DenseMap<Value, View> views;
  llvm::DenseMap<Value, unsigned> rounded;
  llvm::DenseMap<unsigned, unsigned> plainBias; ///< by length
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> padded;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> mixed;
  llvm::DenseMap<Value, unsigned> mixedTaps;
  llvm::DenseMap<Value, unsigned> ownTaps;
  Footprint footprint;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_WORKSPACEPLAN_H
