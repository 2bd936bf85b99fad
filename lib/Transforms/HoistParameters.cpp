//===- HoistParameters.cpp - Parameter-only chains move to the callers ------===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_HOISTPARAMETERSPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Values that hold parameters: loaded globals, arguments that all callers fill with parameters, and what pure
/// operations make of them.
class ParameterValues {
public:
  bool contains(Value value) const { return values.contains(value); }
  void insert(Value value) { values.insert(value); }
  /// Forgets a value that is about to be erased: its address may be another value's soon.
  void erase(Value value) { values.erase(value); }

  /// Adds what `fn` computes from parameters alone.
  void collect(func::FuncOp fn) {
    for (Operation &op : fn.getBody().front())
      if (isa<ml_program::GlobalLoadConstOp>(op) || isParameterOnly(&op))
        values.insert_range(op.getResults());
  }

  /// Constants and empty tensors alone are no parameters, but they may be part of a chain, and a constant may stand
  /// where a target wants a parameter (zeros for a missing bias).
  bool isParameterOnly(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>() || isa<WeightViewOp>(op) || !isMemoryEffectFree(op))
      return false;
    bool any = op->hasTrait<OpTrait::ConstantLike>() &&
               llvm::any_of(op->getUsers(), [](Operation *user) { return isa<WeightViewOp>(user); });
    for (Value input : getInputs(op)) {
      if (contains(input))
        any = true;
      else if (!isFree(input))
        return false;
    }
    return any;
  }

  /// True if a caller that passes `value` passes a parameter.
  bool isPassedAsParameter(Value value) const {
    return contains(value) || (isFree(value) && isa<RankedTensorType>(value.getType()));
  }

  /// Operands, and values that the regions of `op` use from outside (a padding value, say).
  static llvm::SetVector<Value> getInputs(Operation *op) {
    llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), inputs);
    return inputs;
  }

private:
  /// Rests on nothing, so that it can be made again anywhere.
  static bool isFree(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getNumOperands() == 0 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           !isa<ml_program::GlobalLoadConstOp>(op);
  }

  llvm::DenseSet<Value> values;
};

/// Callers before callees, from the public functions on.  Functions in a circle of calls come in any order.
static SmallVector<func::FuncOp> getCallOrder(ModuleOp module) {
  SmallVector<func::FuncOp> order;
  llvm::SmallPtrSet<Operation *, 8> seen;
  std::function<void(func::FuncOp)> visit = [&](func::FuncOp fn) {
    if (fn.isExternal() || !seen.insert(fn).second)
      return;
    fn.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && callee.isPrivate())
        visit(callee);
    });
    order.push_back(fn);
  };
  for (auto fn : module.getOps<func::FuncOp>())
    if (!fn.isPrivate())
      visit(fn);
  std::reverse(order.begin(), order.end());
  return order;
}

/// The calls of `fn`, or nothing if it is referenced otherwise, so that its callers are not known.
static std::optional<SmallVector<func::CallOp>> getCalls(func::FuncOp fn, ModuleOp module) {
  SmallVector<func::CallOp> calls;
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(fn, module);
  if (!uses)
    return std::nullopt;
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    if (!call)
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

struct HoistParametersPass : convbert::impl::HoistParametersPassBase<HoistParametersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ParameterValues parameters;
    struct Movable {
      func::FuncOp fn;
      SmallVector<func::CallOp> calls;
    };
    SmallVector<Movable> functions;
    // What is a parameter is known from the callers down; chains move from the callees up.
    for (func::FuncOp fn : getCallOrder(module)) {
      std::optional<SmallVector<func::CallOp>> calls = getCalls(fn, module);
      if (fn.isPrivate() && calls && !calls->empty()) {
        for (BlockArgument arg : fn.getArguments())
          if (llvm::all_of(*calls, [&](func::CallOp call) {
                return parameters.isPassedAsParameter(call.getOperand(arg.getArgNumber()));
              }))
            parameters.insert(arg);
        functions.push_back({fn, *calls});
      }
      parameters.collect(fn);
    }
    for (Movable &movable : llvm::reverse(functions))
      hoist(movable.fn, movable.calls, parameters);
  }

private:
  /// Maps `value` of a callee that is not in the chain: a constant, an empty tensor, a loaded global, or what an
  /// earlier move has made of constants.
  static void makeAgain(Value value, OpBuilder &b, IRMapping &map, ParameterValues &parameters) {
    if (map.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value input : ParameterValues::getInputs(op))
      makeAgain(input, b, map, parameters);
    Operation *copy = b.clone(*op, map);
    if (parameters.contains(value))
      for (Value result : copy->getResults())
        parameters.insert(result);
  }

  void hoist(func::FuncOp fn, ArrayRef<func::CallOp> calls, ParameterValues &parameters) {
    Block &body = fn.getBody().front();
    SmallVector<Operation *> chain;
    for (Operation &op : body)
      if (parameters.isParameterOnly(&op))
        chain.push_back(&op);
    hoisted += chain.size();

    // Clone the chain before every call.
    SmallVector<IRMapping> maps(calls.size());
    for (auto [constCall, map] : llvm::zip(calls, maps)) {
      func::CallOp call = constCall;
      map.map(fn.getArguments(), call.getOperands());
      OpBuilder b(call);
      for (Operation *op : chain) {
        for (Value input : ParameterValues::getInputs(op))
          makeAgain(input, b, map, parameters);
        Operation *copy = b.clone(*op, map);
        for (Value result : copy->getResults())
          parameters.insert(result);
      }
    }
    // Results that the rest of the body uses become arguments.
    llvm::SmallPtrSet<Operation *, 16> inChain(chain.begin(), chain.end());
    for (Operation *op : chain)
      for (Value result : op->getResults()) {
        if (llvm::all_of(result.getUsers(), [&](Operation *user) { return inChain.contains(user); }))
          continue;
        if (failed(fn.insertArgument(fn.getNumArguments(), result.getType(), /*argAttrs=*/{}, result.getLoc())))
          continue; // a function that refuses arguments keeps its operation
        BlockArgument arg = fn.getArguments().back();
        result.replaceUsesWithIf(arg, [&](OpOperand &use) { return !inChain.contains(use.getOwner()); });
        parameters.insert(arg);
        for (auto [call, map] : llvm::zip(calls, maps)) {
          Operation *op = call;
          op->insertOperands(op->getNumOperands(), map.lookup(result));
        }
      }
    for (Operation *op : llvm::reverse(chain)) {
      if (!op->use_empty())
        continue;
      for (Value result : op->getResults())
        parameters.erase(result);
      op->erase();
    }
    // Arguments that nothing reads any more.
    BitVector unread(fn.getNumArguments());
    for (BlockArgument arg : fn.getArguments())
      if (parameters.contains(arg) && arg.use_empty())
        unread.set(arg.getArgNumber());
    for (unsigned i : unread.set_bits())
      parameters.erase(fn.getArgument(i));
    if (unread.none() || failed(fn.eraseArguments(unread)))
      return;
    for (func::CallOp call : calls)
      call->eraseOperands(unread);
  }
};

} // namespace
