//===- Fork.cpp - Task functions and dispatchers --------------------------===//

#include "lib/Transforms/CPU/Kernel.h"
#include "lib/Transforms/CPU/Passes.h"
#include "lib/Transforms/CPU/SharedRows.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_FORK
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// `i32 name(ident_t *)` of the OpenMP runtime, declared on demand.
static func::FuncOp getRuntimeQuery(ModuleOp module, StringRef name) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder b(module.getBodyRegion());
  auto function = func::FuncOp::create(b, module.getLoc(), name,
                                       b.getFunctionType(LLVM::LLVMPointerType::get(b.getContext()), b.getI32Type()));
  function.setPrivate();
  return function;
}

/// Whether `memory` is a temporary of the kernel (each thread will have its own) or a view of one.
static bool isTemporary(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(memory.getDefiningOp());
}

/// Fails if `op`, which every thread will run, writes to memory that threads share.
static LogicalResult verifyPerThread(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  if (!effects)
    return op->emitError("requires known memory effects outside the parallel loop of a kernel, but found '")
           << op->getName() << "'; move it into the loop";
  for (const MemoryEffects::EffectInstance &effect : *effects)
    if (isa<MemoryEffects::Write>(effect.getEffect()) && !(effect.getValue() && isTemporary(effect.getValue())))
      return op->emitError("requires no write to shared memory outside the parallel loop of a kernel, but found '")
             << op->getName() << "', which every thread would run; move it into the loop";
  return success();
}

/// The one parallel loop of `kernel`, or failure with a diagnostic.
static FailureOr<scf::ForallOp> findParallelLoop(func::FuncOp kernel) {
  SmallVector<scf::ForallOp> loops;
  kernel.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  if (loops.size() != 1)
    return kernel.emitError("requires exactly one parallel loop (scf.forall) in kernel @")
           << kernel.getName() << ", but found " << loops.size()
           << "; split the kernel, or give it no argument marked '" << kThreadsAttr << "'";
  scf::ForallOp loop = loops.front();
  if (loop->getParentOp() != kernel || !kernel.getBody().hasOneBlock())
    return loop.emitError("requires the parallel loop of kernel @")
           << kernel.getName() << " at the top level of its single block, but found it in '"
           << loop->getParentOp()->getName() << "'";
  if (loop.getRank() != 1 || loop.getNumResults() != 0)
    return loop.emitError("requires a bufferized parallel loop of one dimension in kernel @")
           << kernel.getName() << ", but found " << loop.getRank() << " dimensions and " << loop.getNumResults()
           << " results";
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (&op != loop && failed(verifyPerThread(&op)))
      return failure();
  return loop;
}

/// The `min(step, ub - i)` in the body of a loop over tiles of any extent: what the last tile holds.  Threads may share
/// such a loop within a step; there are none in a loop whose shares are whole steps.
static SmallVector<affine::AffineMinOp> findTileExtents(scf::ForallOp loop) {
  SmallVector<affine::AffineMinOp> extents;
  auto ub = dyn_cast<Value>(loop.getMixedUpperBound()[0]);
  if (!ub || !loop->hasAttr(kAnyExtentAttr))
    return extents;
  for (Operation *user : loop.getInductionVar(0).getUsers())
    if (auto min = dyn_cast<affine::AffineMinOp>(user); min && llvm::is_contained(min.getOperands(), ub))
      extents.push_back(min);
  return extents;
}

/// How many threads the loop of a kernel is worth at most, as the dispatcher computes it.
class Worth {
public:
  Worth(func::FuncOp kernel, scf::ForallOp loop)
      : lb(loop.getMixedLowerBound()[0]), ub(loop.getMixedUpperBound()[0]), step(loop.getMixedStep()[0]) {
    if (auto attr = dyn_cast_if_present<IntegerAttr>(kernel->removeAttr(kGrainAttr)))
      grain = attr.getInt();
    if (!findTileExtents(loop).empty())
      step = OpBuilder(kernel.getContext()).getIndexAttr(1);
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    for (OpFoldResult bound : {lb, ub, step})
      if (auto value = dyn_cast<Value>(bound))
        (void)getBackwardSlice(value, &slice, options);
  }

