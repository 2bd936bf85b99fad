// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Convolutions with a window of their own: each form parses, prints, and comes back from the generic form and from
// bytecode; attributes that have their default are not printed.

// CHECK-LABEL: func.func @conv1d_0(
// CHECK:         convbert.conv1d %arg0, %arg1, %arg2 {dilation = 2 : i64, groups = 4 : i64, pads = array<i64: 2, 2>} :
func.func @conv1d_0(%x: tensor<?x128x512xf32>, %w: tensor<512x128x3xf32>, %b: tensor<512xf32>)
    -> tensor<?x128x512xf32> {
  %y = convbert.conv1d %x, %w, %b {dilation = 2 : i64, groups = 4 : i64, pads = array<i64: 2, 2>}
    : (tensor<?x128x512xf32>, tensor<512x128x3xf32>, tensor<512xf32>) -> tensor<?x128x512xf32>
  return %y : tensor<?x128x512xf32>
}

// CHECK-LABEL: func.func @conv1d_1(
// CHECK:         convbert.conv1d %arg0, %arg1, %arg2 {pads = array<i64: 0, 0>, stride = 2 : i64} :
func.func @conv1d_1(%x: tensor<?x?x64xf32>, %w: tensor<?x32x64x3xf32>, %b: tensor<?x32xf32>) -> tensor<?x?x32xf32> {
  %y = convbert.conv1d %x, %w, %b {pads = array<i64: 0, 0>, stride = 2 : i64}
    : (tensor<?x?x64xf32>, tensor<?x32x64x3xf32>, tensor<?x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

// CHECK-LABEL: func.func @conv1d_defaults(
// CHECK:         convbert.conv1d %arg0, %arg1 {pads = array<i64: 1, 1>} : {{.*}} -> tensor<2x9x4xf64>
// CHECK:         convbert.conv1d %arg0, %arg2 {layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>, stride = 3 : i64} : {{.*}} -> tensor<2x3x8xf64>
func.func @conv1d_defaults(%x: tensor<2x9x8xf64>, %w: tensor<4x8x3xf64>, %v: tensor<2x8x8xf64>) {
  %0 = convbert.conv1d %x, %w {dilation = 1 : i64, groups = 1 : i64, pads = array<i64: 1, 1>, stride = 1 : i64}
    : (tensor<2x9x8xf64>, tensor<4x8x3xf64>) -> tensor<2x9x4xf64>
  %1 = convbert.conv1d %x, %v {layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>, stride = 3 : i64}
    : (tensor<2x9x8xf64>, tensor<2x8x8xf64>) -> tensor<2x3x8xf64>
  return
}

// CHECK-LABEL: func.func @depthwise_conv1d_1(
// CHECK:         convbert.depthwise_conv1d %arg0, %arg1, %arg2 {dilation = 2 : i64, pads = array<i64: 4, 0>, stride = 3 : i64} :
func.func @depthwise_conv1d_1(%x: tensor<?x?x64xf32>, %w: tensor<128x3xf32>, %b: tensor<128xf32>)
    -> tensor<?x?x128xf32> {
  %y = convbert.depthwise_conv1d %x, %w, %b {dilation = 2 : i64, pads = array<i64: 4, 0>, stride = 3 : i64}
    : (tensor<?x?x64xf32>, tensor<128x3xf32>, tensor<128xf32>) -> tensor<?x?x128xf32>
  return %y : tensor<?x?x128xf32>
}

// CHECK-LABEL: func.func @separable_conv1d_1(
// CHECK:         convbert.separable_conv1d %arg0, %arg1, %arg2 {dilation = 3 : i64, pads = array<i64: 6, 0>} :
func.func @separable_conv1d_1(%x: tensor<?x?x64xf32>, %wd: tensor<64x3xf32>, %wp: tensor<32x64xf32>)
    -> tensor<?x?x32xf32> {
  %s = convbert.separable_conv1d %x, %wd, %wp {dilation = 3 : i64, pads = array<i64: 6, 0>}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>, tensor<32x64xf32>) -> tensor<?x?x32xf32>
  return %s : tensor<?x?x32xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK:         convbert.batch_norm %arg0, %arg1, %arg2, %arg3, %arg4 {eps = 1.000000e-05 : f64} :
func.func @batch_norm(%x: tensor<?x?x512xf32>, %mean: tensor<512xf32>, %variance: tensor<512xf32>,
                      %gamma: tensor<512xf32>, %beta: tensor<512xf32>) -> tensor<?x?x512xf32> {
  %y = convbert.batch_norm %x, %mean, %variance, %gamma, %beta {eps = 1.0e-05 : f64}
    : (tensor<?x?x512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>)
      -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK:         convbert.softmax %arg0 {temperature = 3.000000e+01 : f64} : tensor<?x4xf32>
// CHECK:         convbert.softmax %arg1 : tensor<?x?x4xf16>
func.func @softmax(%z: tensor<?x4xf32>, %t: tensor<?x?x4xf16>) -> tensor<?x4xf32> {
  %p = convbert.softmax %z {temperature = 3.0e+01 : f64} : tensor<?x4xf32>
  %q = convbert.softmax %t : tensor<?x?x4xf16>
  return %p : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @weighted_sum(
// CHECK:         convbert.weighted_sum %arg0, %arg1 : (tensor<?x?x2048xf32>, tensor<?x4xf32>) -> tensor<?x?x512xf32>
func.func @weighted_sum(%x: tensor<?x?x2048xf32>, %p: tensor<?x4xf32>) -> tensor<?x?x512xf32> {
  %y = convbert.weighted_sum %x, %p : (tensor<?x?x2048xf32>, tensor<?x4xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @kernel_attention_conv(
// CHECK:         convbert.kernel_attention_conv %arg0 squeeze(%arg1) excite(%arg2, %arg3) kernels(%arg4, %arg5) {pads = array<i64: 1, 1>, temperature = 3.000000e+01 : f64} :
func.func @kernel_attention_conv(%x: tensor<?x?x64xf32>, %f1: tensor<16x64xf32>, %f2: tensor<4x16xf32>,
    %b2: tensor<4xf32>, %w: tensor<4x64x64x3xf32>, %b: tensor<4x64xf32>) -> tensor<?x?x64xf32> {
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2, %b2) kernels(%w, %b)
         {pads = array<i64: 1, 1>, temperature = 3.0e+01 : f64}
    : (tensor<?x?x64xf32>, tensor<16x64xf32>, tensor<4x16xf32>, tensor<4xf32>, tensor<4x64x64x3xf32>,
       tensor<4x64xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// All optional operands, and none of them.
// CHECK-LABEL: func.func @kernel_attention_forms(
// CHECK:         convbert.kernel_attention_conv %arg0 squeeze(%arg1, %arg2) excite(%arg3, %arg4) kernels(%arg5) {aggregate = #convbert.aggregate<outputs>, pads
// CHECK:         convbert.kernel_attention_conv %arg0 squeeze(%arg1) excite(%arg3) kernels(%arg5) {pads = array<i64: 0, 0>} :
func.func @kernel_attention_forms(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %b1: tensor<2xf32>,
    %f2: tensor<3x2xf32>, %b2: tensor<3xf32>, %w: tensor<3x5x8x3xf32>) {
  %0 = convbert.kernel_attention_conv %x squeeze(%f1, %b1) excite(%f2, %b2) kernels(%w)
         {aggregate = #convbert.aggregate<outputs>, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3xf32>, tensor<3x5x8x3xf32>)
      -> tensor<?x?x5xf32>
  %1 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w)
         {aggregate = #convbert.aggregate<auto>, pads = array<i64: 0, 0>, temperature = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}
