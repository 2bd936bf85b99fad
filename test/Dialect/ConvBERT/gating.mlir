// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Gates: the examples of the descriptions.

// CHECK-LABEL: func.func @pool_1(
// CHECK:         convbert.pool
func.func @pool_1(%x: tensor<?x?x768xf32>, %m: tensor<?x?xi1>)
    -> (tensor<?x768xf32>) {
  %y = convbert.pool %x mask(%m) {kind = #convbert.pool<mean>}
    : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// CHECK-LABEL: func.func @scale_channels_0(
// CHECK:         convbert.scale_channels
func.func @scale_channels_0(%x: tensor<?x?x512xf32>, %gate: tensor<?x512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.scale_channels %x, %gate : (tensor<?x?x512xf32>, tensor<?x512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @select_branches_0(
// CHECK:         convbert.select_branches
func.func @select_branches_0(
    %u1: tensor<?x?x512xf32>, %u2: tensor<?x?x512xf32>, %l1: tensor<?x512xf32>, %l2: tensor<?x512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.select_branches %u1, %u2 by(%l1, %l2)
    : (tensor<?x?x512xf32>, tensor<?x?x512xf32>, tensor<?x512xf32>, tensor<?x512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @squeeze_excite_0(
// CHECK:         convbert.squeeze_excite
func.func @squeeze_excite_0(
    %x: tensor<?x?x512xf32>, %w1: tensor<32x512xf32>, %b1: tensor<32xf32>, %w2: tensor<512x32xf32>,
    %b2: tensor<512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.squeeze_excite %x squeeze(%w1, %b1) excite(%w2, %b2) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<32xf32>, tensor<512x32xf32>, tensor<512xf32>)
      -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @squeeze_excite_1(
// CHECK:         convbert.squeeze_excite
func.func @squeeze_excite_1(
    %x: tensor<?x?x512xf32>, %w1: tensor<32x512xf32>, %w2: tensor<512x32xf32>, %m: tensor<?x?xi1>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<hard_sigmoid>}
    : (tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<512x32xf32>, tensor<?x?xi1>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @selective_kernel_0(
// CHECK:         convbert.selective_kernel
func.func @selective_kernel_0(
    %u1: tensor<?x?x512xf32>, %u2: tensor<?x?x512xf32>, %wz: tensor<32x512xf32>, %s: tensor<32xf32>,
    %t: tensor<32xf32>, %a: tensor<2x32x512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.selective_kernel %u1, %u2 squeeze(%wz) scale(%s) shift(%t) select(%a)
    : (tensor<?x?x512xf32>, tensor<?x?x512xf32>, tensor<32x512xf32>, tensor<32xf32>, tensor<32xf32>,
       tensor<2x32x512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}
