//===- Heads.h - Heads and what belongs to them -----------------*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_HEADS_H
#define CONVBERT_DIALECT_IR_HEADS_H

#include <cstdint>
#include <optional>

namespace mlir::convbert {

/// The two kinds of heads of mixed attention.
enum class HeadBranch { Attention, Convolution };

/// A head, counted from 0 in its branch.
struct Head {
  HeadBranch branch;
  int64_t index;

  bool operator==(const Head &other) const { return branch == other.branch && index == other.index; }
};

/// What a slice is kept for though its head goes: while a head (any one, without `index`) of `branch` stays.
struct KeepIf {
  HeadBranch branch;
  std::optional<int64_t> index;

  bool operator==(const KeepIf &other) const { return branch == other.branch && index == other.index; }
};

/// `size` elements along `axis` of an operand: `offset`, `offset + step`, `offset + 2 step`, ...
struct HeadSlice {
  unsigned operand; ///< number of the operand
  int64_t axis, offset, size;
  std::optional<KeepIf> keepIf;
  int64_t step = 1;
};

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_HEADS_H
