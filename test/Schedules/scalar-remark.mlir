// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule)' --verify-diagnostics
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule)' --remarks-filter-missed=convbert-schedule 2>&1 | FileCheck %s
// CHECK: remark: [Missed] scalar | Category:convbert-schedule | Function=norm | Op=linalg.softmax, Reason="schedule @norm.f32 knows no such operation"

// An operation that a sequence does not know stays scalar, and says so.
func.func private @norm(%params: tensor<2x64xf32>, %x: tensor<64xf32>, %m: memref<1xf32>, %init: tensor<1x64xf32>)
    -> (tensor<64xf32>, tensor<1x64xf32>) attributes {convbert.kernel = "norm"} {
  %o = convbert.norm_tile %params (%x) {eps = 1.0e-12 : f64, width = 64 : i64}
    : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // expected-remark @below {{left to scalar loops by schedule @norm.f32}}
  %s = linalg.softmax dimension(1) ins(%init : tensor<1x64xf32>) outs(%init : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %o, %s : tensor<64xf32>, tensor<1x64xf32>
}
