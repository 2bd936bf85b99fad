//===- Outline.cpp - Host code that calls kernels on views of one workspace -===//

#include "lib/Outline/HostBody.h"
#include "lib/Outline/Passes.h"
#include "lib/Outline/Prepack.h"
#include "lib/Outline/Requirements.h"
#include "lib/Outline/Shapes.h"
#include "lib/Outline/Transfers.h"
#include "lib/Outline/WorkspaceBytes.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_OUTLINEPASS
#include "lib/Outline/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

static Footprint operator+(const Footprint &x, const Footprint &y) {
  return llvm::map_to_vector(llvm::zip_equal(x, y), [](auto pair) { return std::get<0>(pair) + std::get<1>(pair); });
}

namespace {

struct OutlinePass : convbert::impl::OutlinePassBase<OutlinePass> {
  using OutlinePassBase::OutlinePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<TileSizes> found = TileSizes::get(instructionSet);
    if (!found) {
      module.emitError() << "requires an instruction set " << InstructionSet::getNames() << ", but found "
                         << instructionSet;
      return signalPassFailure();
    }
    tiles = *found;
    costs = CostModel::get(instructionSet);
    converted.clear(); // a pass may run on several modules
    KernelTemplates templates(module);
    Prepack prepacked(module);
    HostBody bodies(module, templates);
    kernelTemplates = &templates;
    prepack = &prepacked;
    hostBody = &bodies;

