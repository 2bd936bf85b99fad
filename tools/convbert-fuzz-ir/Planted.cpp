//===- Planted.cpp - A pass that misbehaves -------------------------------===//

#include "tools/convbert-fuzz-ir/Planted.h"
#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct PlantedPass : PassWrapper<PlantedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlantedPass)
  explicit PlantedPass(StringRef misbehaviour) : misbehaviour(misbehaviour) {}
  StringRef getArgument() const override { return "convbert-planted"; }
  StringRef getDescription() const override { return "Misbehaves"; }

  void runOnOperation() override {
    DenseOp dense;
    getOperation().walk([&](DenseOp op) { dense = op; });
    if (!dense)
      return;
    if (misbehaviour == "crash")
      std::abort();
    for (volatile bool busy = misbehaviour == "hang"; busy;)
      ;
    if (misbehaviour == "silent")
      signalPassFailure();
    if (misbehaviour == "ignored")
      dense.emitError("says one thing and does another");
    if (misbehaviour == "invalid")
      dense.getResult().setType(dense.getWeight().getType());
  }

  StringRef misbehaviour;
};
} // namespace

bool fuzz::plantPass(StringRef misbehaviour) {
  if (!llvm::is_contained({"crash", "hang", "silent", "ignored", "invalid"}, misbehaviour))
    return false;
  registerPass([=] { return std::make_unique<PlantedPass>(misbehaviour); });
  return true;
}
