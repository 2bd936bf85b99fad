// RUN: convbert-opt %s --convbert-raise --split-input-file | FileCheck %s
// What only looks like a convolution stays as it is.

// The padding is not zero.
// CHECK-LABEL: func.func @ones(
// CHECK:         tensor.pad
// CHECK:         convbert.depthwise_conv1d {{.*}} pads = array<i64: 0, 0>
func.func @ones(%x: tensor<2x9x8xf32>, %w: tensor<5x8xf32>) -> tensor<2x9x8xf32> {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 2, 0] high[0, 2, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %one : f32
  } : tensor<2x9x8xf32> to tensor<2x13x8xf32>
  %fill = arith.constant dense<0.0> : tensor<2x9x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%p, %w : tensor<2x13x8xf32>, tensor<5x8xf32>) outs(%fill : tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  return %y : tensor<2x9x8xf32>
}

// -----

// Products are added to something.
// CHECK-LABEL: func.func @accumulates(
// CHECK-NOT:     convbert
func.func @accumulates(%x: tensor<2x13x8xf32>, %w: tensor<5x8xf32>, %a: tensor<2x9x8xf32>) -> tensor<2x9x8xf32> {
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<2x13x8xf32>, tensor<5x8xf32>) outs(%a : tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  return %y : tensor<2x9x8xf32>
}

// -----

// Fewer tokens than windows fit.
// CHECK-LABEL: func.func @fewer(
// CHECK-NOT:     convbert
func.func @fewer(%x: tensor<2x15x8xf32>, %w: tensor<5x8xf32>) -> tensor<2x9x8xf32> {
  %a = arith.constant dense<0.0> : tensor<2x9x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<2x15x8xf32>, tensor<5x8xf32>) outs(%a : tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  return %y : tensor<2x9x8xf32>
}

// -----

// It may be fewer.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT:     convbert
func.func @unknown(%x: tensor<2x?x8xf32>, %w: tensor<5x8xf32>, %t: index) -> tensor<2x?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%t) : tensor<2x?x8xf32>
  %a = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<2x?x8xf32>, tensor<5x8xf32>) outs(%a : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}
