//===- ReturnSteps.cpp - All that a model computes becomes a result ---------===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_RETURNSTEPSPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ReturnStepsPass : convbert::impl::ReturnStepsPassBase<ReturnStepsPass> {
  void runOnOperation() override {
    for (auto fn : getOperation().getOps<func::FuncOp>())
      if (!fn.isPrivate() && !fn.isExternal() && fn.getBody().hasOneBlock() &&
          SymbolTable::symbolKnownUseEmpty(fn, getOperation()))
        returnSteps(fn);
  }

private:
  /// Features of tokens or of sequences.  Taps before their softmax have a layout of the target's own.
  static bool isStep(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isF32() && (type.getRank() == 2 || type.getRank() == 3) &&
           type.isDynamicDim(0) && !type.isDynamicDim(type.getRank() - 1);
  }

  void returnSteps(func::FuncOp fn) {
    Operation *returned = fn.getBody().back().getTerminator();
    llvm::SetVector<Value> results(returned->operand_begin(), returned->operand_end());
    Builder b(&getContext());
    unsigned count = 0;
    for (Operation &op : fn.getBody().back())
      for (Value result : op.getResults()) {
        if (!isa_and_nonnull<ConvBERTDialect>(op.getDialect()) || !isStep(result) || !results.insert(result))
          continue;
        DictionaryAttr name =
            b.getDictionaryAttr(b.getNamedAttr("convbert.name", b.getStringAttr("steps." + Twine(count++))));
        if (failed(fn.insertResult(fn.getNumResults(), result.getType(), name)))
          return signalPassFailure();
        returned->insertOperands(returned->getNumOperands(), result);
      }
    steps += count;
  }
};

} // namespace
