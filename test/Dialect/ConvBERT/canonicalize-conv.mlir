// RUN: convbert-opt %s --canonicalize | FileCheck %s

// Dynamic convolutions, on both sides of the guards of their rewrites.

// The softmax of one tap is 1, wherever it stands.
// CHECK-LABEL: func.func @one_tap(
// CHECK-NOT:     convbert
// CHECK:         return %arg0, %arg0, %arg0
func.func @one_tap(%v: tensor<?x?x8xf32>, %t: tensor<?x?x2x1xf32>, %w: tensor<2x8xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.apply_kernel %v, %t {pads = array<i64: 0, 0>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x1xf32>) -> tensor<?x?x8xf32>
  %k = convbert.dynamic_kernel %v, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>) -> tensor<?x?x2x1xf32>
  %1 = convbert.apply_kernel %v, %k {pads = array<i64: 0, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x1xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.span_dynamic_conv %v, %v, %v, %w {heads = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2x8xf32>) -> tensor<?x?x8xf32>
  return %0, %1, %2 : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// A tap that no softmax made, a mask, and more taps stay.
// CHECK-LABEL: func.func @other_taps(
// CHECK-COUNT-3: convbert.apply_kernel
// CHECK:         convbert.span_dynamic_conv
func.func @other_taps(%v: tensor<?x?x8xf32>, %t: tensor<?x?x2x1xf32>, %t2: tensor<?x?x2x2xf32>, %w: tensor<2x8xf32>,
                      %m: tensor<?x?xi1>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.apply_kernel %v, %t {pads = array<i64: 0, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x1xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.apply_kernel %v, %t mask(%m) {pads = array<i64: 0, 0>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x1xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  %2 = convbert.apply_kernel %v, %t2 {pads = array<i64: 0, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x2xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.span_dynamic_conv %v, %v, %v, %w mask(%m) {heads = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return %0, %1, %2, %3 : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// A bias that is the same for all taps of a head falls out of the softmax.
// CHECK-LABEL: func.func @bias(
// CHECK-NOT:     arith.constant
// CHECK:         convbert.dynamic_kernel %arg0, %arg1 {
// CHECK:         convbert.span_dynamic_conv %arg0, %arg0, %arg0, %arg1 {
func.func @bias(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>) -> (tensor<?x?x2x3xf32>, tensor<?x?x8xf32>) {
  %b = arith.constant dense<[1.0, 1.0, 1.0, -2.0, -2.0, -2.0]> : tensor<6xf32>
  %0 = convbert.dynamic_kernel %q, %w, %b {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %1 = convbert.span_dynamic_conv %q, %q, %q, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x8xf32>
  return %0, %1 : tensor<?x?x2x3xf32>, tensor<?x?x8xf32>
}

// Not one that differs from tap to tap, not without a softmax, not infinity.
// CHECK-LABEL: func.func @other_biases(
// CHECK-COUNT-3: convbert.dynamic_kernel %arg0, %arg1, %
func.func @other_biases(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>)
    -> (tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>) {
  %b = arith.constant dense<[1.0, 1.0, 1.0, -2.0, -2.0, 3.0]> : tensor<6xf32>
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %infinity = arith.constant dense<0x7F800000> : tensor<6xf32>
  %0 = convbert.dynamic_kernel %q, %w, %b {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %1 = convbert.dynamic_kernel %q, %w, %one {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %2 = convbert.dynamic_kernel %q, %w, %infinity {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  return %0, %1, %2 : tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>
}

// With a span-aware key of ones the taps rest on the query alone.
// CHECK-LABEL: func.func @span_of_ones(
// CHECK:         %[[K:.*]] = convbert.dynamic_kernel %arg0, %arg1 {heads = 2 : i64, normalize = #convbert.norm<softmax>}
// CHECK:         %[[Y:.*]] = convbert.apply_kernel %arg0, %[[K]] mask(%arg2) {normalize = #convbert.norm<none>
// CHECK:         %[[T:.*]] = convbert.dynamic_kernel %arg0, %arg1 {heads = 2 : i64, normalize = #convbert.norm<none>}
// CHECK:         return %[[Y]], %[[T]]
func.func @span_of_ones(%q: tensor<2x3x8xf32>, %w: tensor<6x8xf32>, %m: tensor<?x?xi1>)
    -> (tensor<2x3x8xf32>, tensor<2x3x2x3xf32>) {
  %one = arith.constant dense<1.0> : tensor<2x3x8xf32>
  %0 = convbert.span_dynamic_conv %q, %one, %q, %w mask(%m) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<6x8xf32>, tensor<?x?xi1>) -> tensor<2x3x8xf32>
  %1 = convbert.dynamic_kernel %q, %w span(%one) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<2x3x8xf32>, tensor<6x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x2x3xf32>
  return %0, %1 : tensor<2x3x8xf32>, tensor<2x3x2x3xf32>
}

// Of any length, too; of another number it stays.
// CHECK-LABEL: func.func @splat(
// CHECK:         convbert.dynamic_kernel %arg0, %arg1 {
// CHECK:         %[[TWO:.*]] = tensor.splat
// CHECK:         convbert.dynamic_kernel %arg0, %arg1 span(%[[TWO]])
func.func @splat(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %n: index) -> (tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %ones = tensor.splat %one[%n, %n] : tensor<?x?x8xf32>
  %0 = convbert.dynamic_kernel %q, %w span(%ones) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x2x3xf32>
  %twos = tensor.splat %two[%n, %n] : tensor<?x?x8xf32>
  %1 = convbert.dynamic_kernel %q, %w span(%twos) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x2x3xf32>
  return %0, %1 : tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>
}

// CHECK-LABEL: func.func @mask(
// CHECK:         %[[Y:.*]] = convbert.mask_tokens %arg0, %arg1
// CHECK:         %[[Z:.*]] = convbert.mask_tokens %[[Y]], %arg2
// CHECK:         return %arg3, %[[Y]], %[[Z]]
func.func @mask(%x: tensor<?x?x8xf32>, %m: tensor<?x?xi1>, %n: tensor<?x?xi1>, %s: tensor<1x2x8xf32>)
    -> (tensor<1x2x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %all = arith.constant dense<true> : tensor<1x2xi1>
  %0 = convbert.mask_tokens %s, %all : (tensor<1x2x8xf32>, tensor<1x2xi1>) -> tensor<1x2x8xf32>
  %1 = convbert.mask_tokens %x, %m : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  %2 = convbert.mask_tokens %1, %m : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  %3 = convbert.mask_tokens %2, %n : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return %0, %2, %3 : tensor<1x2x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// A mask with a gap stays.
// CHECK-LABEL: func.func @mask_with_a_gap(
// CHECK:         convbert.mask_tokens
func.func @mask_with_a_gap(%x: tensor<1x2x8xf32>) -> tensor<1x2x8xf32> {
  %some = arith.constant dense<[[true, false]]> : tensor<1x2xi1>
  %y = convbert.mask_tokens %x, %some : (tensor<1x2x8xf32>, tensor<1x2xi1>) -> tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}
