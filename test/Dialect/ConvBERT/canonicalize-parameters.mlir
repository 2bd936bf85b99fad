// RUN: convbert-opt %s --canonicalize | FileCheck %s

// What moves into the weights of a layer, on both sides of each condition.

// CHECK-LABEL: func.func @norm_of_dense(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x8xf32>, %[[W:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4xf32>, %[[M:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4xf32>
// CHECK:         %[[EPS:.*]] = arith.constant dense<1.000000e-03> : tensor<4xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[V]], %[[EPS]]
// CHECK:         %[[ROOT:.*]] = math.sqrt %[[SUM]]
// CHECK:         %[[SCALE:.*]] = arith.divf %[[G]], %[[ROOT]]
// CHECK:         %[[MEAN:.*]] = arith.mulf %[[M]], %[[SCALE]]
// CHECK:         %[[SHIFT:.*]] = arith.subf %[[S]], %[[MEAN]]
// CHECK:         %[[SB:.*]] = arith.mulf %[[B]], %[[SCALE]]
// CHECK:         %[[BIAS:.*]] = arith.addf %[[SB]], %[[SHIFT]]
// CHECK:         %[[ROWS:.*]] = linalg.broadcast ins(%[[SCALE]] : tensor<4xf32>) outs(%{{.*}} : tensor<4x8xf32>) dimensions = [1]
// CHECK:         %[[WEIGHT:.*]] = arith.mulf %[[W]], %[[ROWS]]
// CHECK:         %[[Y:.*]] = convbert.dense %[[X]], %[[WEIGHT]], %[[BIAS]]
// CHECK:         return %[[Y]]
func.func @norm_of_dense(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>,
    %v: tensor<4xf32>, %g: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %0 = convbert.dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %y = convbert.batch_norm %0, %m, %v, %g, %s {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// Each layer keeps its window; a layer without a bias gets the shift as one.
// CHECK-LABEL: func.func @norm_of_convolutions(
// CHECK:         linalg.broadcast {{.*}} outs(%{{.*}} : tensor<4x8x3xf64>) dimensions = [1, 2]
// CHECK:         convbert.conv1d %arg0, %{{.*}}, %{{.*}} {pads = array<i64: 1, 1>, stride = 2 : i64}
// CHECK:         linalg.broadcast {{.*}} outs(%{{.*}} : tensor<3x4x4xf64>) dimensions = [0, 1]
// CHECK:         convbert.conv1d %{{.*}}, %{{.*}}, %{{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 2, 0>}
// CHECK:         linalg.broadcast {{.*}} outs(%{{.*}} : tensor<4x3xf64>) dimensions = [1]
// CHECK:         convbert.depthwise_conv1d %{{.*}}, %{{.*}}, %{{.*}} {dilation = 2 : i64, pads = array<i64: 2, 2>}
// CHECK:         linalg.broadcast {{.*}} outs(%{{.*}} : tensor<4x4xf64>) dimensions = [1]
// CHECK:         convbert.separable_conv1d %{{.*}}, %arg3, %{{.*}}, %{{.*}} {pads = array<i64: 1, 1>}
// CHECK-NOT:     convbert.batch_norm
func.func @norm_of_convolutions(%x: tensor<?x?x8xf64>, %w: tensor<4x8x3xf64>, %u: tensor<3x4x4xf64>,
    %d: tensor<4x3xf64>, %p: tensor<4x4xf64>, %v: tensor<4xf64>) -> tensor<?x?x4xf64> {
  %0 = convbert.conv1d %x, %w {pads = array<i64: 1, 1>, stride = 2 : i64}
    : (tensor<?x?x8xf64>, tensor<4x8x3xf64>) -> tensor<?x?x4xf64>
  %1 = convbert.batch_norm %0, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<?x?x4xf64>
  %2 = convbert.conv1d %1, %u {layout = #convbert.layout<in_out>, pads = array<i64: 2, 0>}
    : (tensor<?x?x4xf64>, tensor<3x4x4xf64>) -> tensor<?x?x4xf64>
  %3 = convbert.batch_norm %2, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<?x?x4xf64>
  %4 = convbert.depthwise_conv1d %3, %d {dilation = 2 : i64, pads = array<i64: 2, 2>}
    : (tensor<?x?x4xf64>, tensor<4x3xf64>) -> tensor<?x?x4xf64>
  %5 = convbert.batch_norm %4, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<?x?x4xf64>
  %6 = convbert.separable_conv1d %5, %d, %p {pads = array<i64: 1, 1>}
    : (tensor<?x?x4xf64>, tensor<4x3xf64>, tensor<4x4xf64>) -> tensor<?x?x4xf64>
  %7 = convbert.batch_norm %6, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<?x?x4xf64>
  return %7 : tensor<?x?x4xf64>
}

// An epilogue between, another user, weights of each sequence, elements of f16, no layer at all.
// CHECK-LABEL: func.func @norms_that_stay(
// CHECK-COUNT-5: convbert.batch_norm
func.func @norms_that_stay(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4xf32>, %s: tensor<?x4x4x1xf32>,
    %h: tensor<?x?x4xf16>, %wh: tensor<4x4xf16>, %vh: tensor<4xf16>)
    -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf16>,
        tensor<?x?x4xf32>) {
  %0 = convbert.dense %x, %w {activation = #convbert.activation<relu>}
    : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
  %1 = convbert.batch_norm %0, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %2 = convbert.dense %x, %w : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
  %3 = convbert.batch_norm %2, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %4 = convbert.conv1d %x, %s {pads = array<i64: 0, 0>} : (tensor<?x?x4xf32>, tensor<?x4x4x1xf32>) -> tensor<?x?x4xf32>
  %5 = convbert.batch_norm %4, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %6 = convbert.dense %h, %wh : (tensor<?x?x4xf16>, tensor<4x4xf16>) -> tensor<?x?x4xf16>
  %7 = convbert.batch_norm %6, %vh, %vh, %vh, %vh {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<?x?x4xf16>
  %8 = convbert.batch_norm %x, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %1, %2, %3, %5, %7, %8 : tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>,
    tensor<?x?x4xf16>, tensor<?x?x4xf32>
}

// [1 2] of [[1 0] [0 3]], biases [5] and [7 1]: [1 6], 5 + 7 + 2.  The second layer keeps its activation.
// CHECK-LABEL: func.func @dense_of_dense(
// CHECK-DAG:     %[[W:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 6.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<1.400000e+01> : tensor<1xf32>
// CHECK:         %[[Y:.*]] = convbert.dense %arg0, %[[W]], %[[B]] {activation = #convbert.activation<relu>}
// CHECK:         return %[[Y]]
func.func @dense_of_dense(%x: tensor<?x?x2xf32>) -> tensor<?x?x1xf32> {
  %w1 = arith.constant dense<[[1.0, 0.0], [0.0, 3.0]]> : tensor<2x2xf32>
  %b1 = arith.constant dense<[7.0, 1.0]> : tensor<2xf32>
  %w2 = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b2 = arith.constant dense<[5.0]> : tensor<1xf32>
  %0 = convbert.dense %x, %w1, %b1 : (tensor<?x?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %1 = convbert.dense %0, %w2, %b2 {activation = #convbert.activation<relu>}
    : (tensor<?x?x2xf32>, tensor<1x2xf32>, tensor<1xf32>) -> tensor<?x?x1xf32>
  return %1 : tensor<?x?x1xf32>
}

// The result has the layout of the second layer: [[1 2] [3 4]] is in_out, so y = x W1^T W2 = x [[1 2] [6 8]].
// CHECK-LABEL: func.func @layouts(
// CHECK:         %[[W:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [6.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK:         convbert.dense %arg0, %[[W]] {layout = #convbert.layout<in_out>}
func.func @layouts(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w1 = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %w2 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = convbert.dense %x, %w1 : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %1 = convbert.dense %0, %w2 {layout = #convbert.layout<in_out>} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// An activation between, another user, an opaque weight, a bottleneck, which multiplies less as it is; a product that
// f16 does not hold.
// CHECK-LABEL: func.func @layers_that_stay(
// CHECK-COUNT-10: convbert.dense
func.func @layers_that_stay(%x: tensor<?x4xf32>, %opaque: tensor<4x4xf32>, %h: tensor<?x1xf16>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf16>) {
  %w = arith.constant dense<2.0> : tensor<4x4xf32>
  %down = arith.constant dense<2.0> : tensor<1x4xf32>
  %up = arith.constant dense<2.0> : tensor<4x1xf32>
  %large = arith.constant dense<300.0> : tensor<1x1xf16>
  %0 = convbert.dense %x, %w {activation = #convbert.activation<relu>} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = convbert.dense %0, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = convbert.dense %x, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %3 = convbert.dense %2, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %4 = convbert.dense %x, %opaque : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %5 = convbert.dense %4, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %6 = convbert.dense %x, %down : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x1xf32>
  %7 = convbert.dense %6, %up : (tensor<?x1xf32>, tensor<4x1xf32>) -> tensor<?x4xf32>
  %8 = convbert.dense %h, %large : (tensor<?x1xf16>, tensor<1x1xf16>) -> tensor<?x1xf16>
  %9 = convbert.dense %8, %large : (tensor<?x1xf16>, tensor<1x1xf16>) -> tensor<?x1xf16>
  return %1, %2, %3, %5, %7, %9 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
    tensor<?x1xf16>
}

// CHECK-LABEL: func.func @one_kernel(
// CHECK:         %[[W:.*]] = tensor.collapse_shape %arg3 {{\[}}[0, 1], [2], [3]] : tensor<1x5x8x3xf32> into tensor<5x8x3xf32>
// CHECK:         %[[B:.*]] = tensor.collapse_shape %arg4 {{\[}}[0, 1]] : tensor<1x5xf32> into tensor<5xf32>
// CHECK:         convbert.conv1d %arg0, %[[W]], %[[B]] {dilation = 2 : i64, pads = array<i64: 1, 1>, stride = 3 : i64}
// CHECK-NOT:     convbert.kernel_attention_conv
func.func @one_kernel(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<1x2xf32>, %w: tensor<1x5x8x3xf32>,
    %b: tensor<1x5xf32>) -> tensor<?x?x5xf32> {
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w, %b)
         {dilation = 2 : i64, pads = array<i64: 1, 1>, stride = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<1x2xf32>, tensor<1x5x8x3xf32>, tensor<1x5xf32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// A gate of zeros: the mean of the kernels.
// CHECK-LABEL: func.func @mean_kernel(
// CHECK-DAG:     %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<5x8x3xf32>
// CHECK:         %[[SUM:.*]] = linalg.reduce ins(%arg2 : tensor<4x5x8x3xf32>) {{.*}} dimensions = [0]
// CHECK:         %[[W:.*]] = arith.mulf %[[SUM]], %[[QUARTER]]
// CHECK:         linalg.reduce ins(%arg3 : tensor<4x5xf32>)
// CHECK:         convbert.conv1d %arg0, %[[W]], %{{.*}} {pads = array<i64: 1, 1>}
// CHECK-NOT:     convbert.kernel_attention_conv
func.func @mean_kernel(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %w: tensor<4x5x8x3xf32>, %b: tensor<4x5xf32>)
    -> tensor<?x?x5xf32> {
  %f2 = arith.constant dense<0.0> : tensor<4x2xf32>
  %b2 = arith.constant dense<0.0> : tensor<4xf32>
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2, %b2) kernels(%w, %b) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4x5x8x3xf32>, tensor<4x5xf32>)
      -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// A bias that prefers a kernel, a gate that is not zero, an opaque gate.
// CHECK-LABEL: func.func @gates_that_stay(
// CHECK-COUNT-3: convbert.kernel_attention_conv
func.func @gates_that_stay(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<2x2xf32>, %w: tensor<2x5x8x3xf32>)
    -> (tensor<?x?x5xf32>, tensor<?x?x5xf32>, tensor<?x?x5xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
  %some = arith.constant dense<[[0.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %b2 = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%zeros, %b2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x?x5xf32>
  %1 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%some) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x?x5xf32>
  %2 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x?x5xf32>
  return %0, %1, %2 : tensor<?x?x5xf32>, tensor<?x?x5xf32>, tensor<?x?x5xf32>
}

// Two kernels: mixing them costs two kernels' products, one convolution more costs those of the tokens.
// CHECK-LABEL: func.func @auto(
// CHECK:         aggregate = #convbert.aggregate<outputs>, pads = array<i64: 0, 0>
// CHECK:         aggregate = #convbert.aggregate<kernels>, pads = array<i64: 1, 1>
// CHECK:         kernels(%arg5) {pads = array<i64: 1, 1>} :
func.func @auto(%x: tensor<?x3x8xf32>, %long: tensor<?x4x8xf32>, %dynamic: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>,
    %f2: tensor<2x2xf32>, %w: tensor<2x5x8x3xf32>) -> (tensor<?x1x5xf32>, tensor<?x4x5xf32>, tensor<?x?x5xf32>) {
  %0 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 0, 0>}
    : (tensor<?x3x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x1x5xf32>
  %1 = convbert.kernel_attention_conv %long squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x4x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x4x5xf32>
  %2 = convbert.kernel_attention_conv %dynamic squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2x2xf32>, tensor<2x5x8x3xf32>) -> tensor<?x?x5xf32>
  return %0, %1, %2 : tensor<?x1x5xf32>, tensor<?x4x5xf32>, tensor<?x?x5xf32>
}
