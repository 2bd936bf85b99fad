// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Convolutions over tokens: each form parses, prints, and comes back from the generic form and from bytecode.

// CHECK-LABEL: func.func @depthwise_conv1d(
// CHECK:         convbert.depthwise_conv1d %arg0, %arg1 {pads = array<i64: 4, 4>}
func.func @depthwise_conv1d(%x: tensor<?x?x768xf32>, %w: tensor<768x9xf32>) -> tensor<?x?x768xf32> {
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 4, 4>}
      : (tensor<?x?x768xf32>, tensor<768x9xf32>) -> tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}

// CHECK-LABEL: func.func @separable_conv1d(
// CHECK:         convbert.separable_conv1d %arg0, %arg1, %arg2, %arg3 {pads = array<i64: 4, 4>}
func.func @separable_conv1d(
    %x: tensor<?x?x768xf32>, %wd: tensor<768x9xf32>, %wp: tensor<384x768xf32>, %bp: tensor<384xf32>)
    -> tensor<?x?x384xf32> {
  %s = convbert.separable_conv1d %x, %wd, %wp, %bp {pads = array<i64: 4, 4>}
      : (tensor<?x?x768xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>) -> tensor<?x?x384xf32>
  return %s : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @dynamic_kernel(
// CHECK:         convbert.dynamic_kernel %arg0, %arg1, %arg2
// CHECK-SAME:      {heads = 6 : i64, normalize = #convbert.norm<softmax>}
func.func @dynamic_kernel(%q: tensor<?x?x384xf32>, %w: tensor<54x384xf32>, %b: tensor<54xf32>) -> tensor<?x?x6x9xf32> {
  %k = convbert.dynamic_kernel %q, %w, %b {heads = 6 : i64, normalize = #convbert.norm<softmax>}
      : (tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>) -> tensor<?x?x6x9xf32>
  return %k : tensor<?x?x6x9xf32>
}

// CHECK-LABEL: func.func @apply_kernel(
// CHECK:         convbert.apply_kernel %arg0, %arg1 {normalize = #convbert.norm<none>, pads = array<i64: 4, 4>}
func.func @apply_kernel(%v: tensor<?x?x384xf32>, %taps: tensor<?x?x6x9xf32>) -> tensor<?x?x384xf32> {
  %o = convbert.apply_kernel %v, %taps {pads = array<i64: 4, 4>, normalize = #convbert.norm<none>}
      : (tensor<?x?x384xf32>, tensor<?x?x6x9xf32>) -> tensor<?x?x384xf32>
  return %o : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @apply_kernel_with_taps(
// CHECK:         convbert.apply_kernel %arg0, %arg1
// CHECK-SAME:      {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>, with_taps}
// CHECK-SAME:      -> (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>)
func.func @apply_kernel_with_taps(%v: tensor<?x?x6xf32>, %l: tensor<?x?x2x3xf32>) {
  %o, %k = convbert.apply_kernel %v, %l {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>, with_taps}
      : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) -> (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>)
  return
}

// CHECK-LABEL: func.func @span_dynamic_conv(
// CHECK:         convbert.span_dynamic_conv %arg0, %arg1, %arg2, %arg3, %arg4
// CHECK-SAME:      {heads = 6 : i64, pads = array<i64: 4, 4>}
func.func @span_dynamic_conv(
    %q: tensor<?x?x384xf32>, %ks: tensor<?x?x384xf32>, %v: tensor<?x?x384xf32>, %wf: tensor<54x384xf32>,
    %bf: tensor<54xf32>)
    -> tensor<?x?x384xf32> {
  %o = convbert.span_dynamic_conv %q, %ks, %v, %wf, %bf {heads = 6 : i64, pads = array<i64: 4, 4>}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>)
        -> tensor<?x?x384xf32>
  return %o : tensor<?x?x384xf32>
}

// Weights as in TensorFlow files, causal pads.
// CHECK-LABEL: func.func @in_out(
// CHECK:         convbert.depthwise_conv1d {{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 2, 0>} :
// CHECK:         convbert.separable_conv1d %arg0, %arg1, %arg2
// CHECK-SAME:      {layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>} :
// CHECK:         convbert.dynamic_kernel %1, %arg3
// CHECK-SAME:      {heads = 2 : i64, layout = #convbert.layout<in_out>, normalize = #convbert.norm<none>} :
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<softmax>, pads = array<i64: 0, 2>} :
// CHECK:         convbert.span_dynamic_conv %1, %1, %arg0, %arg3
// CHECK-SAME:      {heads = 2 : i64, layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>} :
func.func @in_out(%x: tensor<2x?x8xf32>, %wd: tensor<3x8xf32>, %wp: tensor<8x4xf32>, %wf: tensor<4x6xf32>) {
  %z = convbert.depthwise_conv1d %x, %wd {pads = array<i64: 2, 0>, layout = #convbert.layout<in_out>}
    : (tensor<2x?x8xf32>, tensor<3x8xf32>) -> tensor<2x?x8xf32>
  %s = convbert.separable_conv1d %x, %wd, %wp {pads = array<i64: 1, 1>, layout = #convbert.layout<in_out>}
    : (tensor<2x?x8xf32>, tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<2x?x4xf32>
  %k = convbert.dynamic_kernel %s, %wf
         {heads = 2 : i64, normalize = #convbert.norm<none>, layout = #convbert.layout<in_out>}
    : (tensor<2x?x4xf32>, tensor<4x6xf32>) -> tensor<2x?x2x3xf32>
  %o = convbert.apply_kernel %s, %k {pads = array<i64: 0, 2>, normalize = #convbert.norm<softmax>}
    : (tensor<2x?x4xf32>, tensor<2x?x2x3xf32>) -> tensor<2x?x4xf32>
  %c = convbert.span_dynamic_conv %s, %s, %x, %wf
         {heads = 2 : i64, pads = array<i64: 1, 1>, layout = #convbert.layout<in_out>}
    : (tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x8xf32>, tensor<4x6xf32>) -> tensor<2x?x8xf32>
  return
}

// One tap, and an even number of taps: pads say where they lie.
// CHECK-LABEL: func.func @few_taps(
// CHECK:         pads = array<i64: 0, 0>
// CHECK:         pads = array<i64: 0, 1>
func.func @few_taps(%x: tensor<?x4x8xf64>, %w1: tensor<8x1xf64>, %w2: tensor<8x2xf64>) {
  %0 = convbert.depthwise_conv1d %x, %w1 {pads = array<i64: 0, 0>}
    : (tensor<?x4x8xf64>, tensor<8x1xf64>) -> tensor<?x4x8xf64>
  %1 = convbert.depthwise_conv1d %x, %w2 {pads = array<i64: 0, 1>}
    : (tensor<?x4x8xf64>, tensor<8x2xf64>) -> tensor<?x4x8xf64>
  return
}

// CHECK-LABEL: func.func @mask_tokens(
// CHECK:         convbert.mask_tokens %arg0, %arg1 : (tensor<?x?x768xf32>, tensor<?x?xi1>)
func.func @mask_tokens(%x: tensor<?x?x768xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?x768xf32> {
  %y = convbert.mask_tokens %x, %mask : (tensor<?x?x768xf32>, tensor<?x?xi1>) -> tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}

// A span-aware key with and without a bias, a mask of what the convolution reads.
// CHECK-LABEL: func.func @spans_and_masks(
// CHECK:         convbert.dynamic_kernel %arg0, %arg2, %arg3 span(%arg1) {heads = 2 : i64
// CHECK:         convbert.dynamic_kernel %arg0, %arg2 span(%arg1) {heads = 2 : i64
// CHECK:         convbert.apply_kernel %arg0, %{{.*}} mask(%arg4) {normalize
// CHECK:         convbert.span_dynamic_conv %arg0, %arg1, %arg0, %arg2, %arg3 mask(%arg4) {heads
// CHECK:         convbert.span_dynamic_conv %arg0, %arg1, %arg0, %arg2 mask(%arg4) {heads
func.func @spans_and_masks(%q: tensor<?x?x8xf16>, %ks: tensor<?x?x8xf16>, %w: tensor<6x8xf16>, %b: tensor<6xf16>,
                           %mask: tensor<?x?xi1>) {
  %0 = convbert.dynamic_kernel %q, %w, %b span(%ks) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<6xf16>, tensor<?x?x8xf16>) -> tensor<?x?x2x3xf16>
  %1 = convbert.dynamic_kernel %q, %w span(%ks) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<?x?x8xf16>) -> tensor<?x?x2x3xf16>
  %2 = convbert.apply_kernel %q, %1 mask(%mask) {pads = array<i64: 2, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf16>, tensor<?x?x2x3xf16>, tensor<?x?xi1>) -> tensor<?x?x8xf16>
  %3 = convbert.span_dynamic_conv %q, %ks, %q, %w, %b mask(%mask) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<6xf16>, tensor<?x?xi1>)
      -> tensor<?x?x8xf16>
  %4 = convbert.span_dynamic_conv %q, %ks, %q, %w mask(%mask) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<?x?xi1>)
      -> tensor<?x?x8xf16>
  return
}
