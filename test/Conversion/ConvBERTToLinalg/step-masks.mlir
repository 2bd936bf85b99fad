// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// Masks of tokens and heads, slices of a query, and the product with a span-aware key.

// A select: what a masked token holds, a NaN perhaps, meets no number.
// CHECK-LABEL: func.func @mask_tokens
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<?x?x8xf32>, tensor<?x?xi1>)
//       CHECK:     %[[Y:.*]] = arith.select %in_{{[0-9]+}}, %in,
//  CHECK-NEXT:     linalg.yield %[[Y]]
func.func @mask_tokens(%x: tensor<?x?x8xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?x8xf32> {
  %y = convbert.mask_tokens %x, %mask : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @scale_heads
//       CHECK:   %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<?x?x2x4xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %arg1 :
//       CHECK:     arith.mulf
func.func @scale_heads(%x: tensor<?x?x8xf32>, %s: tensor<2xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.scale_heads %x, %s : (tensor<?x?x8xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// The product is f32, though its factors and all other tensors are f16.
// CHECK-LABEL: func.func @span_key
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<?x?x8xf16>, tensor<?x?x8xf16>) outs({{.*}} : tensor<?x?x8xf32>)
//       CHECK:     arith.mulf {{.*}} : f32
//  CHECK-NEXT:     linalg.yield
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %arg2 : tensor<?x?x8xf32>, tensor<6x8xf16>)
func.func @span_key(%q: tensor<?x?x8xf16>, %s: tensor<?x?x8xf16>, %w: tensor<6x8xf16>) -> tensor<?x?x2x3xf16> {
  %t = convbert.dynamic_kernel %q, %w span(%s) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<?x?x8xf16>) -> tensor<?x?x2x3xf16>
  return %t : tensor<?x?x2x3xf16>
}

// A run of slices is one slice of heads; the head mask multiplies the probabilities that are a result.
// CHECK-LABEL: func.func @probabilities
//       CHECK:   %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<?x?x4x4xf32>
//       CHECK:   %[[SLICES:.*]] = tensor.extract_slice %[[Q]][0, 0, 1, 0] [%{{.*}}, %{{.*}}, 2, 4] [1, 1, 1, 1]
//       CHECK:   linalg.generic {{.*}} ins(%[[SLICES]], %{{.*}} :
//       CHECK:     arith.divf
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %arg2 : tensor<?x2x?x?xf32>, tensor<2xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %{{.*}} :
//       CHECK:   return %{{.*}}, %[[P]]
func.func @probabilities(%q: tensor<?x?x16xf32>, %k: tensor<?x?x8xf32>, %m: tensor<2xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>) {
  %y, %p = convbert.self_attention %q, %k, %k head_mask(%m)
      {heads = 2 : i64, query_heads = array<i64: 1, 2>, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x16xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<2xf32>)
      -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>)
  return %y, %p : tensor<?x?x8xf32>, tensor<?x2x?x?xf32>
}
