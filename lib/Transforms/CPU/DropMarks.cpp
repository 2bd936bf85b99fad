//===- DropMarks.cpp - Remove the attributes that mark kernels ------------===//

#include "lib/Transforms/CPU/Kernel.h"
#include "lib/Transforms/CPU/Passes.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_DROPMARKS
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {
struct DropMarks : convbert::impl::DropMarksBase<DropMarks> {
  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      function->removeAttr(kKernelAttr);
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
        for (StringRef mark : {kThreadsAttr, kScratchAttr, kThreadAttr, kMostAttr})
          function.removeArgAttr(i, mark);
    }
  }
};
} // namespace
