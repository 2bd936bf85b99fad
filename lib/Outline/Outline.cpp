//===- Outline.cpp - Host code that calls kernels on views of one workspace -===//

#include "lib/Outline/HostBuilder.h"
#include "lib/Outline/Passes.h"
#include "lib/Outline/Prepack.h"
#include "lib/Outline/Requirements.h"
#include "lib/Outline/Shapes.h"
#include "lib/Outline/Transfers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
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

/// The counts of length `length` alone, those of a function with one length.
static SmallVector<Value> getCountsOf(const HostContext &context, unsigned length) {
  SmallVector<Value> counts;
  for (RowKind kind : {RowKind::Token, RowKind::Sequence, RowKind::Key, RowKind::Call})
    counts.push_back(context.counts[getArena(kind, length)]);
  return counts;
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
    footprints.clear();
    KernelTemplates templates(module);
    Prepack prepacked(module);
    kernelTemplates = &templates;
    prepack = &prepacked;

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
    footprints[host.getName()] = plan->getFootprint() + calleeFootprint(fn, plan->getLengths());
    HostContext context = readShape(b, fn.getLoc(), tiles, host.getArgument(rest + 2));
    context.workspace = host.getArgument(rest);
    context.scratch = host.getArgument(rest + 1);
    context.threads = host.getArgument(rest + 3);
    HostBuilder builder(b, fn.getLoc(), *plan, tiles, *costs, context);
    if (failed(emitBody(fn, b, builder, [&](Value value) { return memory.lookup(value); })))
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
    Footprint total = plan->getFootprint() + calleeFootprint(fn, plan->getLengths());
    Value begin = arenaOffsets(b, loc, total, context.counts).back();
    Value scratchBytes = emitScratchBytes(b, loc, context);
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
    if (failed(emitBody(fn, b, builder, memory)))
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
    emitWorkspaceBytes(fn, plan->getLengths(), total);
    return success();
  }

  /// Kernel calls and calls of converted functions, in order.  `memory` maps tensors of the function that are no
  /// activations to memory.
  LogicalResult emitBody(func::FuncOp fn, OpBuilder &b, HostBuilder &builder, llvm::function_ref<Value(Value)> memory) {
    auto packed = [&](Value weight, unsigned part) -> Value {
      auto view = weight ? weight.getDefiningOp<WeightViewOp>() : WeightViewOp();
      return view && part < view.getPacked().size() ? memory(view.getPacked()[part]) : Value();
    };
    // A part of an argument is a part of its memory; of a parameter it has been packed by itself.
    auto input = [&](Value value) -> Value {
      auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
      if (!slice || !isa<BlockArgument>(slice.getSource()))
        return memory(value);
      return memref::SubViewOp::create(b, builder.getLoc(), memory(slice.getSource()), slice.getMixedOffsets(),
                                       slice.getMixedSizes(), slice.getMixedStrides());
    };
    OperandLookup lookup{packed, input};
    for (Operation &op : fn.getBody().front().without_terminator()) {
      builder.setLoc(op.getLoc());
      if (auto call = dyn_cast<func::CallOp>(op)) {
        if (failed(emitCall(call, b, builder, input)))
          return failure();
        continue;
      }
      if (!isMemoryEffectFree(&op))
        return op.emitOpError() << "has no CPU kernel";
      // Slices and concatenations are views; the rest without an activation as result is the parameters' business.
      if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(op) ||
          llvm::none_of(op.getResults(), WorkspacePlan::isActivation))
        continue;
      if (!hasKernel(&op))
        return op.emitOpError() << "has no CPU kernel";
      // A head mask is read as it is.
      for (Value operand : op.getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && !isa<ScaleHeadsOp, SelfAttentionOp>(op))
          if (type.hasStaticShape() && !operand.getDefiningOp<WeightViewOp>())
            return op.emitOpError() << "requires packed parameters (see convbert-pack-parameters)";
      unsigned length = op.getNumOperands() ? builder.getLength(op.getOperand(0)) : 0;
      builder.setLengths(length, builder.getLength(op.getResult(0)));
      Operation *last = b.getInsertionBlock()->empty() ? nullptr : &b.getInsertionBlock()->back();
      if (failed(emitKernelCalls(&op, builder, *kernelTemplates, lookup)))
        return failure();
      remarkKernels(fn, &op, b.getInsertionBlock(), last, builder.takeReasons());
      ++calls;
    }
    return success();
  }

  /// Says which kernels are called for `op` of `fn`, the calls in `block` behind `last`, and why.
  static void remarkKernels(func::FuncOp fn, Operation *op, Block *block, Operation *last, StringRef why) {
    remark::detail::InFlightRemark remark = remark::passed(
        op->getLoc(), remark::RemarkOpts::name("kernel").category("convbert-outline").function(fn.getName()));
    if (!remark)
      return;
    remark << remark::metric("Op", op->getName().getStringRef());
    auto begin = last ? std::next(last->getIterator()) : block->begin();
    for (Operation &call : llvm::make_range(begin, block->end()))
      call.walk([&](func::CallOp kernel) { remark << remark::metric("Kernel", kernel.getCallee()); });
    if (!why.empty())
      remark << remark::metric("Why", why);
  }

  LogicalResult emitCall(func::CallOp call, OpBuilder &b, HostBuilder &builder,
                         llvm::function_ref<Value(Value)> input) {
    auto callee = getOperation().lookupSymbol<func::FuncOp>((call.getCallee() + "_host").str());
    if (!callee || !callee.isPrivate())
      return call.emitOpError() << "requires a private callee with a body";
    const HostContext &context = builder.getContext();
    SmallVector<Value> operands;
    unsigned length = 0;
    for (Value value : llvm::concat<Value>(call.getOperands(), call.getResults())) {
      Value memory;
      length = std::max(length, builder.getLength(value)); // one for all that have tokens
      if (WorkspacePlan::isActivation(value)) {
        View view = builder.getPlan().getView(value);
        if (view.column != 0 || view.width != builder.getBuffer(value).width)
          return call.emitOpError() << "requires activations of their own, but found a part of one";
        memory = builder.base(value);
      } else {
        memory = input(value);
      }
      Type expected = callee.getArgumentTypes()[operands.size()];
      if (!memory || memory.getType() != expected)
        return call.emitOpError() << "requires memory of type " << expected << " for operand " << operands.size();
      operands.push_back(memory);
    }
    // The callee's arenas lie behind the own ones.
    Value begin = arenaOffsets(b, call.getLoc(), builder.getPlan().getFootprint(), context.counts).back();
    const Footprint &needs = footprints[callee.getName()];
    Value size = arenaOffsets(b, call.getLoc(), needs, getCountsOf(context, length)).back();
    auto span = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    operands.push_back(memref::ViewOp::create(b, call.getLoc(), span, context.workspace, begin, ValueRange{size}));
    operands.append({context.scratch, context.shapes[length], context.threads});
    func::CallOp::create(b, call.getLoc(), callee, operands);
    return success();
  }

  /// The most that any callee of `fn` needs.
  Footprint calleeFootprint(func::FuncOp fn, const Lengths &lengths) {
    Footprint most(getNumArenas(lengths.size()), 0);
    fn.walk([&](func::CallOp call) {
      auto needs = footprints.find((call.getCallee() + "_host").str());
      if (needs == footprints.end())
        return; // reported where the call is emitted
      unsigned length = 0;
      for (Value value : llvm::concat<Value>(call.getOperands(), call.getResults()))
        length = std::max(length, lengths.get(value));
      for (RowKind kind : {RowKind::Token, RowKind::Sequence, RowKind::Key, RowKind::Call}) {
        int64_t &size = most[getArena(kind, length)];
        size = std::max(size, needs->second[static_cast<unsigned>(kind)]);
      }
    });
    return most;
  }

  static func::FuncOp createEntry(OpBuilder &b, StringRef name, TypeRange arguments, TypeRange results) {
    auto fn = func::FuncOp::create(b, b.getUnknownLoc(), name, b.getFunctionType(arguments, results));
    fn->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
    b.setInsertionPointToStart(fn.addEntryBlock());
    return fn;
  }

  /// Threads times what one of them needs; the `memory` phase writes the body of `@scratch_bytes`.
  Value emitScratchBytes(OpBuilder &b, Location loc, const HostContext &context) {
    auto share = getOperation().lookupSymbol<func::FuncOp>("scratch_bytes");
    if (!share) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(getOperation().getBody());
      share = func::FuncOp::create(b, loc, "scratch_bytes",
                                   b.getFunctionType({context.shapes.front().getType()}, {b.getIndexType()}));
      share.setPrivate();
      b.setInsertionPointToStart(share.addEntryBlock());
      func::ReturnOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, 0).getResult());
    }
    Value one = func::CallOp::create(b, loc, share, ValueRange{largestShape(b, loc, context)}).getResult(0);
    Value threads = arith::IndexCastOp::create(b, loc, b.getIndexType(), context.threads);
    return arith::MulIOp::create(b, loc, one, threads);
  }

  void emitWorkspaceBytes(func::FuncOp fn, const Lengths &lengths, const Footprint &total) {
    OpBuilder b(fn);
    Location loc = fn.getLoc();
    auto shape = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    auto entry = createEntry(b, "workspace_bytes", {shape, b.getI32Type()}, {b.getI64Type()});
    HostContext context = readShape(b, loc, tiles, entry.getArgument(0));
    context.threads = entry.getArgument(1);
    Value shapes = shapeBytes(b, loc, lengths, context);
    if (shapes)
      addLengths(b, tiles, lengths, /*memory=*/Value(), loc, context);
    Value arenas = arenaOffsets(b, loc, total, context.counts).back();
    Value all = arith::AddIOp::create(b, loc, arenas, emitScratchBytes(b, loc, context));
    if (shapes)
      all = arith::AddIOp::create(b, loc, all, shapes);
    func::ReturnOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), all).getResult());
  }

  TileSizes tiles;
  std::optional<CostModel> costs;
  KernelTemplates *kernelTemplates = nullptr;
  Prepack *prepack = nullptr;
  SmallVector<std::pair<func::FuncOp, std::string>> converted;
  llvm::StringMap<Footprint> footprints;
};

} // namespace
