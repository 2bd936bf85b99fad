// RUN: convbert-opt %s --canonicalize | FileCheck %s

// Masks and slices that say nothing, on both sides of their guards.

// CHECK-LABEL: func.func @head_mask_of_ones(
// CHECK-NOT:     head_mask
// CHECK:         return
func.func @head_mask_of_ones(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>) {
  %m = arith.constant dense<1.0> : tensor<2xf32>
  %y, %p = convbert.self_attention %x, %x, %x head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2xf32>)
      -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>)
  return %y, %p : tensor<?x?x8xf32>, tensor<?x2x?x?xf32>
}

// A factor of 0, and a mask that is not known here, stay.
// CHECK-LABEL: func.func @other_head_masks(
// CHECK-COUNT-2: head_mask
func.func @other_head_masks(%x: tensor<?x?x8xf32>, %m: tensor<2xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %c = arith.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %y = convbert.self_attention %x, %x, %x head_mask(%c) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  %z = convbert.self_attention %x, %x, %x head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @scale_heads(
// CHECK:         %[[Y:.*]] = convbert.scale_heads %arg0
// CHECK:         return %arg0, %[[Y]]
func.func @scale_heads(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %ones = arith.constant dense<1.0> : tensor<2xf32>
  %twos = arith.constant dense<2.0> : tensor<2xf32>
  %y = convbert.scale_heads %x, %ones : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  %z = convbert.scale_heads %x, %twos : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @slices(
// CHECK:         convbert.self_attention %arg0, {{.*}} {heads = 2 : i64, scale
// CHECK:         convbert.self_attention {{.*}} query_heads = array<i64: 1, 0>
// CHECK:         convbert.self_attention %arg1, {{.*}} query_heads = array<i64: 0, 1>
func.func @slices(%x: tensor<?x?x8xf32>, %q: tensor<?x?x12xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %0 = convbert.self_attention %x, %x, %x {heads = 2 : i64, query_heads = array<i64: 0, 1>, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.self_attention %x, %x, %x {heads = 2 : i64, query_heads = array<i64: 1, 0>, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.self_attention %q, %x, %x {heads = 2 : i64, query_heads = array<i64: 0, 1>, scale = 1.0 : f64}
    : (tensor<?x?x12xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %0, %1, %2 : tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @mixed(
// CHECK-NOT:     head_mask
// CHECK-NOT:     query_heads
// CHECK:         return
func.func @mixed(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x8xf32>, %bf: tensor<6xf32>, %wo: tensor<8x16xf32>) -> tensor<?x?x8xf32> {
  %m = arith.constant dense<1.0> : tensor<4xf32>
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         output(%wo, %b) head_mask(%m) {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 4 : i64,
         query_heads = array<i64: 0, 1>, span_query_heads = array<i64: 0, 1>}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<8x16xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @mixed_swapped(
// CHECK:         query_heads = array<i64: 1, 0>}
func.func @mixed_swapped(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) output(%w, %b)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64, query_heads = array<i64: 1, 0>}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// The scale of an attention stays where it is: its query may feed a convolution, too.
// CHECK-LABEL: func.func @scale(
// CHECK-NEXT:    %[[Q:.*]] = convbert.dense %arg0, %arg1
// CHECK-NEXT:    convbert.self_attention %[[Q]], {{.*}} scale = 5.000000e-01
func.func @scale(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x?x8xf32> {
  %q = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.self_attention %q, %x, %x {heads = 2 : i64, scale = 0.5 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
