//===- ModelCost.cpp - Parameters and multiply-accumulates ------*- C++ -*-===//

#include "lib/Analysis/ModelCost.h"
#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::convbert {

int64_t countParameters(ModuleOp module) {
  int64_t total = 0;
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (auto type = dyn_cast<RankedTensorType>(global.getType()); type && type.hasStaticShape())
      total += type.getNumElements();
  return total;
}

namespace {

class CostCounter {
public:
  CostCounter(int64_t batch, int64_t length) : batch(batch), length(length) {}

  FailureOr<FunctionCost> count(FunctionOpInterface function);

private:
  /// Sums never wrap: a cost that does not fit is the largest number.
  static int64_t add(int64_t a, int64_t b) {
    int64_t sum;
    return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
  }
  static void addTo(FunctionCost &cost, StringRef name, OpCost op) {
    OpCost &entry = cost.byOp[name.str()];
    entry.count = add(entry.count, op.count);
    entry.macs = add(entry.macs, op.macs);
    entry.bytes = add(entry.bytes, op.bytes);
    cost.macs = add(cost.macs, op.macs);
    cost.bytes = add(cost.bytes, op.bytes);
  }

  int64_t batch, length;
  SymbolTableCollection symbols;
  /// Functions already counted; an empty entry is one being counted.
  DenseMap<Operation *, std::optional<FunctionCost>> counted;
};

} // namespace

FailureOr<FunctionCost> CostCounter::count(FunctionOpInterface function) {
  auto [entry, isNew] = counted.try_emplace(function, std::nullopt);
  if (!isNew) {
    if (!entry->second)
      return function.emitError("requires functions that do not call themselves, but found a circle of calls");
    return *entry->second;
  }
  FunctionCost cost;
  WalkResult result = function->walk([&](Operation *op) {
    if (auto priced = dyn_cast<CostOpInterface>(op)) {
      ByteCount bytes = priced.byteCount(batch, length);
      addTo(cost, op->getName().getStringRef(), {1, priced.macCount(batch, length), add(bytes.reads, bytes.writes)});
    } else if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallableInTable(&symbols));
      if (!callee)
        return WalkResult::advance();
      FailureOr<FunctionCost> calleeCost = count(callee);
      if (failed(calleeCost))
        return WalkResult::interrupt();
      for (const auto &[name, opCost] : calleeCost->byOp)
        addTo(cost, name, opCost);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  counted[function] = cost;
  return cost;
}

FailureOr<FunctionCost> computeCost(FunctionOpInterface function, int64_t batch, int64_t length) {
  return CostCounter(batch, length).count(function);
}

} // namespace mlir::convbert
