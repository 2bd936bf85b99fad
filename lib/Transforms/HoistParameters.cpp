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

  /// Adds what `fn` computes from parameters alone.
  void collect(func::FuncOp fn) {
    for (Operation &op : fn.getBody().front())
      if (isa<ml_program::GlobalLoadConstOp>(op) || isParameterOnly(&op))
        values.insert_range(op.getResults());
  }

  /// Constants and empty tensors alone are no parameters, but they may be part of a chain.
  bool isParameterOnly(Operation *op) const {
    bool any = false;
    for (Value input : getInputs(op)) {
      if (contains(input))
        any = true;
      else if (!isFree(input))
        return false;
    }
    return any && isMemoryEffectFree(op) && !isa<WeightViewOp>(op);
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

struct HoistParametersPass : convbert::impl::HoistParametersPassBase<HoistParametersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ParameterValues parameters;
    // Callers stand behind their callees or before them; private functions form a tree of calls, so visiting the
    // public ones first and then whoever they call reaches every caller before its callee.
    SmallVector<func::FuncOp> order;
    for (auto fn : module.getOps<func::FuncOp>())
      if (!fn.isPrivate() && !fn.isExternal())
        order.push_back(fn);
    for (size_t i = 0; i < order.size(); ++i)
      order[i].walk([&](func::CallOp call) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee && callee.isPrivate() && !callee.isExternal() && !llvm::is_contained(order, callee))
          order.push_back(callee);
      });
    for (func::FuncOp fn : order) {
      SmallVector<func::CallOp> calls;
      std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(fn, module);
      if (!uses)
        return;
      for (SymbolTable::SymbolUse use : *uses)
        if (auto call = dyn_cast<func::CallOp>(use.getUser()))
          calls.push_back(call);
        else
          return; // referenced otherwise: its callers are not known
      if (fn.isPrivate() && !calls.empty())
        for (BlockArgument arg : fn.getArguments())
          if (llvm::all_of(calls, [&](func::CallOp call) {
                return parameters.contains(call.getOperand(arg.getArgNumber()));
              }))
            parameters.insert(arg);
      parameters.collect(fn);
      if (fn.isPrivate() && !calls.empty())
        hoist(fn, calls, parameters);
    }
  }

private:
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
          if (!map.contains(input)) // a constant or an empty tensor of the callee
            map.map(input, b.clone(*input.getDefiningOp(), map)->getResult(0));
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
        BlockArgument arg = body.addArgument(result.getType(), result.getLoc());
        result.replaceUsesWithIf(arg, [&](OpOperand &use) { return !inChain.contains(use.getOwner()); });
        parameters.insert(arg);
        for (auto [call, map] : llvm::zip(calls, maps)) {
          Operation *op = call;
          op->insertOperands(op->getNumOperands(), map.lookup(result));
        }
      }
    for (Operation *op : llvm::reverse(chain))
      op->erase();
    // Arguments that nothing reads any more.
    for (unsigned i = body.getNumArguments(); i-- > 0;)
      if (parameters.contains(body.getArgument(i)) && body.getArgument(i).use_empty()) {
        body.eraseArgument(i);
        for (func::CallOp call : calls)
          call->eraseOperand(i);
      }
    fn.setFunctionType(FunctionType::get(&getContext(), body.getArgumentTypes(), fn.getResultTypes()));
    fn.removeArgAttrsAttr(); // private functions carry none that matter
  }
};

} // namespace
