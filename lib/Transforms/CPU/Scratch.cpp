//===- Scratch.cpp - Temporaries become views of the scratch argument -----===//

#include "lib/Transforms/CPU/Kernel.h"
#include "lib/Transforms/CPU/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_SCRATCH
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// Every temporary starts at a multiple of this many bytes: a cache line, and the widest vector.
static constexpr int64_t kAlignment = 64;

namespace {
/// A temporary that never needs more than `bytes`.
struct BoundedAlloc {
  memref::AllocOp alloc;
  int64_t bytes;
};

/// The temporaries of one kernel: bounded ones first, at constant offsets, then the dynamic ones.
struct Temporaries {
  func::FuncOp kernel;
  SmallVector<BoundedAlloc> boundedAllocs;
  SmallVector<memref::AllocOp> dynamicAllocs;
};
} // namespace

/// Bytes of the static dimensions of `type`, or nothing if its elements have no size.
static std::optional<int64_t> getStaticBytes(MemRefType type) {
  Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t bytes = element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      bytes *= size;
  return bytes;
}

/// A constant that `size` never exceeds, if one is known.
static std::optional<int64_t> getBound(Value size) {
  if (auto dim = size.getDefiningOp<memref::DimOp>()) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    auto kernel = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    auto most = kernel ? kernel.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kMostAttr) : nullptr;
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!most || !axis || *axis >= most.size() || most[*axis] < 0)
      return std::nullopt;
    return most[*axis];
  }
  FailureOr<int64_t> bound =
      ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, size, nullptr, /*closedUB=*/true);
  return succeeded(bound) ? std::optional<int64_t>(*bound) : std::nullopt;
}

/// Bytes that `alloc` never exceeds, if its sizes have bounds.
static std::optional<int64_t> getBoundedBytes(memref::AllocOp alloc) {
  int64_t bytes = *getStaticBytes(alloc.getType());
  for (Value size : alloc.getDynamicSizes()) {
    std::optional<int64_t> bound = getBound(size);
    if (!bound)
      return std::nullopt;
    bytes *= *bound;
  }
  return bytes;
}

/// Fails unless `value` is computed from constants and loads of `shape` alone.  `seen`: what has been looked at.
static LogicalResult verifySize(memref::AllocOp alloc, Value value, Value shape,
                                llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (value == shape)
    return success();
  Operation *op = value.getDefiningOp();
  if (!op)
    return alloc.emitError("requires sizes computed from constants and loads of the shape argument (memref<?xi64>) "
                           "alone, but found a block argument of type ")
           << value.getType();
  if (!seen.insert(op).second)
    return success();
  bool isShapeLoad = isa<memref::LoadOp>(op) && cast<memref::LoadOp>(op).getMemRef() == shape;
  if (op->getNumRegions() != 0 || !(isMemoryEffectFree(op) || isShapeLoad)) {
    InFlightDiagnostic diag =
        alloc.emitError("requires sizes computed from constants and loads of the shape argument (memref<?xi64>) "
                        "alone, but found '")
        << op->getName() << "'";
    diag.attachNote(op->getLoc()) << "computed here";
    return diag;
  }
  for (Value operand : op->getOperands())
    if (failed(verifySize(alloc, operand, shape, seen)))
      return failure();
  return success();
}

