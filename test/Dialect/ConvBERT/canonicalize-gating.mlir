// RUN: convbert-opt %s --canonicalize | FileCheck %s

// Gates, on both sides of the guards of their rewrites.

// Without weights behind the squeeze the gate is that of the bias: 1/2, and 3/4 for ln 3.
// CHECK-LABEL: func.func @constant_gate(
// CHECK-DAG:     %[[HALF:.*]] = arith.constant dense<5.0{{0*}}e-01> : tensor<2xf64>
// CHECK-DAG:     %[[BIAS:.*]] = arith.constant dense<[5.0{{0*}}e-01, 7.5{{0*}}e-01]> : tensor<2xf64>
// CHECK-DAG:     %[[HARD:.*]] = arith.constant dense<[7.5{{0*}}e-01, 0.0{{0*}}e+00]> : tensor<2xf64>
// CHECK:         %[[A:.*]] = convbert.scale_heads %arg0, %[[HALF]]
// CHECK:         %[[B:.*]] = convbert.scale_heads %[[A]], %[[BIAS]]
// CHECK:         convbert.scale_heads %[[B]], %[[HARD]]
// CHECK-NOT:     squeeze
func.func @constant_gate(%x: tensor<?x?x2xf64>, %w1: tensor<3x2xf64>, %b1: tensor<3xf64>, %m: tensor<?x?xi1>)
    -> tensor<?x?x2xf64> {
  %w2 = arith.constant dense<0.0> : tensor<2x3xf64>
  %b2 = arith.constant dense<[0.0, 1.0986122886681098]> : tensor<2xf64>
  %hard = arith.constant dense<[1.5, -4.0]> : tensor<2xf64>
  %0 = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x2xf64>, tensor<3x2xf64>, tensor<2x3xf64>, tensor<?x?xi1>) -> tensor<?x?x2xf64>
  %1 = convbert.squeeze_excite %0 squeeze(%w1, %b1) excite(%w2, %b2) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x2xf64>, tensor<3x2xf64>, tensor<3xf64>, tensor<2x3xf64>, tensor<2xf64>) -> tensor<?x?x2xf64>
  %2 = convbert.squeeze_excite %1 squeeze(%w1) excite(%w2, %hard) {gate = #convbert.activation<hard_sigmoid>}
    : (tensor<?x?x2xf64>, tensor<3x2xf64>, tensor<2x3xf64>, tensor<2xf64>) -> tensor<?x?x2xf64>
  return %2 : tensor<?x?x2xf64>
}

// Weights that are not zero, or nobody knows, and a bias that is a parameter.
// CHECK-LABEL: func.func @gates_that_stay(
// CHECK-COUNT-3: convbert.squeeze_excite
func.func @gates_that_stay(%x: tensor<?x?x2xf32>, %w1: tensor<1x2xf32>, %w2: tensor<2x1xf32>, %b: tensor<2xf32>)
    -> tensor<?x?x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x1xf32>
  %one = arith.constant dense<[[0.0], [1.0]]> : tensor<2x1xf32>
  %0 = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x2xf32>, tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.squeeze_excite %0 squeeze(%w1) excite(%one) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x2xf32>, tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<?x?x2xf32>
  %2 = convbert.squeeze_excite %1 squeeze(%w1) excite(%zero, %b) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x2xf32>, tensor<1x2xf32>, tensor<2x1xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %2 : tensor<?x?x2xf32>
}

// One branch, or branches that are one value, whatever their weights.
// CHECK-LABEL: func.func @one_branch(
// CHECK-NOT:     convbert
// CHECK:         return %arg0, %arg0, %arg0
func.func @one_branch(%u: tensor<?x?x2xf32>, %l: tensor<?x2xf32>, %k: tensor<?x2xf32>, %wz: tensor<3x2xf32>,
                      %a: tensor<1x3x2xf32>, %b: tensor<3x3x2xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %0 = convbert.selective_kernel %u squeeze(%wz) select(%a)
    : (tensor<?x?x2xf32>, tensor<3x2xf32>, tensor<1x3x2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.selective_kernel %u, %u, %u squeeze(%wz) select(%b)
    : (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<3x2xf32>, tensor<3x3x2xf32>) -> tensor<?x?x2xf32>
  %2 = convbert.select_branches %u, %u by(%l, %k)
    : (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?x2xf32>
  return %0, %1, %2 : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @two_branches(
// CHECK:         convbert.selective_kernel %arg0, %arg0, %arg1
// CHECK:         convbert.select_branches %arg0, %arg1
func.func @two_branches(%u: tensor<?x?x2xf32>, %v: tensor<?x?x2xf32>, %l: tensor<?x2xf32>, %wz: tensor<3x2xf32>,
                        %a: tensor<3x3x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %0 = convbert.selective_kernel %u, %u, %v squeeze(%wz) select(%a)
    : (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<3x2xf32>, tensor<3x3x2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.select_branches %u, %v by(%l, %l)
    : (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?x2xf32>
  return %0, %1 : tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// A constant gate joins the layer before it, in either orientation; heads may be wider than a feature.
// CHECK-LABEL: func.func @scaled_layer(
// CHECK-DAG:     %[[W:.*]] = arith.constant dense<{{\[}}[2.0{{0*}}e+00, 4.0{{0*}}e+00], [9.0{{0*}}e+00, 1.2{{0*}}e+01]]> : tensor<2x2xf32>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<[1.0{{0*}}e+01, 1.8{{0*}}e+01]> : tensor<2xf32>
// CHECK-DAG:     %[[V:.*]] = arith.constant dense<{{\[}}[2.0{{0*}}e+00, 6.0{{0*}}e+00], [6.0{{0*}}e+00, 1.2{{0*}}e+01]]> : tensor<2x2xf32>
// CHECK:         %[[Y:.*]] = convbert.dense %arg0, %[[W]], %[[B]] :
// CHECK-NEXT:    %[[Z:.*]] = convbert.dense %[[Y]], %[[V]] {layout = #convbert.layout<in_out>}
// CHECK-NEXT:    return %[[Y]], %[[Z]]
func.func @scaled_layer(%x: tensor<?x?x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %s = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = convbert.dense %x, %w, %b : (tensor<?x?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.scale_heads %0, %s : (tensor<?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %2 = convbert.dense %1, %w {layout = #convbert.layout<in_out>} : (tensor<?x?x2xf32>, tensor<2x2xf32>) -> tensor<?x?x2xf32>
  %3 = convbert.scale_heads %2, %s : (tensor<?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %1, %3 : tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// Parameters, layers with an epilogue and layers that others read stay.
// CHECK-LABEL: func.func @layers_that_stay(
// CHECK-COUNT-3: convbert.scale_heads
func.func @layers_that_stay(%x: tensor<?x?x2xf32>, %p: tensor<2x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = arith.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = convbert.dense %x, %p : (tensor<?x?x2xf32>, tensor<2x2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.scale_heads %0, %s : (tensor<?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %2 = convbert.dense %1, %w {activation = #convbert.activation<gelu>} : (tensor<?x?x2xf32>, tensor<2x2xf32>) -> tensor<?x?x2xf32>
  %3 = convbert.scale_heads %2, %s : (tensor<?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %4 = convbert.dense %3, %w : (tensor<?x?x2xf32>, tensor<2x2xf32>) -> tensor<?x?x2xf32>
  %5 = convbert.scale_heads %4, %s : (tensor<?x?x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %4, %5 : tensor<?x?x2xf32>, tensor<?x?x2xf32>
}
