// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Lightweight and dynamic convolution: the examples of the descriptions.

// CHECK-LABEL: func.func @normalize_taps_0(
// CHECK:         convbert.normalize_taps
func.func @normalize_taps_0(%logits: tensor<8x31xf32>)
    -> (tensor<8x31xf32>) {
  %taps = convbert.normalize_taps %logits : tensor<8x31xf32>
  return %taps : tensor<8x31xf32>
}

// CHECK-LABEL: func.func @light_conv_0(
// CHECK:         convbert.light_conv
func.func @light_conv_0(%x: tensor<?x?x512xf32>, %w: tensor<8x31xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.light_conv %x, %w {pads = array<i64: 30, 0>}
    : (tensor<?x?x512xf32>, tensor<8x31xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @light_conv_1(
// CHECK:         convbert.light_conv
func.func @light_conv_1(%x: tensor<?x?x512xf32>, %w: tensor<8x3xf32>, %b: tensor<512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.light_conv %x, %w, %b
         {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>, head_map = #convbert.head_map<interleaved>}
    : (tensor<?x?x512xf32>, tensor<8x3xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @dynamic_kernel_1(
// CHECK:         convbert.dynamic_kernel
func.func @dynamic_kernel_1(%q: tensor<?x?x512xf32>, %w: tensor<24x512xf32>)
    -> (tensor<?x?x8x3xf32>) {
  %k = convbert.dynamic_kernel %q, %w {heads = 8 : i64, normalize = #convbert.norm<softmax>,
                                       edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
    : (tensor<?x?x512xf32>, tensor<24x512xf32>) -> tensor<?x?x8x3xf32>
  return %k : tensor<?x?x8x3xf32>
}

// CHECK-LABEL: func.func @apply_kernel_3(
// CHECK:         convbert.apply_kernel
func.func @apply_kernel_3(%v: tensor<?x?x6xf32>, %l: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x6xf32>) {
  %o = convbert.apply_kernel %v, %l {pads = array<i64: 2, 2>, dilation = 2 : i64, normalize = #convbert.norm<softmax>,
                                     edge = #convbert.edge<renorm>, head_map = #convbert.head_map<interleaved>}
    : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x6xf32>
  return %o : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @add_bias_0(
// CHECK:         convbert.add_bias
func.func @add_bias_0(%x: tensor<?x?x512xf32>, %b: tensor<512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.add_bias %x, %b : (tensor<?x?x512xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @dynamic_conv_0(
// CHECK:         convbert.dynamic_conv
func.func @dynamic_conv_0(%x: tensor<?x?x512xf32>, %wg: tensor<24x512xf32>, %bg: tensor<24xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.dynamic_conv %x, %wg, %bg {heads = 8 : i64, pads = array<i64: 2, 0>}
    : (tensor<?x?x512xf32>, tensor<24x512xf32>, tensor<24xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}

// CHECK-LABEL: func.func @dynamic_conv_1(
// CHECK:         convbert.dynamic_conv
func.func @dynamic_conv_1(
    %x: tensor<?x?x512xf32>, %wg: tensor<24x256xf32>, %q: tensor<?x?x256xf32>, %cb: tensor<512xf32>)
    -> (tensor<?x?x512xf32>) {
  %y = convbert.dynamic_conv %x, %wg query(%q) channel_bias(%cb)
         {heads = 8 : i64, pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x512xf32>, tensor<24x256xf32>, tensor<?x?x256xf32>, tensor<512xf32>) -> tensor<?x?x512xf32>
  return %y : tensor<?x?x512xf32>
}
