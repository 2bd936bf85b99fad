//===- RemoveHeadsPlugin.cpp - The pass test-remove-heads, for convbert-opt --===//
//
//   convbert-opt --load-pass-plugin=.../ConvBERTTestPasses.so
//                --pass-pipeline='builtin.module(test-remove-heads{attention=0,2 convolution=1})'
//
// Removes heads through HeadedInterface, so that tests can compare numbers.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct RemoveHeadsPass : PassWrapper<RemoveHeadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RemoveHeadsPass)

  RemoveHeadsPass() = default;
  RemoveHeadsPass(const RemoveHeadsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-remove-heads"; }
  StringRef getDescription() const override { return "Remove heads of every operation that has heads"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SmallVector<Head> heads;
    for (int64_t head : attention)
      heads.push_back({HeadBranch::Attention, head});
    for (int64_t head : convolution)
      heads.push_back({HeadBranch::Convolution, head});
    SmallVector<HeadedInterface> ops;
    getOperation().walk([&](HeadedInterface op) { ops.push_back(op); });
    for (HeadedInterface op : ops) {
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = op.removeHeads(builder, heads);
      if (failed(values))
        return signalPassFailure();
      op->replaceAllUsesWith(*values);
      op->erase();
    }
    // Results may have fewer features.
    func::FuncOp function = getOperation();
    Operation *returned = function.getBody().front().getTerminator();
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), returned->getOperandTypes()));
  }

  ListOption<int64_t> attention{*this, "attention", llvm::cl::desc("Attention heads to remove")};
  ListOption<int64_t> convolution{*this, "convolution", llvm::cl::desc("Convolution heads to remove")};
};

} // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ConvBERTTest", "1", [] { PassRegistration<RemoveHeadsPass>(); }};
}
