//===- PrintCost.cpp - Parameters and multiply-accumulates as text -*- C++ -*-===//

#include "lib/Analysis/ModelCost.h"
#include "lib/Analysis/Passes.h"
#include "llvm/Support/Format.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_PRINTCOSTPASS
#include "lib/Analysis/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct PrintCost : convbert::impl::PrintCostPassBase<PrintCost> {
  using PrintCostPassBase::PrintCostPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (int64_t size : {batch.getValue(), length.getValue()}) {
      if (size < 1 || size > 65536) {
        getOperation().emitError("requires batch and length from 1 to 65536, but found ") << size;
        return signalPassFailure();
      }
    }
    // Collected first: a message in the middle of a table is hard to read.
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "parameters: " << countParameters(getOperation()) << "\n";
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal() || function.isPrivate())
        continue;
      FailureOr<FunctionCost> cost = computeCost(function, batch, length);
      if (failed(cost))
        return signalPassFailure();
      os << "@" << function.getName() << ", batch " << batch << ", length " << length << ": " << cost->macs << " MACs, "
         << cost->bytes << " bytes\n";
      size_t width = 0, macs = 0;
      for (const auto &[name, op] : cost->byOp) {
        width = std::max(width, name.size());
        macs = std::max(macs, std::to_string(op.macs).size());
      }
      for (const auto &[name, op] : cost->byOp)
        os << "  " << llvm::left_justify(name, width) << " " << llvm::format("%-3lld ", (long long)op.count)
           << llvm::left_justify(std::to_string(op.macs), macs) << " " << op.bytes << "\n";
    }
    llvm::errs() << text;
  }
};

} // namespace
