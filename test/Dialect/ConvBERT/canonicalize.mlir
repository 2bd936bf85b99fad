// RUN: convbert-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @identity_activation(
// CHECK-NEXT:    return %arg0
func.func @identity_activation(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.activation %x {kind = #convbert.activation<identity>} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @other_activation(
// CHECK-NEXT:    %[[Y:.*]] = convbert.activation %arg0 {kind = #convbert.activation<relu>}
// CHECK-NEXT:    return %[[Y]]
func.func @other_activation(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @activation_twice(
// CHECK-NEXT:    %[[Y:.*]] = convbert.activation %arg0 {kind = #convbert.activation<relu>}
// CHECK-NEXT:    %[[Z:.*]] = convbert.activation %[[Y]] {kind = #convbert.activation<relu6>}
// CHECK-NEXT:    return %[[Z]]
func.func @activation_twice(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<?x?x8xf32>
  %1 = convbert.activation %0 {kind = #convbert.activation<relu>} : tensor<?x?x8xf32>
  %2 = convbert.activation %1 {kind = #convbert.activation<relu6>} : tensor<?x?x8xf32>
  %3 = convbert.activation %2 {kind = #convbert.activation<relu6>} : tensor<?x?x8xf32>
  return %3 : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @gelu_twice(
// CHECK-COUNT-2: convbert.activation
func.func @gelu_twice(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x?x8xf32>
  %1 = convbert.activation %0 {kind = #convbert.activation<gelu>} : tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// All operations are free of effects: what nobody uses goes, what is written twice is computed once.
// CHECK-LABEL: func.func @unused(
// CHECK-NEXT:    return
func.func @unused(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %ids: tensor<?x?xi64>, %t: tensor<9x8xf32>,
                  %g: tensor<8xf32>) {
  %e = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.dense %e, %w : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// CHECK-LABEL: func.func @equal(
// CHECK-NEXT:    %[[Y:.*]] = convbert.dense
// CHECK-NEXT:    %[[Z:.*]] = convbert.dense {{.*}} {activation = #convbert.activation<relu>}
// CHECK-NEXT:    return %[[Y]], %[[Y]], %[[Z]]
func.func @equal(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = convbert.dense %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  %b = convbert.dense %x, %w {layout = #convbert.layout<out_in>} : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  %c = convbert.dense %x, %w {activation = #convbert.activation<relu>}
    : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
  return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
