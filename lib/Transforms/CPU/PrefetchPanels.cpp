//===- PrefetchPanels.cpp - Prefetch the next weight panel ----------------===//

#include "lib/Transforms/CPU/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_PREFETCHPANELS
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// Bytes of a cache line.
static constexpr int64_t kLine = 64;

namespace {

/// The main `k` loop of a register-tiled product, and where in the panels it reads, or what it reads was widened from.
struct PanelLoop {
  scf::ForOp k, tiles;         ///< over the depth; around it, over row tiles
  vector::TransferReadOp read; ///< the first one of a panel, in `k` or in the loop that widens
  Operation *before;           ///< where prefetches go
  Value panel;                 ///< which panel
  /// The loops over panels and over slices of the depth around it, if the depth is taken in slices, or null.
  scf::ForOp panels, slices;
};

} // namespace

/// The other summand, if `index` is `iv` and something; null if it is `iv` alone; nothing if it is neither.
static std::optional<Value> getOffset(Value index, Value iv) {
  if (index == iv)
    return Value();
  auto apply = index.getDefiningOp<affine::AffineApplyOp>();
  if (!apply || apply.getMapOperands().size() != 2 || !llvm::is_contained(apply.getMapOperands(), iv))
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  AffineExpr sum = map.getNumDims() == 2 ? getAffineDimExpr(0, map.getContext()) + getAffineDimExpr(1, map.getContext())
                   : map.getNumDims() == 0
                       ? getAffineSymbolExpr(0, map.getContext()) + getAffineSymbolExpr(1, map.getContext())
                       : getAffineDimExpr(0, map.getContext()) + getAffineSymbolExpr(0, map.getContext());
  if (map.getResult(0) != sum)
    return std::nullopt;
  return apply.getMapOperands()[apply.getMapOperands()[0] == iv];
}

/// Whether nothing lies between the elements of a panel.
static bool isDense(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1; // of the dimensions behind `axis`
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (int64_t axis = type.getRank() - 1; axis > 1; elements *= type.getDimSize(axis--))
    if (strides[axis] != elements)
      return false;
  return strides[1] == elements;
}

/// Panels [n][k][NR] of f32 or bf16, or [n][k][NR][2] of bf16.
static bool isPanels(MemRefType type) {
  return (type.getRank() == 3 || type.getRank() == 4) &&
         llvm::none_of(type.getShape().drop_front(2), ShapedType::isDynamic) && isDense(type) &&
         (type.getElementType().isF32() || type.getElementType().isBF16());
}

/// The reads of weight panels among the operations of `loop`.
static SmallVector<vector::TransferReadOp> getPanelReads(scf::ForOp loop) {
  SmallVector<vector::TransferReadOp> reads;
  for (auto read : loop.getBody()->getOps<vector::TransferReadOp>()) {
    auto type = dyn_cast<MemRefType>(read.getBase().getType());
    if (type && isPanels(type) && isa<BlockArgument>(read.getBase()))
      reads.push_back(read);
  }
  return reads;
}

/// The temporary that `memory` is a view of, or itself.
static Value getTemporary(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ViewOp>(view)) // of the scratch that all temporaries share
      break;
    memory = view.getViewSource();
  }
  return memory;
}

/// The loop before `tiles` that fills what `k` reads from weight panels, or null.
static scf::ForOp findWideningLoop(scf::ForOp k, scf::ForOp tiles) {
  SmallPtrSet<Value, 4> sources;
  for (auto read : k.getBody()->getOps<vector::TransferReadOp>())
    sources.insert(getTemporary(read.getBase()));
  scf::ForOp found;
  for (Operation &op : llvm::make_range(tiles->getBlock()->begin(), tiles->getIterator()))
    op.walk([&](scf::ForOp loop) {
      auto fills = [&](vector::TransferWriteOp write) { return sources.contains(getTemporary(write.getBase())); };
      if (llvm::any_of(loop.getBody()->getOps<vector::TransferWriteOp>(), fills) && !getPanelReads(loop).empty())
        found = loop;
    });
  return found;
}