    SmallVector<func::FuncOp> order;
    llvm::SmallPtrSet<Operation *, 8> seen;
    for (auto fn : module.getOps<func::FuncOp>())
      if (failed(visitCallees(fn, order, seen)))
        return signalPassFailure();
    if (llvm::count_if(order, [](func::FuncOp fn) { return !fn.isPrivate(); }) != 1) {
      module.emitError() << "requires exactly one public function, the model's entry";
      return signalPassFailure();
    }
    for (func::FuncOp fn : order)
      if (failed(convert(fn)))
        return signalPassFailure();
    if (failed(prepack->emit()))
      return signalPassFailure();
    // The tensor code stays until here: it says how parameters are computed.
    for (func::FuncOp fn : llvm::reverse(order))
      fn->erase();
    for (auto [fn, name] : converted) {
      if (failed(SymbolTable::replaceAllSymbolUses(fn, StringAttr::get(&getContext(), name), module)))
        return signalPassFailure();
      fn.setName(name);
    }
    for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
      global->erase();
    kernels += templates.getNumKernels();
    calls += bodies.getNumCalls();
  }

private:
  /// Callees before callers.
  LogicalResult visitCallees(func::FuncOp fn, SmallVectorImpl<func::FuncOp> &order,
                             llvm::SmallPtrSetImpl<Operation *> &seen) {
    if (fn.isExternal() || fn->hasAttr("convbert.kernel") || llvm::is_contained(order, fn))
      return success();
    if (!seen.insert(fn).second)
      return fn.emitOpError() << "requires functions that do not call each other in a circle: the workspace would have "
                                 "no bound";
    if (failed(requireOutlinable(fn)))
      return failure();
    for (StringRef name :
         {"packed_bytes", "packed_layout", "prepack_steps", "prepack", "workspace_bytes", "scratch_bytes"})
      if (fn.getName() == name)
        return fn.emitOpError() << "requires another name: @" << name << " is part of the compiled object";
    WalkResult walk = fn.walk([&](func::CallOp call) {
      auto callee = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
      return callee && failed(visitCallees(callee, order, seen)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    order.push_back(fn);
    return success();
  }

  /// What a caller passes for `value`.
  Type memoryType(Value value, WorkspacePlan &plan) {
    Builder b(&getContext());
    auto type = cast<RankedTensorType>(value.getType());
    int64_t dynamic = ShapedType::kDynamic;
    if (!WorkspacePlan::isActivation(value)) {
      Type element = type.getElementType().isInteger(1) ? b.getI8Type() : type.getElementType();
      return MemRefType::get(type.getShape(), element);
    }
    if (plan.isMap(value))
      return MemRefType::get(type.getShape(), b.getF32Type());
    const Buffer &buffer = plan.getBuffer(plan.getView(value).buffer);
    return MemRefType::get({dynamic, buffer.kind == RowKind::Key ? dynamic : buffer.pitch}, b.getF32Type());
  }

  /// Moves means over all tokens right behind what they read, which is still in the cache there.
  static void hoistPools(func::FuncOp fn) {
    for (PoolOp pool : llvm::to_vector(fn.getBody().front().getOps<PoolOp>())) {
      Operation *made = pool.getX().getDefiningOp();
      Operation *masked = pool.getMask() ? pool.getMask().getDefiningOp() : nullptr;
      if (made && (!masked || masked->isBeforeInBlock(made)))
        pool->moveAfter(made);
    }
  }

  LogicalResult convert(func::FuncOp fn) {
    hoistPools(fn);
    return fn.isPrivate() ? convertPrivate(fn) : convertEntry(fn);
  }

  /// (arguments..., results..., workspace, scratch, shape, threads), all in memory.
  LogicalResult convertPrivate(func::FuncOp fn) {
    FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
    if (failed(plan) || failed(requireResults(fn, *plan)))
      return failure();
    OpBuilder b(fn);
    Block &body = fn.getBody().front();
    auto returned = cast<func::ReturnOp>(body.getTerminator());
    SmallVector<Type> types;
    for (Value value : llvm::concat<Value>(body.getArguments(), returned.getOperands()))
      types.push_back(memoryType(value, *plan));
    auto span = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    auto shape = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    types.append({span, span, shape, b.getI32Type()});
    auto host = func::FuncOp::create(b, fn.getLoc(), (fn.getName() + "_host").str(), b.getFunctionType(types, {}));
    host.setPrivate();
    converted.push_back({host, fn.getName().str()});
    b.setInsertionPointToStart(host.addEntryBlock());

    unsigned results = body.getNumArguments(), rest = results + returned.getNumOperands();
    llvm::DenseMap<Value, Value> memory;
    for (BlockArgument arg : body.getArguments()) {
      memory[arg] = host.getArgument(arg.getArgNumber());
      if (WorkspacePlan::isActivation(arg))
        plan->setExternal(arg, memory[arg]);
    }
    for (auto [i, value] : llvm::enumerate(returned.getOperands()))
      plan->setExternal(value, host.getArgument(results + i));
    plan->assignOffsets();
    hostBody->setFootprint(host, plan->getFootprint() + hostBody->getCalleeFootprint(fn, plan->getLengths()));
    HostContext context = readShape(b, fn.getLoc(), tiles, host.getArgument(rest + 2));
    context.workspace = host.getArgument(rest);
    context.scratch = host.getArgument(rest + 1);
    context.threads = host.getArgument(rest + 3);
    HostBuilder builder(b, fn.getLoc(), *plan, tiles, *costs, context);
    if (failed(hostBody->emit(fn, b, builder, [&](Value value) { return memory.lookup(value); })))
      return failure();
    func::ReturnOp::create(b, fn.getLoc());
    return success();
  }

  /// (packed, inputs, outputs, workspace, shape, threads), and `@workspace_bytes`.
  LogicalResult convertEntry(func::FuncOp fn) {
    FailureOr<WorkspacePlan> plan = WorkspacePlan::compute(fn, tiles);
    if (failed(plan) || failed(requireResults(fn, *plan)))
      return failure();
    plan->assignOffsets();
    OpBuilder b(fn);
    Location loc = fn.getLoc();
    auto span = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    auto table = MemRefType::get({ShapedType::kDynamic}, span);
    auto shape = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    auto host = createEntry(b, (fn.getName() + "_host").str(), {span, table, table, span, shape, b.getI32Type()}, {});
    converted.push_back({host, fn.getName().str()});
    HostContext context = readShape(b, loc, tiles, host.getArgument(4));
    context.threads = host.getArgument(5);
    context.workspace = host.getArgument(3);
    // The shapes of further lengths come first.
    if (Value shapes = shapeBytes(b, loc, plan->getLengths(), context)) {
      addLengths(b, tiles, plan->getLengths(), context.workspace, loc, context);
      Value all = memref::DimOp::create(b, loc, context.workspace, 0);
      context.workspace = memref::ViewOp::create(b, loc, span, context.workspace, shapes,
                                                 ValueRange{arith::SubIOp::create(b, loc, all, shapes).getResult()});
    }

    // The scratch lies behind all arenas.
    Footprint total = plan->getFootprint() + hostBody->getCalleeFootprint(fn, plan->getLengths());
    Value begin = arenaOffsets(b, loc, total, context.counts).back();
    Value scratchBytes = emitScratchBytes(getOperation(), b, loc, context);
    context.scratch = memref::ViewOp::create(b, loc, span, context.workspace, begin, ValueRange{scratchBytes});

    HostBuilder builder(b, loc, *plan, tiles, *costs, context);
    // Entry `index` of a table of arrays, as `value` is laid out there: dynamic extents are the batch and lengths.
    auto viewOf = [&](Value table, int64_t index, Value value) -> Value {
      auto type = cast<MemRefType>(memoryType(value, *plan));
      SmallVector<Value> sizes(type.getNumDynamicDims(), context.longest[plan->getLengths().get(value)]);
      if (!sizes.empty())
        sizes.front() = context.batch;
      Value bytes = memref::LoadOp::create(b, loc, table, ValueRange{builder.constant(index)});
      return memref::ViewOp::create(b, loc, type, bytes, builder.constant(0), sizes);
    };
    auto bytesOf = [&](Value table, int64_t index) -> Value {
      return memref::LoadOp::create(b, loc, table, ValueRange{builder.constant(index)});
    };
    // Runs `emit` in calls for which the rows of `value` do not lie in the caller's array.
    auto unlessDense = [&](Value value, llvm::function_ref<LogicalResult()> emit) -> LogicalResult {
      Value dense = builder.isDense(builder.getLength(value));
      Value yes = arith::ConstantIntOp::create(b, loc, /*value=*/1, /*width=*/1);
      auto branch = scf::IfOp::create(b, loc, arith::XOrIOp::create(b, loc, dense, yes), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      return emit();
    };
    auto returned = cast<func::ReturnOp>(fn.getBody().front().getTerminator());
    llvm::DenseSet<Value> inPlace;
    for (BlockArgument arg : fn.getArguments()) {
      if (!WorkspacePlan::isActivation(arg))
        continue;
      Value bytes = bytesOf(host.getArgument(1), arg.getArgNumber());
      auto load = [&] { return emitLoad(fn, builder, *kernelTemplates, arg, bytes); };
      bool dense = plan->canBeDense(arg) && !llvm::is_contained(returned.getOperands(), arg);
      if (dense)
        builder.setDense(arg, bytes);
      if (failed(dense ? unlessDense(arg, load) : load()))
        return failure();
    }
    for (auto [i, value] : llvm::enumerate(returned.getOperands()))
      if (value.getDefiningOp() && WorkspacePlan::isActivation(value) && !plan->isMap(value) &&
          plan->canBeDense(value) && llvm::count(returned.getOperands(), value) == 1) {
        builder.setDense(value, bytesOf(host.getArgument(2), i));
        inPlace.insert(value);
      }
    for (auto [i, value] : llvm::enumerate(returned.getOperands()))
      if (plan->isMap(value))
        plan->setExternal(value, viewOf(host.getArgument(2), i, value));
    auto memory = [&](Value value) -> Value {
      if (auto arg = dyn_cast<BlockArgument>(value))
        return viewOf(host.getArgument(1), arg.getArgNumber(), value);
      return cast<RankedTensorType>(value.getType()).hasStaticShape() ? prepack->getView(b, host.getArgument(0), value)
                                                                      : Value();
    };
    if (failed(hostBody->emit(fn, b, builder, memory)))
      return failure();
    for (unsigned i = 0; i < returned.getNumOperands(); ++i) {
      Value value = returned.getOperand(i);
      if (plan->isMap(value))
        continue; // has been written where it was computed
      auto store = [&] {
        return emitStore(returned, builder, *kernelTemplates, value, bytesOf(host.getArgument(2), i));
      };
      if (failed(inPlace.contains(value) ? unlessDense(value, store) : store()))
        return failure();
    }
    func::ReturnOp::create(b, loc);
    emitWorkspaceBytes(fn, tiles, plan->getLengths(), total);
    return success();
  }

  TileSizes tiles;
  std::optional<CostModel> costs;
  KernelTemplates *kernelTemplates = nullptr;
  Prepack *prepack = nullptr;
  HostBody *hostBody = nullptr;
  SmallVector<std::pair<func::FuncOp, std::string>> converted;
};

} // namespace
