"""The skeletons that new.py fills in.  $name and $Name are the name as typed and in CamelCase."""

from string import Template

OP = Template(
    '''\
def ConvBERT_${Name}Op : ConvBERT_Op<"$name", [SameOperandsAndResultType]> {
  let summary = "TODO: one line";
  let description = [{
    TODO: the formula, with shapes.

    ```mlir
    %y = convbert.$name %x : tensor<?x?x768xf32>
    ```
  }];
  let arguments = (ins ConvBERT_Activation:$$x);
  let results = (outs ConvBERT_Activation:$$result);
  let assemblyFormat = "$$x attr-dict `:` type($$x)";
  // $NAME-C1 is the trait; TODO: labels of verify() stand in its code.
}
'''
)

OP_SPEC = Template(
    """\
## convbert.$name

`y = x`. TODO: the formula, exactly; what it folds to. Why it exists and who consumes it goes into `Rationale.md`.

* **$NAME-C1** Operand and result have the same type. TODO: one numbered constraint a line.
"""
)

OP_ROUND_TRIP = Template(
    """\
// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @$name
// CHECK: convbert.$name %{{.*}} : tensor<?x?x768xf32>
func.func @$name(%x: tensor<?x?x768xf32>) -> tensor<?x?x768xf32> {
  %y = convbert.$name %x : tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}
"""
)

OP_INVALID = Template(
    """\
// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// $NAME-C1
func.func @types_differ(%x: tensor<?x?x768xf32>) -> tensor<?x?x384xf32> {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "convbert.$name"(%x) : (tensor<?x?x768xf32>) -> tensor<?x?x384xf32>
  return %y : tensor<?x?x384xf32>
}
"""
)

OP_CANONICALIZE = Template(
    """\
// RUN: convbert-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @unused
// CHECK-NOT: convbert.$name
// CHECK: return
func.func @unused(%x: tensor<?x?x768xf32>) {
  %y = convbert.$name %x : tensor<?x?x768xf32>
  return
}
"""
)

PASS = Template(
    '''\
def ${Name}Pass : Pass<"convbert-$name"> {
  let summary = "TODO: one line";
  let description = [{
    TODO: what is replaced by what, when, and why there.

    ```mlir
    // before
    %y = convbert.dense %x, %w, %b : ...
    // after
    %y = convbert.dense %x, %w, %b : ...
    ```
  }];
}
'''
)

PASS_SOURCE = Template(
    """\
$file_line

#include "lib/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_${NAME}PASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

namespace {

struct ${Name}Pattern : OpRewritePattern<DenseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DenseOp op, PatternRewriter &rewriter) const override {
    return rewriter.notifyMatchFailure(op, "TODO: the reason");
  }
};

struct ${Name}Pass : convbert::impl::${Name}PassBase<${Name}Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<${Name}Pattern>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
"""
)

PASS_TEST = Template(
    """\
// RUN: convbert-opt %s --convbert-$name | FileCheck %s

// TODO: what changes, and a case that must not.
// CHECK-LABEL: func.func @dense
// CHECK: convbert.dense
func.func @dense(%x: tensor<?x?x4xf32>, %w: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.dense %x, %w, %b : (tensor<?x?x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
"""
)
