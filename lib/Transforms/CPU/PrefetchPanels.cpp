//===- PrefetchPanels.cpp - Prefetch the next weight panel ----------------===//

#include "lib/Transforms/CPU/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_PREFETCHPANELS
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// 64 bytes of f32.
static constexpr int64_t kLine = 16;

/// The first read of a weight panel in the main `k` loop of a register-tiled product, or null.
static vector::TransferReadOp findPanelRead(scf::ForOp k) {
  // The remainder loop of the unroller does not start at zero.
  if (getConstantIntValue(k.getLowerBound()) != 0 || k.getBody()->getOps<vector::FMAOp>().empty())
    return {};
  for (auto read : k.getBody()->getOps<vector::TransferReadOp>()) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    if (type && type.getRank() == 3 && !type.isDynamicDim(2) && type.getElementType().isF32() &&
        isa<BlockArgument>(read.getBase()) && type.getLayout().isIdentity() &&
        read.getIndices()[1] == k.getInductionVar())
      return read;
  }
  return {};
}

/// Inserts two prefetches before `read`.  Row tile `t` of `T` takes floats [t, t + 1) * K * ceil(NR / T) of the next
/// panel; the last panel wraps around to the first, which the next task is likely to want.
static void prefetchNextPanel(vector::TransferReadOp read) {
  auto k = cast<scf::ForOp>(read->getParentOp());
  auto tiles = dyn_cast<scf::ForOp>(k->getParentOp());
  Value panels = read.getBase();
  Value n = read.getIndices()[0];
  if (!tiles || n == tiles.getInductionVar() || !tiles.isDefinedOutsideOfLoop(n))
    return;
  Location loc = read.getLoc();
  int64_t nr = cast<MemRefType>(panels.getType()).getDimSize(2);
  OpBuilder b(tiles);
  auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  Value count = memref::DimOp::create(b, loc, panels, 0);
  Value depth = memref::DimOp::create(b, loc, panels, 1);
  SmallVector<ReassociationIndices> all{{0, 1, 2}};
  Value flat = memref::CollapseShapeOp::create(b, loc, panels, all);
  Value following = add(n, constant(1));
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, following, count);
  Value next = arith::SelectOp::create(b, loc, isLast, constant(0), following);
  Value base = mul(next, mul(depth, constant(nr)));
  Value step = arith::CeilDivUIOp::create(b, loc, constant(nr), tiles.getUpperBound());
  Value perTile = mul(depth, step);
  b.setInsertionPoint(k);
  Value from = add(base, mul(tiles.getInductionVar(), perTile));
  b.setInsertionPoint(read);
  Value at = add(from, mul(k.getInductionVar(), step));
  for (int64_t line : {int64_t(0), kLine})
    memref::PrefetchOp::create(b, loc, flat, ValueRange{add(at, constant(line))}, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
}

namespace {
struct PrefetchPanels : convbert::impl::PrefetchPanelsBase<PrefetchPanels> {
  void runOnOperation() override {
    SmallVector<vector::TransferReadOp> reads;
    getOperation().walk([&](scf::ForOp k) {
      if (vector::TransferReadOp read = findPanelRead(k))
        reads.push_back(read);
    });
    llvm::for_each(reads, prefetchNextPanel);
  }
};
} // namespace