/// Fails if `k` is no such loop.
static FailureOr<PanelLoop> findPanelLoop(scf::ForOp k) {
  // The remainder loop of the unroller does not start at zero.
  bool isProduct =
      !k.getBody()->getOps<vector::FMAOp>().empty() || !k.getBody()->getOps<x86vector::DotBF16Op>().empty();
  auto tiles = dyn_cast<scf::ForOp>(k->getParentOp());
  if (getConstantIntValue(k.getLowerBound()) != 0 || !isProduct || !tiles)
    return failure();
  scf::ForOp reader = k;
  if (getPanelReads(k).empty() && !(reader = findWideningLoop(k, tiles)))
    return failure();
  for (vector::TransferReadOp read : getPanelReads(reader)) {
    std::optional<Value> slice = getOffset(read.getIndices()[1], reader.getInductionVar());
    Value panel = read.getIndices()[0];
    if (!slice)
      continue;
    if (panel == tiles.getInductionVar() || !panel.getParentRegion()->isAncestor(tiles->getParentRegion()))
      return failure();
    Operation *before = reader == k ? read.getOperation() : &k.getBody()->front();
    PanelLoop found{k, tiles, read, before, panel, {}, {}};
    if (!*slice)
      return found;
    found.panels = dyn_cast<scf::ForOp>(tiles->getParentOp());
    found.slices = found.panels ? dyn_cast<scf::ForOp>(found.panels->getParentOp()) : scf::ForOp();
    if (!found.slices || found.slices.getInductionVar() != *slice)
      return failure();
    return found;
  }
  return failure();
}

/// Inserts prefetches before the first read of a panel.  Row tile `t` of `T` takes elements
/// [t, t + 1) * depth * ceil(NR / T) of the next panel, so that two row tiles fetch all of it; the last panel wraps
/// around to the first, which the next task is likely to want.  Where the depth is taken in slices, the same slice of
/// the next panel follows, and the next slice of the task's first panel follows its last one.
static void prefetchNextPanel(PanelLoop loop) {
  Value panels = loop.read.getBase();
  Location loc = loop.read.getLoc();
  auto type = cast<MemRefType>(panels.getType());
  int64_t nr = type.getDimSize(2) * (type.getRank() == 4 ? 2 : 1); // elements for one k
  int64_t lineElements = kLine * 8 / type.getElementTypeBitWidth();
  scf::ForOp tiles = loop.tiles;
  OpBuilder b(tiles);
  auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto select = [&](Value c, Value x, Value y) -> Value { return arith::SelectOp::create(b, loc, c, x, y); };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value count = memref::DimOp::create(b, loc, panels, 0);
  Value depth = memref::DimOp::create(b, loc, panels, 1);
  SmallVector<ReassociationIndices> all{llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
  Value flat = memref::CollapseShapeOp::create(b, loc, panels, all);
  Value following = add(loop.panel, constant(1));
  Value next = select(compare(arith::CmpIPredicate::eq, following, count), constant(0), following);
  Value from = mul(next, depth), length = depth;
  if (scf::ForOp slices = loop.slices) {
    scf::ForOp inTask = loop.panels;
    Value slice = slices.getInductionVar(), iv = inTask.getInductionVar();
    length = slices.getStep();
    Value nextSlice = add(slice, length);
    Value isLast = compare(arith::CmpIPredicate::sge, add(iv, inTask.getStep()), inTask.getUpperBound());
    Value hasSlice = compare(arith::CmpIPredicate::slt, nextSlice, slices.getUpperBound());
    Value first = arith::SubIOp::create(b, loc, loop.panel, iv);
    Value wrapped = select(hasSlice, add(mul(first, depth), nextSlice), from);
    from = select(isLast, wrapped, add(from, slice));
  }
  Value base = mul(from, constant(nr));
  Value step = arith::CeilDivUIOp::create(b, loc, constant(nr), tiles.getUpperBound());
  Value perTile = mul(length, step);
  b.setInsertionPoint(loop.k);
  Value start = add(base, mul(tiles.getInductionVar(), perTile));
  b.setInsertionPoint(loop.before);
  Value at = add(start, mul(loop.k.getInductionVar(), step));
  // Half of what an iteration reads.  Into the L2 cache: what waits for memory there leaves the few line buffers of the
  // L1 cache free, and the panel in use stays in it.
  int64_t elements = getConstantIntValue(loop.k.getStep()).value_or(1) * nr / 2;
  for (int64_t line = 0, lines = llvm::divideCeil(elements, lineElements); line < lines; ++line)
    memref::PrefetchOp::create(b, loc, flat, ValueRange{add(at, constant(line * lineElements))}, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
}

namespace {
struct PrefetchPanels : convbert::impl::PrefetchPanelsBase<PrefetchPanels> {
  void runOnOperation() override {
    SmallVector<PanelLoop> loops;
    getOperation().walk([&](scf::ForOp k) {
      if (FailureOr<PanelLoop> loop = findPanelLoop(k); succeeded(loop))
        loops.push_back(*loop);
    });
    llvm::for_each(loops, prefetchNextPanel);
  }
};
} // namespace