/// Weights are packed once, at load: those kernels take their temporaries from the heap and give them back.
static LogicalResult freeTemporaries(func::FuncOp kernel) {
  if (kernel.isExternal())
    return success();
  Block &body = kernel.getBody().front();
  WalkResult walk = kernel.walk([&](memref::AllocOp alloc) {
    if (alloc->getBlock() != &body) {
      alloc.emitError("requires a temporary at the top of a pack kernel, but found it inside '")
          << alloc->getParentOp()->getName() << "'";
      return WalkResult::interrupt();
    }
    OpBuilder b(body.getTerminator());
    memref::DeallocOp::create(b, alloc.getLoc(), alloc);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// Collects the temporaries of `kernel`; fails with a diagnostic if one of them cannot become scratch.
static FailureOr<Temporaries> collectTemporaries(func::FuncOp kernel) {
  Temporaries result{kernel, {}, {}};
  BlockArgument scratch = getMarkedArgument(kernel, kScratchAttr);
  BlockArgument shape = getShapeArgument(kernel);
  auto visit = [&](memref::AllocOp alloc) -> LogicalResult {
    MemRefType type = alloc.getType();
    if (!scratch)
      return alloc.emitError("requires a scratch argument marked '")
             << kScratchAttr << "' in @" << kernel.getName() << " for this temporary of type " << type
             << ", but found none";
    if (!type.getLayout().isIdentity() || type.getMemorySpace() || !getStaticBytes(type))
      return alloc.emitError("requires a temporary of plain elements and identity layout, but found ") << type;
    if (std::optional<int64_t> bytes = getBoundedBytes(alloc)) {
      result.boundedAllocs.push_back({alloc, *bytes});
      return success();
    }
    if (alloc->getBlock() != &kernel.getBody().front())
      return alloc.emitError("requires a dynamic temporary at the entry of the kernel, but found ")
             << type << " inside '" << alloc->getParentOp()->getName() << "'; allocate it once, at its largest size";
    result.dynamicAllocs.push_back(alloc);
    llvm::SmallPtrSet<Operation *, 16> seen;
    for (Value size : alloc.getDynamicSizes())
      if (failed(verifySize(alloc, size, shape, seen)))
        return failure();
    return success();
  };
  WalkResult walk = kernel.walk(
      [&](memref::AllocOp alloc) { return failed(visit(alloc)) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (walk.wasInterrupted())
    return failure();
  auto bytes = scratch ? dyn_cast<MemRefType>(scratch.getType()) : MemRefType();
  if (scratch && (!bytes || !bytes.getElementType().isInteger(8) || bytes.getRank() != 1 ||
                  !bytes.getLayout().isIdentity() || bytes.getMemorySpace()))
    return kernel.emitError("requires a scratch argument of type memref<?xi8>, but found ") << scratch.getType();
  if (BlockArgument thread = getMarkedArgument(kernel, kThreadAttr); thread && !thread.getType().isIndex())
    return kernel.emitError("requires a thread number of type index, but found ") << thread.getType();
  return result;
}

/// Clones what computes `value` at the insertion point of `b`, through `mapping`.
static Value cloneComputation(OpBuilder &b, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneComputation(b, operand, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Emits the byte offset of each temporary within a thread's share and, at the end, the bytes of the share.
static SmallVector<Value> emitLayout(OpBuilder &b, const Temporaries &temporaries, Value shape) {
  func::FuncOp kernel = temporaries.kernel;
  Location loc = kernel.getLoc();
  IRMapping mapping;
  if (BlockArgument own = getShapeArgument(kernel))
    mapping.map(own, shape);
  auto constant = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(b, loc, v); };
  SmallVector<Value> offsets;
  int64_t boundedEnd = 0;
  for (const BoundedAlloc &bounded : temporaries.boundedAllocs) {
    offsets.push_back(constant(boundedEnd));
    boundedEnd += llvm::alignTo(bounded.bytes, kAlignment);
  }
  Value end = constant(boundedEnd);
  for (memref::AllocOp alloc : temporaries.dynamicAllocs) {
    offsets.push_back(end);
    Value bytes = constant(*getStaticBytes(alloc.getType()));
    for (Value size : alloc.getDynamicSizes())
      bytes = arith::MulIOp::create(b, loc, bytes, cloneComputation(b, size, mapping));
    Value lines = arith::CeilDivUIOp::create(b, loc, bytes, constant(kAlignment));
    end = arith::AddIOp::create(b, loc, end, arith::MulIOp::create(b, loc, lines, constant(kAlignment)));
  }
  offsets.push_back(end);
  return offsets;
}

/// Replaces the temporaries by views of the scratch argument.
static void replaceByViews(const Temporaries &temporaries) {
  func::FuncOp kernel = temporaries.kernel;
  Value scratch = getMarkedArgument(kernel, kScratchAttr);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  SmallVector<Value> offsets = emitLayout(b, temporaries, getShapeArgument(kernel));
  Value bytes = offsets.pop_back_val();
  if (Value thread = getMarkedArgument(kernel, kThreadAttr)) {
    Value base = arith::MulIOp::create(b, kernel.getLoc(), thread, bytes);
    for (Value &offset : offsets)
      offset = arith::AddIOp::create(b, kernel.getLoc(), base, offset);
  }
  SmallVector<memref::AllocOp> allocs = llvm::map_to_vector(temporaries.boundedAllocs, [](auto &b) { return b.alloc; });
  llvm::append_range(allocs, temporaries.dynamicAllocs);
  for (auto [alloc, offset] : llvm::zip_equal(allocs, offsets)) {
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    b.setInsertionPoint(alloc);
    Value view = memref::ViewOp::create(b, alloc.getLoc(), alloc.getType(), scratch, offset, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
}

/// Gives `function` a body that returns the largest share of all kernels.
static void writeScratchBytes(func::FuncOp function, ArrayRef<Temporaries> kernels) {
  function.getBody().dropAllReferences();
  function.getBody().getBlocks().clear();
  Block *entry = function.addEntryBlock();
  OpBuilder b = OpBuilder::atBlockBegin(entry);
  Value most = arith::ConstantIndexOp::create(b, function.getLoc(), 0);
  for (const Temporaries &temporaries : kernels)
    most = arith::MaxUIOp::create(b, function.getLoc(), most, emitLayout(b, temporaries, entry->getArgument(0)).back());
  func::ReturnOp::create(b, function.getLoc(), most);
}

namespace {
struct Scratch : convbert::impl::ScratchBase<Scratch> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Temporaries> kernels;
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      if (isPackKernel(function)) {
        if (failed(freeTemporaries(function)))
          return signalPassFailure();
        continue;
      }
      FailureOr<Temporaries> temporaries = collectTemporaries(function);
      if (failed(temporaries))
        return signalPassFailure();
      if (!temporaries->boundedAllocs.empty() || !temporaries->dynamicAllocs.empty())
        kernels.push_back(*temporaries);
    }

    auto bytes = module.lookupSymbol<func::FuncOp>(kScratchBytesName);
    Builder b(module.getContext());
    Type shape = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    FunctionType required = b.getFunctionType({shape}, {b.getIndexType()});
    if (bytes ? bytes.getFunctionType() != required : !kernels.empty()) {
      InFlightDiagnostic diag = (bytes ? bytes.emitError() : module.emitError())
                                << "requires a function @" << kScratchBytesName << " of type " << required
                                << " to tell the size of the kernels' temporaries, but found ";
      if (bytes)
        diag << bytes.getFunctionType();
      else
        diag << "none";
      return signalPassFailure();
    }
    if (bytes)
      writeScratchBytes(bytes, kernels);
    llvm::for_each(kernels, replaceByViews);
  }
};
} // namespace
