// RUN: convbert-opt %s --convbert-hoist-parameters --split-input-file | FileCheck %s

// Modules that convbert-fuzz-ir has found, made small.

// A function that loads a parameter itself: the load goes along with what rests on it, through two callers.
ml_program.global private @w(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:    tensor<?x4xf32>, %{{.*}}: tensor<4xf32>)
func.func private @inner(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %s = arith.addf %w, %w : tensor<4xf32>
  %t = arith.mulf %s, %s : tensor<4xf32>
  %y = convbert.scale_heads %x, %t : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @outer(
// CHECK-SAME:    tensor<?x4xf32>, %{{.*}}: tensor<4xf32>)
// CHECK-NOT:     arith
func.func private @outer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = call @inner(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK:         %[[S:.*]] = arith.addf %[[W]], %[[W]]
// CHECK:         %[[T:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK:         call @outer(%{{.*}}, %[[T]])
func.func @forward(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = call @outer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// A constant in the place of a parameter: what was made of it comes along when what rests on that moves on.

// CHECK-LABEL: func.func private @inner(
// CHECK-NOT:     arith
func.func private @inner(%x: tensor<?x4xf32>, %c: tensor<4xf32>) -> tensor<?x4xf32> {
  %s = arith.addf %c, %c : tensor<4xf32>
  %t = arith.mulf %s, %s : tensor<4xf32>
  %y = convbert.scale_heads %x, %t : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @outer(
func.func private @outer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %y = call @inner(%x, %c) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         %[[C:.*]] = arith.constant dense<2.000000e+00>
// CHECK:         %[[S:.*]] = arith.addf %[[C]], %[[C]]
// CHECK:         %[[T:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK:         call @outer(%{{.*}}, %[[T]])
func.func @forward(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = call @outer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
