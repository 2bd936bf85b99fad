// RUN: convbert-opt %s --canonicalize | FileCheck %s

// One tap of 1 at the token itself.
// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x2xf32>
// CHECK: return %[[X]] : tensor<?x?x2xf32>
func.func @identity(%x: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x2xf32>, tensor<2x3xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @identity_in_out(
// CHECK-NOT: convbert.depthwise_conv1d
// CHECK: return
func.func @identity_in_out(%x: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<[[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 2, 0>, layout = #convbert.layout<in_out>}
    : (tensor<?x?x2xf32>, tensor<3x2xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// A splat is a weight like others.
// CHECK-LABEL: func.func @one_tap(
// CHECK-NOT: convbert.depthwise_conv1d
// CHECK: return
func.func @one_tap(%x: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<1.0> : tensor<2x1xf32>
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>}
    : (tensor<?x?x2xf32>, tensor<2x1xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// The tap lies beside the token: a shift.
// CHECK-LABEL: func.func @shift(
// CHECK: convbert.depthwise_conv1d
func.func @shift(%x: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 2, 0>}
    : (tensor<?x?x2xf32>, tensor<2x3xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// One channel is not copied.
// CHECK-LABEL: func.func @other_channel(
// CHECK: convbert.depthwise_conv1d
func.func @other_channel(%x: tensor<?x?x2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 0.5, 0.0]]> : tensor<2x3xf32>
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x2xf32>, tensor<2x3xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// The weight of a checkpoint is opaque.
// CHECK-LABEL: func.func @opaque(
// CHECK: convbert.depthwise_conv1d
func.func @opaque(%x: tensor<?x?x2xf32>, %w: tensor<2x3xf32>) -> tensor<?x?x2xf32> {
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x2xf32>, tensor<2x3xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}
