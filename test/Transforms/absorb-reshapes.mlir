// The entry takes and gives what it reshapes behind batch and tokens.
// RUN: convbert-opt %s --convbert-absorb-reshapes --split-input-file | FileCheck %s

// Taps that come as features, heads that go as an axis of their own.
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<?x?x6xf32>, %[[L:[a-z0-9]+]]: tensor<?x?x3x5xf32> {convbert.name = "logits"}) -> (tensor<?x?x6xf32> {convbert.name = "y"})
// CHECK-NOT:     tensor.expand_shape
// CHECK:         %[[Y:.*]] = convbert.apply_kernel %[[U]], %[[L]]
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return %[[Y]] : tensor<?x?x6xf32>
func.func @both(%u: tensor<?x?x6xf32>, %l: tensor<?x?x15xf32> {convbert.name = "logits"}) -> (tensor<?x?x3x2xf32> {convbert.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %l, %c0 : tensor<?x?x15xf32>
  %t = tensor.dim %l, %c1 : tensor<?x?x15xf32>
  %taps = tensor.expand_shape %l [[0], [1], [2, 3]] output_shape [%b, %t, 3, 5] : tensor<?x?x15xf32> into tensor<?x?x3x5xf32>
  %y = convbert.apply_kernel %u, %taps {normalize = #convbert.norm<softmax>, pads = array<i64: 2, 2>} : (tensor<?x?x6xf32>, tensor<?x?x3x5xf32>) -> tensor<?x?x6xf32>
  %heads = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 3, 2] : tensor<?x?x6xf32> into tensor<?x?x3x2xf32>
  return %heads : tensor<?x?x3x2xf32>
}

// -----

// The other way round, twice.
// CHECK-LABEL: func.func @joined(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?x6xf32>) -> tensor<?x?x2x3xf32>
// CHECK:         convbert.add_bias %[[X]]
// CHECK:         convbert.add_bias %[[X]]
// CHECK:         %[[K:.*]] = convbert.dynamic_kernel
// CHECK:         return %[[K]] : tensor<?x?x2x3xf32>
func.func @joined(%x: tensor<?x?x3x2xf32>) -> tensor<?x?x6xf32> {
  %w = arith.constant dense<1.0> : tensor<6x6xf32>
  %b = arith.constant dense<1.0> : tensor<6xf32>
  %flat = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  %again = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  %h = convbert.add_bias %flat, %b : (tensor<?x?x6xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  %g = convbert.add_bias %again, %b : (tensor<?x?x6xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  %s = arith.mulf %h, %g : tensor<?x?x6xf32>
  %k = convbert.dynamic_kernel %s, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>} : (tensor<?x?x6xf32>, tensor<6x6xf32>) -> tensor<?x?x2x3xf32>
  %y = tensor.collapse_shape %k [[0], [1], [2, 3]] : tensor<?x?x2x3xf32> into tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}

// -----

// Also read as it is; in two shapes; batch and tokens joined; features of unknown number.
// CHECK-LABEL: func.func @stay(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<?x?x6xf32>, %{{[a-z0-9]+}}: tensor<?x?x6xf32>, %{{[a-z0-9]+}}: tensor<?x?x6xf32>, %{{[a-z0-9]+}}: tensor<?x?x?xf32>, %{{[a-z0-9]+}}: index)
// CHECK-COUNT-3: tensor.expand_shape
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.expand_shape
func.func @stay(%a: tensor<?x?x6xf32>, %c: tensor<?x?x6xf32>, %d: tensor<?x?x6xf32>, %e: tensor<?x?x?xf32>, %n: index)
    -> (tensor<?x?x3x2xf32>, tensor<?x?x6xf32>, tensor<?x?x6x1xf32>, tensor<?x6xf32>, tensor<?x?x?x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %a, %c0 : tensor<?x?x6xf32>
  %t = tensor.dim %a, %c1 : tensor<?x?x6xf32>
  %a1 = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [%b, %t, 3, 2] : tensor<?x?x6xf32> into tensor<?x?x3x2xf32>
  %s = arith.addf %a1, %a1 : tensor<?x?x3x2xf32>
  %c2 = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [%b, %t, 3, 2] : tensor<?x?x6xf32> into tensor<?x?x3x2xf32>
  %c3 = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [%b, %t, 6, 1] : tensor<?x?x6xf32> into tensor<?x?x6x1xf32>
  %c4 = arith.addf %c3, %c3 : tensor<?x?x6x1xf32>
  %s2 = arith.addf %s, %c2 : tensor<?x?x3x2xf32>
  %rows = tensor.collapse_shape %d [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %e1 = tensor.expand_shape %e [[0], [1], [2, 3]] output_shape [%b, %t, %n, 2] : tensor<?x?x?xf32> into tensor<?x?x?x2xf32>
  return %s2, %a, %c4, %rows, %e1 : tensor<?x?x3x2xf32>, tensor<?x?x6xf32>, tensor<?x?x6x1xf32>, tensor<?x6xf32>, tensor<?x?x?x2xf32>
}

// -----

// Whoever calls a function passes what it takes.
// CHECK-LABEL: func.func private @layer(
// CHECK:         tensor.collapse_shape
func.func private @layer(%x: tensor<?x?x3x2xf32>) -> tensor<?x?x6xf32> {
  %y = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  %z = arith.addf %y, %y : tensor<?x?x6xf32>
  return %z : tensor<?x?x6xf32>
}
