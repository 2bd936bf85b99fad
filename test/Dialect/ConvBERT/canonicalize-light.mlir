// RUN: convbert-opt %s --canonicalize --cse | FileCheck %s

// Lightweight and dynamic convolution, on both sides of the guards of their rewrites.

// The softmax of one tap is 1.
// CHECK-LABEL: func.func @one_tap(
// CHECK-NOT:     convbert
// CHECK:         return %arg0, %arg0
func.func @one_tap(%x: tensor<?x?x8xf32>, %w: tensor<2x1xf32>, %g: tensor<2x8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.light_conv %x, %w {pads = array<i64: 0, 0>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x8xf32>, tensor<2x1xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.dynamic_conv %x, %g {heads = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>) -> tensor<?x?x8xf32>
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// A bias of the result stays.
// CHECK-LABEL: func.func @one_tap_and_a_bias(
// CHECK:         %[[Y:.*]] = convbert.add_bias %arg0, %arg3
// CHECK-NOT:     convbert
// CHECK:         return %[[Y]], %[[Y]]
func.func @one_tap_and_a_bias(%x: tensor<?x?x8xf32>, %w: tensor<2x1xf32>, %g: tensor<2x8xf32>, %b: tensor<8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.light_conv %x, %w, %b {pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<2x1xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.dynamic_conv %x, %g channel_bias(%b) {heads = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// A tap that is no softmax's is a factor, and two taps are two.
// CHECK-LABEL: func.func @taps_that_stay(
// CHECK:         convbert.light_conv {{.*}}normalize = #convbert.norm<none>
// CHECK:         convbert.light_conv
// CHECK:         convbert.dynamic_conv {{.*}}normalize = #convbert.norm<none>
// CHECK:         convbert.dynamic_conv
func.func @taps_that_stay(%x: tensor<?x?x8xf32>, %w: tensor<2x1xf32>, %v: tensor<2x2xf32>, %g: tensor<2x8xf32>,
                          %h: tensor<4x8xf32>) -> tensor<?x?x8xf32> {
  %0 = convbert.light_conv %x, %w {pads = array<i64: 0, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<2x1xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.light_conv %0, %v {pads = array<i64: 1, 0>} : (tensor<?x?x8xf32>, tensor<2x2xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.dynamic_conv %1, %g {heads = 2 : i64, pads = array<i64: 0, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.dynamic_conv %2, %h {heads = 2 : i64, pads = array<i64: 1, 0>}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x8xf32>
  return %3 : tensor<?x?x8xf32>
}

// The softmax of constant weights: 1/4, 1/2, 1/4 for logits 0, ln 2, 0; a splat stays one.
// CHECK-LABEL: func.func @constant_weights(
// CHECK-DAG:     %[[BOX:.*]] = arith.constant dense<5.000000e-01> : tensor<2x2xf64>
// CHECK-DAG:     %[[W:.*]] = arith.constant dense<{{\[}}[2.5{{0*}}e-01, 5.0{{0*}}e-01, 2.5{{0*}}e-01]]> : tensor<1x3xf64>
// CHECK:         convbert.light_conv %arg0, %[[W]] {normalize = #convbert.norm<none>, pads = array<i64: 1, 1>}
// CHECK:         convbert.light_conv %{{.*}}, %[[BOX]] {normalize = #convbert.norm<none>, pads = array<i64: 1, 0>}
func.func @constant_weights(%x: tensor<?x?x8xf64>) -> tensor<?x?x8xf64> {
  %w = arith.constant dense<[[0.0, 0.6931471805599453, 0.0]]> : tensor<1x3xf64>
  %c = arith.constant dense<3.0> : tensor<2x2xf64>
  %0 = convbert.light_conv %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x8xf64>, tensor<1x3xf64>) -> tensor<?x?x8xf64>
  %1 = convbert.light_conv %0, %c {pads = array<i64: 1, 0>} : (tensor<?x?x8xf64>, tensor<2x2xf64>) -> tensor<?x?x8xf64>
  return %1 : tensor<?x?x8xf64>
}

// Weights that are parameters, infinite, narrow, or of a softmax that depends on the token stay logits.
// CHECK-LABEL: func.func @weights_that_stay(
// CHECK-NOT:     norm<none>
// CHECK:         return
func.func @weights_that_stay(%x: tensor<?x?x8xf32>, %h: tensor<?x?x8xf16>, %p: tensor<1x3xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf16>) {
  %inf = arith.constant dense<[[0.0, 0x7F800000, 0.0]]> : tensor<1x3xf32>
  %w = arith.constant dense<[[0.0, 1.0, 0.0]]> : tensor<1x3xf32>
  %n = arith.constant dense<[[0.0, 1.0, 0.0]]> : tensor<1x3xf16>
  %0 = convbert.light_conv %x, %p {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<1x3xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.light_conv %0, %inf {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<1x3xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.light_conv %1, %w {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x8xf32>, tensor<1x3xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.light_conv %h, %n {pads = array<i64: 1, 1>} : (tensor<?x?x8xf16>, tensor<1x3xf16>) -> tensor<?x?x8xf16>
  return %2, %3 : tensor<?x?x8xf32>, tensor<?x?x8xf16>
}

// CHECK-LABEL: func.func @normalize_constant(
// CHECK-DAG:     arith.constant dense<{{\[}}[8.0{{0*}}e-01, 2.0{{0*}}e-01], [5.0{{0*}}e-01, 5.0{{0*}}e-01]]> : tensor<2x2xf32>
// CHECK:         convbert.normalize_taps %arg0
func.func @normalize_constant(%w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = arith.constant dense<[[1.38629436, 0.0], [7.0, 7.0]]> : tensor<2x2xf32>
  %0 = convbert.normalize_taps %c : tensor<2x2xf32>
  %1 = convbert.normalize_taps %w : tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// A bias that is one number for all taps of a head is nothing to a softmax.
// CHECK-LABEL: func.func @tap_bias(
// CHECK:         convbert.dynamic_conv %arg0, %arg1 {
// CHECK:         convbert.dynamic_conv %{{.*}}, %arg1, %{{.*}} {
// CHECK:         convbert.dynamic_conv %{{.*}}, %arg1, %{{.*}} {{.*}}normalize = #convbert.norm<none>
func.func @tap_bias(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x?x8xf32> {
  %b = arith.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %c = arith.constant dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = convbert.dynamic_conv %x, %w, %b {heads = 2 : i64, pads = array<i64: 1, 0>}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.dynamic_conv %0, %w, %c {heads = 2 : i64, pads = array<i64: 1, 0>}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.dynamic_conv %1, %w, %b {heads = 2 : i64, pads = array<i64: 1, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}

// A generator of zeros makes the same taps for every token: its bias.
// CHECK-LABEL: func.func @zero_generator(
// CHECK:         %[[T:.*]] = tensor.expand_shape %arg2 {{\[}}[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
// CHECK:         %[[Y:.*]] = convbert.light_conv %arg0, %[[T]], %arg3
// CHECK-SAME:      {dilation = 2 : i64, edge = #convbert.edge<renorm>, head_map = #convbert.head_map<interleaved>
// CHECK:         convbert.light_conv %[[Y]], %[[T]] {pads = array<i64: 1, 1>}
// CHECK-NOT:     dynamic
// CHECK:         return
func.func @zero_generator(%x: tensor<?x?x8xf32>, %q: tensor<?x?x4xf32>, %b: tensor<6xf32>, %cb: tensor<8xf32>)
    -> tensor<?x?x8xf32> {
  %w = arith.constant dense<0.0> : tensor<6x4xf32>
  %0 = convbert.dynamic_conv %x, %w, %b query(%q) channel_bias(%cb)
      {heads = 2 : i64, pads = array<i64: 4, 0>, dilation = 2 : i64, edge = #convbert.edge<renorm>,
       head_map = #convbert.head_map<interleaved>}
    : (tensor<?x?x8xf32>, tensor<6x4xf32>, tensor<6xf32>, tensor<?x?x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.span_dynamic_conv %q, %q, %0, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// The steps: a softmax in either of them, or in none.  Without a bias the filter is a box.
// CHECK-LABEL: func.func @zero_generator_steps(
// CHECK:         %[[BOX:.*]] = arith.constant dense<0.333333{{.*}}> : tensor<2x3xf32>
// CHECK:         convbert.light_conv %arg0, %[[BOX]] {normalize = #convbert.norm<none>, pads = array<i64: 1, 1>}
// CHECK:         %[[T:.*]] = tensor.expand_shape %arg1
// CHECK:         convbert.light_conv %{{.*}}, %[[T]] {pads = array<i64: 1, 1>}
// CHECK:         convbert.light_conv %{{.*}}, %[[T]] {normalize = #convbert.norm<none>, pads = array<i64: 1, 1>}
// CHECK:         convbert.light_conv %{{.*}}, %[[T]] {edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
// CHECK-NOT:     dynamic_kernel
// CHECK:         return
func.func @zero_generator_steps(%x: tensor<?x?x8xf32>, %b: tensor<6xf32>) -> tensor<?x?x8xf32> {
  %w = arith.constant dense<0.0> : tensor<6x8xf32>
  %k = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %l = convbert.dynamic_kernel %x, %w, %b {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %r = convbert.dynamic_kernel %x, %w, %b
      {heads = 2 : i64, normalize = #convbert.norm<softmax>, edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %0 = convbert.apply_kernel %x, %k {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.apply_kernel %0, %l {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.apply_kernel %1, %l {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.apply_kernel %2, %r {pads = array<i64: 2, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  return %3 : tensor<?x?x8xf32>
}

// Another weight, a softmax of a softmax, taps that were renormalised for another window, or that somebody looks at.
// CHECK-LABEL: func.func @generators_that_stay(
// CHECK-NOT:     light_conv
// CHECK:         return
func.func @generators_that_stay(%x: tensor<?x?x8xf32>, %b: tensor<6xf32>, %p: tensor<6x8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) {
  %w = arith.constant dense<0.0> : tensor<6x8xf32>
  %0 = convbert.dynamic_conv %x, %p, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x8xf32>
  %k = convbert.dynamic_kernel %x, %w, %b {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %1 = convbert.apply_kernel %0, %k {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  %r = convbert.dynamic_kernel %x, %w, %b
      {heads = 2 : i64, normalize = #convbert.norm<softmax>, edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %2 = convbert.apply_kernel %1, %r {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x8xf32>
  %l = convbert.dynamic_kernel %x, %w, %b {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %3, %t = convbert.apply_kernel %2, %l {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>, with_taps}
    : (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x2x3xf32>)
  return %3, %t : tensor<?x?x8xf32>, tensor<?x?x2x3xf32>
}

// With a span-aware key of ones the taps rest on the query alone; how they are used stays.
// CHECK-LABEL: func.func @span_of_ones(
// CHECK:         %[[K:.*]] = convbert.dynamic_kernel %arg0, %arg1
// CHECK-SAME:      {edge = #convbert.edge<renorm>, heads = 2 : i64, normalize = #convbert.norm<softmax>, pads = array<i64: 2, 0>}
// CHECK:         convbert.apply_kernel %arg0, %[[K]] {head_map = #convbert.head_map<interleaved>, normalize = #convbert.norm<none>
func.func @span_of_ones(%q: tensor<2x3x8xf32>, %w: tensor<6x8xf32>) -> tensor<2x3x8xf32> {
  %one = arith.constant dense<1.0> : tensor<2x3x8xf32>
  %0 = convbert.span_dynamic_conv %q, %one, %q, %w
      {heads = 2 : i64, pads = array<i64: 2, 0>, edge = #convbert.edge<renorm>,
       head_map = #convbert.head_map<interleaved>}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}
