// Convolutions and norms that are blocks become steps; what rests on parameters alone becomes operations on them.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-decompose))' | FileCheck %s

// CHECK-LABEL: func.func @separable(
// CHECK:         %[[Z:.*]] = convbert.depthwise_conv1d %arg0, %arg1 {dilation = 3 : i64, pads = array<i64: 4, 2>}
// CHECK:         convbert.dense %[[Z]], %arg2, %arg3
func.func @separable(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>, %b: tensor<4xf32>)
    -> tensor<?x?x4xf32> {
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {dilation = 3 : i64, pads = array<i64: 4, 2>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK:         %[[EPS:.*]] = arith.constant dense<1.000000e-03> : tensor<8xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %arg2, %[[EPS]]
// CHECK:         %[[ROOT:.*]] = math.sqrt %[[SUM]]
// CHECK:         %[[SCALE:.*]] = arith.divf %arg3, %[[ROOT]]
// CHECK:         %[[MEAN:.*]] = arith.mulf %arg1, %[[SCALE]]
// CHECK:         %[[SHIFT:.*]] = arith.subf %arg4, %[[MEAN]]
// CHECK:         %[[W:.*]] = tensor.expand_shape %[[SCALE]] {{.*}} : tensor<8xf32> into tensor<8x1xf32>
// CHECK:         convbert.depthwise_conv1d %arg0, %[[W]], %[[SHIFT]] {pads = array<i64: 0, 0>}
func.func @batch_norm(%x: tensor<?x?x8xf32>, %mean: tensor<8xf32>, %variance: tensor<8xf32>, %gamma: tensor<8xf32>,
    %beta: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.batch_norm %x, %mean, %variance, %gamma, %beta {eps = 1.0e-03 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Scale and shift of f16 would be rounded.
// CHECK-LABEL: func.func @narrow_batch_norm(
// CHECK:         convbert.batch_norm
func.func @narrow_batch_norm(%x: tensor<?x?x8xf16>, %v: tensor<8xf16>) -> tensor<?x?x8xf16> {
  %y = convbert.batch_norm %x, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<?x?x8xf16>
  return %y : tensor<?x?x8xf16>
}

// A dynamic length takes the form with one convolution.
// CHECK-LABEL: func.func @mixed_kernels(
// CHECK:         %[[S:.*]] = convbert.pool %arg0 {kind = #convbert.pool<mean>}
// CHECK:         %[[H:.*]] = convbert.dense %[[S]], %arg1, %arg2
// CHECK:         %[[R:.*]] = convbert.activation %[[H]] {kind = #convbert.activation<relu>}
// CHECK:         %[[Z:.*]] = convbert.dense %[[R]], %arg3, %arg4
// CHECK:         %[[P:.*]] = convbert.softmax %[[Z]] {temperature = 3.000000e+01 : f64} : tensor<?x4xf32>
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %arg5 {{\[}}[0], [1, 2, 3]] : tensor<4x5x8x3xf32> into tensor<4x120xf32>
// CHECK:         %[[MIX:.*]] = convbert.dense %[[P]], %[[ROWS]] {layout = #convbert.layout<in_out>}
// CHECK:         %[[W:.*]] = tensor.expand_shape %[[MIX]] {{.*}} : tensor<?x120xf32> into tensor<?x5x8x3xf32>
// CHECK:         %[[B:.*]] = convbert.dense %[[P]], %arg6 {layout = #convbert.layout<in_out>}
// CHECK:         convbert.conv1d %arg0, %[[W]], %[[B]] {dilation = 2 : i64, pads = array<i64: 1, 1>, stride = 3 : i64}
func.func @mixed_kernels(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %b1: tensor<2xf32>, %f2: tensor<4x2xf32>,
    %b2: tensor<4xf32>, %w: tensor<4x5x8x3xf32>, %b: tensor<4x5xf32>) -> tensor<?x?x5xf32> {
  %y = convbert.kernel_attention_conv %x squeeze(%f1, %b1) excite(%f2, %b2) kernels(%w, %b)
         {dilation = 2 : i64, pads = array<i64: 1, 1>, stride = 3 : i64, temperature = 3.0e+01 : f64}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4x5x8x3xf32>,
       tensor<4x5xf32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// One convolution for all kernels, whose outputs lie side by side.
// CHECK-LABEL: func.func @mixed_outputs(
// CHECK:         %[[P:.*]] = convbert.softmax
// CHECK:         %[[W:.*]] = tensor.collapse_shape %arg3 {{\[}}[0, 1], [2], [3]] : tensor<4x5x8x3xf32> into tensor<20x8x3xf32>
// CHECK:         %[[B:.*]] = tensor.collapse_shape %arg4 {{\[}}[0, 1]] : tensor<4x5xf32> into tensor<20xf32>
// CHECK:         %[[Y:.*]] = convbert.conv1d %arg0, %[[W]], %[[B]] {pads = array<i64: 1, 1>}
// CHECK:         convbert.weighted_sum %[[Y]], %[[P]]
func.func @mixed_outputs(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<4x2xf32>, %w: tensor<4x5x8x3xf32>,
    %b: tensor<4x5xf32>) -> tensor<?x?x5xf32> {
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w, %b)
         {aggregate = #convbert.aggregate<outputs>, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<4x2xf32>, tensor<4x5x8x3xf32>, tensor<4x5xf32>)
      -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// In the other orientation output features are last, and kernels are moved beside them; one token wants outputs.
// CHECK-LABEL: func.func @auto_in_out(
// CHECK:         %[[T:.*]] = linalg.transpose ins(%arg3 : tensor<4x3x8x5xf32>) {{.*}} permutation = [1, 2, 0, 3]
// CHECK:         %[[W:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0], [1], [2, 3]] : tensor<3x8x4x5xf32> into tensor<3x8x20xf32>
// CHECK:         convbert.conv1d %arg0, %[[W]] {layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>}
// CHECK:         convbert.weighted_sum
func.func @auto_in_out(%x: tensor<?x3x8xf32>, %f1: tensor<8x2xf32>, %f2: tensor<2x4xf32>, %w: tensor<4x3x8x5xf32>)
    -> tensor<?x1x5xf32> {
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w)
         {layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>}
    : (tensor<?x3x8xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<4x3x8x5xf32>) -> tensor<?x1x5xf32>
  return %y : tensor<?x1x5xf32>
}