  /// Iterations / grain, where the bounds' operations, now in `task`, are repeated in `kernel`; or null.
  Value count(OpBuilder &b, func::FuncOp task, func::FuncOp kernel) const {
    // Bounds that rest on more than arguments and what is read from them are the task's business.
    if (llvm::any_of(
            slice, [](Operation *op) { return !isMemoryEffectFree(op) && !hasSingleEffect<MemoryEffects::Read>(op); }))
      return Value();
    Location loc = kernel.getLoc();
    IRMapping map;
    map.map(task.getArguments().take_front(kernel.getNumArguments()), kernel.getArguments());
    for (Operation *op : slice)
      b.clone(*op, map);
    auto value = [&](OpFoldResult v) {
      auto own = dyn_cast<Value>(v);
      return own ? map.lookupOrDefault(own) : getValueOrCreateConstantIndexOp(b, loc, v);
    };
    Value count = arith::CeilDivUIOp::create(b, loc, arith::SubIOp::create(b, loc, value(ub), value(lb)), value(step));
    return arith::CeilDivUIOp::create(b, loc, count, arith::ConstantIndexOp::create(b, loc, grain));
  }

private:
  OpFoldResult lb, ub, step;
  int64_t grain = 1;
  /// What computes the bounds, in order.
  SetVector<Operation *> slice;
};

/// Replaces `loop` by a loop over the contiguous share of `thread` in a team of `team`.
static void takeShare(scf::ForallOp loop, Value thread, Value team) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto value = [&](OpFoldResult v) { return getValueOrCreateConstantIndexOp(b, loc, v); };
  Value lb = value(loop.getMixedLowerBound()[0]);
  Value ub = value(loop.getMixedUpperBound()[0]);
  Value step = value(loop.getMixedStep()[0]);
  Value length = arith::SubIOp::create(b, loc, ub, lb);
  // A share that ends within a tile ends the tile's extent too.
  SmallVector<affine::AffineMinOp> extents = findTileExtents(loop);
  Value unit = extents.empty() ? step : value(b.getIndexAttr(1));
  Value count = arith::CeilDivUIOp::create(b, loc, length, unit);
  Value share = arith::MulIOp::create(b, loc, arith::CeilDivUIOp::create(b, loc, count, team), unit);
  Value from = arith::AddIOp::create(b, loc, lb, arith::MulIOp::create(b, loc, thread, share));
  Value to = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, from, share), ub);
  for (affine::AffineMinOp extent : extents)
    extent->replaceUsesOfWith(ub, to);
  auto mine = scf::ForOp::create(b, loc, from, to, step);
  Block *source = loop.getBody();
  Block *target = mine.getBody();
  source->getTerminator()->erase();
  source->getArgument(0).replaceAllUsesWith(mine.getInductionVar());
  target->getOperations().splice(target->getTerminator()->getIterator(), source->getOperations());
  loop.erase();
}

/// Moves the body of `kernel` into a new function that takes the thread's number and the size of the team besides.
/// Where threads may share rows, a team of one runs the whole loop, whatever the number of its thread.
static func::FuncOp createTask(func::FuncOp kernel, scf::ForallOp loop, bool sharesRows) {
  OpBuilder b(kernel);
  Location loc = kernel.getLoc();
  unsigned count = kernel.getNumArguments();
  SmallVector<Type> types(kernel.getArgumentTypes());
  types.append({b.getIndexType(), b.getIndexType()});
  auto task = func::FuncOp::create(b, loc, (kernel.getName() + "_task").str(), b.getFunctionType(types, {}));
  task.setPrivate();
  // One call a thread: inlining it twice into the dispatcher would only double the code.
  task->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  if (Attribute kind = kernel->removeAttr(kKernelAttr))
    task->setAttr(kKernelAttr, kind);
  task.getBody().takeBody(kernel.getBody());
  Value thread = task.getBody().front().addArgument(b.getIndexType(), loc);
  Value team = task.getBody().front().addArgument(b.getIndexType(), loc);
  for (unsigned i = 0; i < count; ++i)
    task.setArgAttrs(i, kernel.getArgAttrDict(i));
  task.setArgAttr(count, kThreadAttr, b.getUnitAttr());
  if (sharesRows) {
    // All threads run the whole loop then, but temporaries are those of the thread.
    b.setInsertionPoint(loop);
    Value one = arith::ConstantIndexOp::create(b, loc, 1), zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value alone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, team, one);
    thread = arith::SelectOp::create(b, loc, alone, zero, thread);
  }
  takeShare(loop, thread, team);
  return task;
}

