//===- Target.cpp - The instruction sets ----------------------------------===//

#include "lib/Outline/Target.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::convbert;

ArrayRef<InstructionSet> InstructionSet::getAll() {
  // Register tiles: mr * nr / nv sums, nr / nv vectors of a panel and one of a row, in 16 or 32 registers.  Without
  // three-operand instructions a product takes one more; where an instruction can multiply by one lane, four steps of k
  // of every row stay in a vector.  Narrow panels of 16 are no help to AVX2: 8 sums do not cover the latency of two
  // multiply-adds a cycle.
  static constexpr InstructionSet kAll[] = {
      {"generic", {4, 8, 8, 16}, 128, /*hasFMA=*/false},
      {"avx2", {4, 24, 24, 16}, 256},
      {"avx512", {8, 48, 32, 32}, 512},
      {"avx512bf16", {8, 48, 32, 32, /*isPaired=*/true}, 512},
      {"neon", {4, 16, 16, 16}, 128},
  };
  return kAll;
}

const InstructionSet *InstructionSet::find(StringRef name) {
  const InstructionSet *found = llvm::find_if(getAll(), [&](const InstructionSet &isa) { return isa.name == name; });
  return found == getAll().end() ? nullptr : found;
}

std::string InstructionSet::getNames() {
  auto names = llvm::map_range(getAll().drop_back(), [](const InstructionSet &isa) { return isa.name; });
  return llvm::join(names, ", ") + " or " + getAll().back().name.str();
}

std::optional<TileSizes> TileSizes::get(StringRef isa) {
  if (const InstructionSet *found = InstructionSet::find(isa))
    return found->tiles;
  return std::nullopt;
}
