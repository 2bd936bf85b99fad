// RUN: convbert-opt %s --canonicalize | FileCheck %s

// Convolutions that are simpler ones, on both sides of each condition.

// CHECK-LABEL: func.func @one_tap(
// CHECK:         %[[W:.*]] = tensor.collapse_shape %arg1 {{\[}}[0], [1, 2]] : tensor<5x8x1xf32> into tensor<5x8xf32>
// CHECK:         convbert.dense %arg0, %[[W]], %arg2 : (tensor<?x?x8xf32>, tensor<5x8xf32>, tensor<5xf32>)
// CHECK:         %[[V:.*]] = tensor.collapse_shape %arg3 {{\[}}[0, 1], [2]] : tensor<1x8x5xf32> into tensor<8x5xf32>
// CHECK:         convbert.dense %arg0, %[[V]] {layout = #convbert.layout<in_out>}
// CHECK-NOT:     convbert.conv1d
func.func @one_tap(%x: tensor<?x?x8xf32>, %w: tensor<5x8x1xf32>, %b: tensor<5xf32>, %v: tensor<1x8x5xf32>)
    -> (tensor<?x?x5xf32>, tensor<?x?x5xf32>) {
  %0 = convbert.conv1d %x, %w, %b {pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<5x8x1xf32>, tensor<5xf32>) -> tensor<?x?x5xf32>
  %1 = convbert.conv1d %x, %v {dilation = 7 : i64, layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<1x8x5xf32>) -> tensor<?x?x5xf32>
  return %0, %1 : tensor<?x?x5xf32>, tensor<?x?x5xf32>
}

// A stride, a pad, groups of several features, weights of each sequence.
// CHECK-LABEL: func.func @no_dense_layer(
// CHECK-COUNT-4: convbert.conv1d
func.func @no_dense_layer(%x: tensor<?x?x8xf32>, %w: tensor<4x8x1xf32>, %g: tensor<4x4x1xf32>,
    %s: tensor<?x4x8x1xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
  %0 = convbert.conv1d %x, %w {pads = array<i64: 0, 0>, stride = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<4x8x1xf32>) -> tensor<?x?x4xf32>
  %1 = convbert.conv1d %x, %w {pads = array<i64: 1, 0>} : (tensor<?x?x8xf32>, tensor<4x8x1xf32>) -> tensor<?x?x4xf32>
  %2 = convbert.conv1d %x, %g {groups = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<4x4x1xf32>) -> tensor<?x?x4xf32>
  %3 = convbert.conv1d %x, %s {pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<?x4x8x1xf32>) -> tensor<?x?x4xf32>
  return %0, %1, %2, %3 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
}

