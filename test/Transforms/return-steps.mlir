// What a public function computes is returned; what it returns already, taps before their softmax, and masks are not.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(inline,symbol-dce,convbert-return-steps)' | FileCheck %s
// RUN: convbert-opt %s --pass-pipeline='builtin.module(convbert-return-steps)' | FileCheck %s --check-prefix=APART

// APART-LABEL: func.func private @layer(
// APART-SAME:    -> tensor<?x?x8xf32> {
func.func private @layer(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>, %v: tensor<8x16xf32>) -> tensor<?x?x8xf32> {
  %h = convbert.dense %x, %w {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<16x8xf32>) -> tensor<?x?x16xf32>
  %y = convbert.dense %h, %v : (tensor<?x?x16xf32>, tensor<8x16xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// APART-LABEL: func.func @forward(
// APART-SAME:    -> (tensor<?x8xf32> {convbert.name = "logits"}) {
// CHECK-NOT:   func.func private
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    -> (tensor<?x8xf32> {convbert.name = "logits"}, tensor<?x?x16xf32> {convbert.name = "steps.0"},
// CHECK-SAME:        tensor<?x?x8xf32> {convbert.name = "steps.1"})
// CHECK:         %[[H:.*]] = convbert.dense {{.*}} -> tensor<?x?x16xf32>
// CHECK:         %[[Y:.*]] = convbert.dense %[[H]]
// CHECK:         %[[P:.*]] = convbert.pool
// CHECK:         return %[[P]], %[[H]], %[[Y]]
func.func @forward(%x: tensor<?x?x8xf32>, %w: tensor<16x8xf32>, %v: tensor<8x16xf32>, %m: tensor<?x?xi1>,
                   %f: tensor<6x8xf32>) -> (tensor<?x8xf32> {convbert.name = "logits"}) {
  %y = call @layer(%x, %w, %v) : (tensor<?x?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<?x?x8xf32>
  %b = convbert.attention_bias %m : (tensor<?x?xi1>) -> tensor<?x?xf32>
  %t = convbert.dynamic_kernel %y, %f {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %p = convbert.pool %y {kind = #convbert.pool<first>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}

// What has callers keeps its results.
// APART-LABEL: func.func @called(
// APART-SAME:    -> tensor<?x?x8xf32> {
func.func @called(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x?x8xf32> {
  %h = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = call @called(%h, %w) : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Where there are branches, a step may not have been computed.

// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    -> tensor<?x?x8xf32> {
func.func @branches(%x: tensor<?x?x8xf32>, %first: i1) -> tensor<?x?x8xf32> {
  cf.cond_br %first, ^bb1, ^bb2
^bb1:
  return %x : tensor<?x?x8xf32>
^bb2:
  %y = convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
