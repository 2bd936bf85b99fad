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

// -----

// Batch, tokens and heads are joined, but two tokens are missing: no zeros around the sequence.
// CHECK-LABEL: func.func @reshaped_unpadded(
// CHECK-NOT:     convbert
func.func @reshaped_unpadded(%p: tensor<2x7x6xf32>, %l: tensor<30x3x1xf32>) -> tensor<30x2x1xf32> {
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, h * 2 + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x6xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(1) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = arith.constant dense<0.0> : tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}

// -----

// Heads that share channels.
// CHECK-LABEL: func.func @reshaped_overlap(
// CHECK-NOT:     convbert
func.func @reshaped_overlap(%u: tensor<2x5x6xf32>, %l: tensor<30x3x1xf32>) -> tensor<30x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x5x6xf32> to tensor<2x7x6xf32>
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, h + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x6xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(1) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = arith.constant dense<0.0> : tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}

// -----

// The head is the batch: no head of its own.
// CHECK-LABEL: func.func @reshaped_twice(
// CHECK-NOT:     convbert
func.func @reshaped_twice(%u: tensor<2x5x4xf32>, %l: tensor<30x3x1xf32>) -> tensor<30x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x5x4xf32> to tensor<2x7x4xf32>
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, b * 2 + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x4xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(1) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = arith.constant dense<0.0> : tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}

// -----

// The softmax is over an axis of one number.
// CHECK-LABEL: func.func @reshaped_feature_softmax(
// CHECK-NOT:     convbert
func.func @reshaped_feature_softmax(%u: tensor<2x5x6xf32>, %l: tensor<30x3x1xf32>) -> tensor<30x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x5x6xf32> to tensor<2x7x6xf32>
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, h * 2 + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x6xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(2) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = arith.constant dense<0.0> : tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}

// -----

// Products are added to something.
// CHECK-LABEL: func.func @reshaped_accumulates(
// CHECK-NOT:     convbert
func.func @reshaped_accumulates(%u: tensor<2x5x6xf32>, %l: tensor<30x3x1xf32>, %z0: tensor<30x2x1xf32>) -> tensor<30x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x5x6xf32> to tensor<2x7x6xf32>
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, h * 2 + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x6xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(1) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = tensor.cast %z0 : tensor<30x2x1xf32> to tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}
