// Convolutions of any batch and length: the result must have as many tokens as windows fit.
// RUN: convbert-opt %s --convbert-raise --canonicalize --split-input-file | FileCheck %s

// Channels in front of tokens between two layers that have them behind, as a convolution of PyTorch in a model of
// tokens: nothing is turned.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT:     linalg.transpose
// CHECK:         convbert.conv1d %{{.*}}, %{{.*}} {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<4x8x3xf32>) -> tensor<?x?x4xf32>
// CHECK-NOT:     linalg.transpose
func.func @turned(%x: tensor<?x?x8xf32>, %w: tensor<4x8x3xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e0 = tensor.empty(%b, %t) : tensor<?x8x?xf32>
  %c = linalg.transpose ins(%x : tensor<?x?x8xf32>) outs(%e0 : tensor<?x8x?xf32>) permutation = [0, 2, 1]
  %p = tensor.pad %c low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<?x8x?xf32> to tensor<?x8x?xf32>
  %e1 = tensor.empty(%b, %t) : tensor<?x4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %w : tensor<?x8x?xf32>, tensor<4x8x3xf32>) outs(%f : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %e2 = tensor.empty(%b, %t) : tensor<?x?x4xf32>
  %r = linalg.transpose ins(%y : tensor<?x4x?xf32>) outs(%e2 : tensor<?x?x4xf32>) permutation = [0, 2, 1]
  return %r : tensor<?x?x4xf32>
}

// -----

// Two tokens fewer than the padded sequence has.
// CHECK-LABEL: func.func @computed(
// CHECK:         convbert.depthwise_conv1d {{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 1, 0>}
func.func @computed(%x: tensor<?x?x8xf32>, %w: tensor<3x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %p = tensor.pad %x low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<?x?x8xf32> to tensor<?x?x8xf32>
  %all = tensor.dim %p, %c1 : tensor<?x?x8xf32>
  %t = arith.subi %all, %c2 : index
  %e = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%p, %w : tensor<?x?x8xf32>, tensor<3x8xf32>) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Every other window.
// CHECK-LABEL: func.func @strided(
// CHECK:         convbert.conv1d {{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>, stride = 2 : i64}
func.func @strided(%x: tensor<?x?x8xf32>, %w: tensor<3x8x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %p = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<?x?x8xf32> to tensor<?x?x8xf32>
  %half = affine.apply affine_map<(t) -> ((t - 1) floordiv 2 + 1)>(%t)
  %e = tensor.empty(%b, %half) : tensor<?x?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %y = linalg.conv_1d_nwc_wcf {strides = dense<2> : tensor<1xi64>} ins(%p, %w : tensor<?x?x8xf32>, tensor<3x8x4xf32>) outs(%f : tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// One token fewer than fit.
// CHECK-LABEL: func.func @fewer(
// CHECK-NOT:     convbert
func.func @fewer(%x: tensor<?x?x8xf32>, %w: tensor<3x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %all = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %t = arith.subi %all, %c3 : index
  %e = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<?x?x8xf32>, tensor<3x8xf32>) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
