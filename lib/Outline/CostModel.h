//===- CostModel.h - Which form of a kernel pays ----------------*- C++ -*-===//
//
// Kernels come in forms: a product of all features at once or in slices of them, weights widened as they are multiplied
// or before, loops that fork or do not.  Which one pays depends on the instruction set's cores and on the shape.
// Numbers are of the smaller cores of each kind, since one object serves all of them; what the schedules themselves are
// bound to is in lib/Schedules/cpu/isa.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_COSTMODEL_H
#define CONVBERT_LIB_OUTLINE_COSTMODEL_H

#include "lib/Outline/Target.h"
#include <numeric>

namespace mlir::convbert {

/// What decisions rest on of the cores of an instruction set.
struct CoreCosts {
  int64_t registers; ///< vector registers
  int64_t l2Bytes;   ///< of one core's L2 cache
  int64_t blockRows; ///< rows that stay in it while the panels of a matrix product pass by; `mb` of isa.mlir, in rows
};

/// A decision, and what it rests on, in words for remarks.
struct Choice {
  bool taken;
  std::string why;
};

class CostModel {
public:
  /// For the name of an instruction set, or nothing.
  static std::optional<CostModel> get(StringRef isa);

  const CoreCosts &getCore() const { return core; }

  /// Elements of a vector register.
  int64_t getLanes() const { return isa->vectorBits / 32; }

  /// Channels of a tile of a depthwise convolution: a block, whose vectors are a loop.  Where a block is two vectors,
  /// LLVM unrolls that loop and computes token after token, each sum waiting for the one before: there it is one
  /// vector.
  int64_t getTileChannels() const;

  /// Features of rows of `width` whose sums over rows are one task: a cache line holds 16, and lines that lie beside
  /// each other are fetched together; the sums of several vectors do not wait for each other.
  static int64_t getSumFeatures(int64_t width) { return std::gcd(width, int64_t(64)); }

  /// Vector registers that a register tile of the matrix product takes: sums, vectors of a panel, and one or, without
  /// three-operand instructions, two for a row.  At most getCore().registers.
  int64_t countTileRegisters() const;

  /// Bytes that a cache block of the matrix product passes over for `depth` features: its rows and one panel, in f32.
  int64_t countBlockBytes(int64_t depth) const;

  /// Whether a matrix product of `depth` features is computed in slices of them: each slice reads and writes the sums
  /// once more, all features at once read the rows from beyond the L2 cache for every panel.
  Choice sliceDepth(int64_t depth) const;

  /// Rows from which on a panel of bf16 is widened once for all of them, into scratch.  Where rows are fewer, the way
  /// through the L2 cache costs more than to widen it for every register tile: measured to be even at 32 rows (AVX-512)
  /// and between 16 and 24 (AVX2).
  static constexpr int64_t widenFrom = 32;
  /// The same in words.
  static std::string describeWidening();

  /// Elements that are worth a thread where a kernel passes over them once: a microsecond or a bit less, what forking
  /// costs.
  static constexpr int64_t threadElements = 4096;
  /// The same in rows of `width` features, a whole vector of them.
  static int64_t countThreadRows(int64_t width);

  /// Rows of a matrix product that are worth a thread where threads share the rows: each of them reads all weights.
  static constexpr int64_t sharedRows = 32;

private:
  CostModel(const InstructionSet &isa, CoreCosts core) : isa(&isa), core(core) {}

  const InstructionSet *isa;
  CoreCosts core;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_COSTMODEL_H