// One input feature a group: window and order of the output channels stay.
// CHECK-LABEL: func.func @depthwise(
// CHECK:         %[[W:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1], [2]] : tensor<16x1x3xf32> into tensor<16x3xf32>
// CHECK:         convbert.depthwise_conv1d %arg0, %[[W]], %arg2 {dilation = 2 : i64, pads = array<i64: 1, 1>, stride = 3 : i64}
func.func @depthwise(%x: tensor<?x?x8xf32>, %w: tensor<16x1x3xf32>, %b: tensor<16xf32>) -> tensor<?x?x16xf32> {
  %y = convbert.conv1d %x, %w, %b {dilation = 2 : i64, groups = 8 : i64, pads = array<i64: 1, 1>, stride = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<16x1x3xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}

// CHECK-LABEL: func.func @no_depthwise(
// CHECK-COUNT-2: convbert.conv1d
func.func @no_depthwise(%x: tensor<?x?x8xf32>, %w: tensor<8x2x3xf32>, %s: tensor<?x8x1x3xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.conv1d %x, %w {groups = 4 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x2x3xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.conv1d %x, %s {groups = 8 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<?x8x1x3xf32>) -> tensor<?x?x8xf32>
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// Feature 0 has taps 1, 2, 4 and outputs 1, 0.5; feature 1 is zero; feature 2 has taps 0, -3, 0 and outputs 0, 1.
// CHECK-LABEL: func.func @separable(
// CHECK-DAG:     %[[D:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 2.000000e+00, 4.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, -3.000000e+00, 0.000000e+00]]> : tensor<3x3xf32>
// CHECK-DAG:     %[[P:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 0.000000e+00, 0.000000e+00], [5.000000e-01, 0.000000e+00, 1.000000e+00]]> : tensor<2x3xf32>
// CHECK:         convbert.separable_conv1d %arg0, %[[D]], %[[P]], %arg1 {dilation = 2 : i64, pads = array<i64: 4, 0>}
func.func @separable(%x: tensor<?x?x3xf32>, %b: tensor<2xf32>) -> tensor<?x?x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
                             [[0.5, 1.0, 2.0], [0.0, 0.0, 0.0], [0.0, -3.0, 0.0]]]> : tensor<2x3x3xf32>
  %y = convbert.conv1d %x, %w, %b {dilation = 2 : i64, pads = array<i64: 4, 0>}
    : (tensor<?x?x3xf32>, tensor<2x3x3xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @separable_in_out(
// CHECK-DAG:     %[[D:.*]] = arith.constant dense<{{\[}}[3.000000e+00], [6.000000e+00]]> : tensor<2x1xf64>
// CHECK-DAG:     %[[P:.*]] = arith.constant dense<{{\[}}[0.33333333333333331, 1.000000e+00]]> : tensor<1x2xf64>
// CHECK:         convbert.separable_conv1d %arg0, %[[D]], %[[P]] {layout = #convbert.layout<in_out>, pads = array<i64: 0, 1>}
func.func @separable_in_out(%x: tensor<?x?x1xf64>) -> tensor<?x?x2xf64> {
  %w = arith.constant dense<[[[1.0, 3.0]], [[2.0, 6.0]]]> : tensor<2x1x2xf64>
  %y = convbert.conv1d %x, %w {layout = #convbert.layout<in_out>, pads = array<i64: 0, 1>}
    : (tensor<?x?x1xf64>, tensor<2x1x2xf64>) -> tensor<?x?x2xf64>
  return %y : tensor<?x?x2xf64>
}

// Of rank two in one feature; fewer tokens than before; a stride; one output; an opaque weight; a number that is none.
// CHECK-LABEL: func.func @not_separable(
// CHECK-COUNT-6: convbert.conv1d
func.func @not_separable(%x: tensor<?x?x1xf32>, %opaque: tensor<2x1x2xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x2xf32>,
        tensor<?x?x2xf32>) {
  %rank2 = arith.constant dense<[[[1.0, 2.0]], [[0.5, 1.0001]]]> : tensor<2x1x2xf32>
  %rank1 = arith.constant dense<[[[1.0, 2.0]], [[0.5, 1.0]]]> : tensor<2x1x2xf32>
  %row = arith.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %infinite = arith.constant dense<0x7F800000> : tensor<2x1x2xf32>
  %0 = convbert.conv1d %x, %rank2 {pads = array<i64: 0, 1>} : (tensor<?x?x1xf32>, tensor<2x1x2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.conv1d %x, %rank1 {pads = array<i64: 0, 0>} : (tensor<?x?x1xf32>, tensor<2x1x2xf32>) -> tensor<?x?x2xf32>
  %2 = convbert.conv1d %x, %rank1 {pads = array<i64: 0, 1>, stride = 2 : i64}
    : (tensor<?x?x1xf32>, tensor<2x1x2xf32>) -> tensor<?x?x2xf32>
  %3 = convbert.conv1d %x, %row {pads = array<i64: 0, 1>} : (tensor<?x?x1xf32>, tensor<1x1x2xf32>) -> tensor<?x?x1xf32>
  %4 = convbert.conv1d %x, %opaque {pads = array<i64: 0, 1>} : (tensor<?x?x1xf32>, tensor<2x1x2xf32>) -> tensor<?x?x2xf32>
  %5 = convbert.conv1d %x, %infinite {pads = array<i64: 0, 1>}
    : (tensor<?x?x1xf32>, tensor<2x1x2xf32>) -> tensor<?x?x2xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x1xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// A weight of two filters, or a bias, is no copy, though its filter is one tap at the token itself.
// CHECK-LABEL: func.func @no_identity(
// CHECK-COUNT-4: convbert.depthwise_conv1d
func.func @no_identity(%x: tensor<?x?x1xf32>, %b: tensor<1xf32>)
    -> (tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>) {
  %two = arith.constant dense<1.0> : tensor<2x1xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %0 = convbert.depthwise_conv1d %x, %two {pads = array<i64: 0, 0>}
    : (tensor<?x?x1xf32>, tensor<2x1xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.depthwise_conv1d %x, %one, %b {pads = array<i64: 0, 0>}
    : (tensor<?x?x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> tensor<?x?x1xf32>
  %2 = convbert.depthwise_conv1d %x, %one {pads = array<i64: 0, 0>, stride = 2 : i64}
    : (tensor<?x?x1xf32>, tensor<1x1xf32>) -> tensor<?x?x1xf32>
  %3 = convbert.depthwise_conv1d %x, %one {pads = array<i64: 0, 1>}
    : (tensor<?x?x1xf32>, tensor<1x1xf32>) -> tensor<?x?x1xf32>
  return %0, %1, %2, %3 : tensor<?x?x2xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>, tensor<?x?x1xf32>
}

// The tap at the token itself is found where taps lie apart.
// CHECK-LABEL: func.func @dilated_identity(
// CHECK-NOT:     convbert.depthwise_conv1d
func.func @dilated_identity(%x: tensor<?x?x1xf32>) -> tensor<?x?x1xf32> {
  %w = arith.constant dense<[[0.0, 1.0, 0.0]]> : tensor<1x3xf32>
  %y = convbert.depthwise_conv1d %x, %w {dilation = 3 : i64, pads = array<i64: 3, 3>}
    : (tensor<?x?x1xf32>, tensor<1x3xf32>) -> tensor<?x?x1xf32>
  return %y : tensor<?x?x1xf32>
}
