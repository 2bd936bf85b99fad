//===- CostModel.cpp - Which form of a kernel pays ------------------------===//

#include "lib/Outline/CostModel.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::convbert;

std::optional<CostModel> CostModel::get(StringRef isa) {
  const InstructionSet *found = InstructionSet::find(isa);
  if (!found)
    return std::nullopt;
  constexpr int64_t kKiB = 1024;
  // L2 caches: 512 KiB on AMD's cores and on most of Arm's, 1280 KiB on Intel's with AVX-512 since Ice Lake (AMD: 1
  // MiB).
  CoreCosts core = llvm::StringSwitch<CoreCosts>(isa)
                       .Cases({"avx512", "avx512bf16"}, CoreCosts{32, 1280 * kKiB, 128})
                       .Case("neon", CoreCosts{32, 512 * kKiB, 48})
                       .Default(CoreCosts{16, 512 * kKiB, 48}); // avx2, generic
  return CostModel(*found, core);
}

int64_t CostModel::getTileChannels() const {
  return 2 * getLanes() == TileSizes::channelBlock ? getLanes() : TileSizes::channelBlock;
}

int64_t CostModel::countTileRegisters() const {
  return (isa->tiles.rows + 1) * isa->tiles.panel / getLanes() + (isa->hasFMA ? 1 : 2);
}

int64_t CostModel::countBlockBytes(int64_t depth) const {
  return (core.blockRows + isa->tiles.panel) * depth * static_cast<int64_t>(sizeof(float));
}

Choice CostModel::sliceDepth(int64_t depth) const {
  int64_t bytes = countBlockBytes(depth);
  bool isDeep = bytes >= core.l2Bytes;
  return {isDeep,
          llvm::formatv("{0} features: {1} rows and a panel are {2} KiB and {3} {4} KiB of L2", depth, core.blockRows,
                        llvm::divideCeil(bytes, 1024), isDeep ? "leave" : "stay in", core.l2Bytes / 1024)
              .str()};
}

std::string CostModel::describeWidening() {
  return llvm::formatv("from {0} rows on a panel of bf16 is widened once for all of them", widenFrom).str();
}

int64_t CostModel::countThreadRows(int64_t width) { return llvm::divideCeil(threadElements, width); }