/// Fills the empty `kernel` with calls of `task`: one, or one a thread.
static void createDispatcher(ModuleOp module, func::FuncOp kernel, func::FuncOp task, const Worth &worth,
                             const std::optional<SharedRows> &shared, unsigned threadsArgument) {
  Location loc = kernel.getLoc();
  OpBuilder b(kernel.getContext());
  b.setInsertionPointToStart(kernel.addEntryBlock());
  Value threads = kernel.getArgument(threadsArgument), rows, byRows;
  Value iterations = worth.count(b, task, kernel), most = iterations;
  if (iterations) {
    if (shared) {
      rows = shared->count(b, loc, kernel.getArguments());
      most = arith::MaxUIOp::create(b, loc, most, shared->worth(b, loc, rows));
    }
    Value all = arith::IndexCastOp::create(b, loc, b.getIndexType(), threads);
    most = arith::MinSIOp::create(b, loc, most, all);
    threads = arith::IndexCastOp::create(b, loc, threads.getType(), most);
  }
  auto call = [&](ValueRange arguments, Value thread, Value team) {
    SmallVector<Value> operands(arguments);
    operands.append({thread, team});
    func::CallOp::create(b, loc, task, operands);
  };
  auto ask = [&](StringRef name) -> Value {
    Value location = LLVM::ZeroOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()));
    Value answer = func::CallOp::create(b, loc, getRuntimeQuery(module, name), location).getResult(0);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), answer);
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value single = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, threads,
                                       arith::ConstantIntOp::create(b, loc, /*value=*/1, /*width=*/32));
  auto branch = scf::IfOp::create(b, loc, single, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  call(kernel.getArguments(), zero, one);
  b.setInsertionPointToStart(branch.elseBlock());
  if (rows)
    byRows = shared->isFaster(b, loc, rows, iterations, most);
  auto region = omp::ParallelOp::create(b, loc);
  region.getNumThreadsMutable().assign(threads);
  b.createBlock(&region.getRegion());
  // The runtime may grant fewer threads than asked for.  Not asked by the names of OpenMP's standard: another runtime
  // that the process has loaded, such as GNU's of PyTorch, would answer to those, and tell every thread that it is the
  // first.
  Value thread = ask("__kmpc_bound_thread_num");
  Value team = ask("__kmpc_bound_num_threads");
  if (byRows) {
    auto either = scf::IfOp::create(b, loc, byRows, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(either.thenBlock());
    call(shared->share(b, loc, kernel.getArguments(), rows, thread, team), thread, one);
    b.setInsertionPointToStart(either.elseBlock());
    call(kernel.getArguments(), thread, team);
  } else {
    call(kernel.getArguments(), thread, team);
  }
  omp::TerminatorOp::create(b, loc);
  b.setInsertionPointAfter(branch);
  func::ReturnOp::create(b, loc);
}

namespace {
struct Fork : convbert::impl::ForkBase<Fork> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp kernel : llvm::to_vector(module.getOps<func::FuncOp>())) {
      BlockArgument threads = getMarkedArgument(kernel, kThreadsAttr);
      if (!threads || getMarkedArgument(kernel, kThreadAttr))
        continue;
      if (!threads.getType().isInteger(32) || kernel.getNumResults() != 0) {
        kernel.emitError("requires an i32 thread count and no result of kernel @")
            << kernel.getName() << ", but found " << kernel.getFunctionType();
        return signalPassFailure();
      }
      FailureOr<scf::ForallOp> loop = findParallelLoop(kernel);
      if (failed(loop))
        return signalPassFailure();
      FailureOr<std::optional<SharedRows>> rows = SharedRows::take(kernel);
      if (failed(rows))
        return signalPassFailure();
      unsigned position = threads.getArgNumber();
      Worth worth(kernel, *loop);
      func::FuncOp task = createTask(kernel, *loop, rows->has_value());
      createDispatcher(module, kernel, task, worth, *rows, position);
    }
  }
};
} // namespace
