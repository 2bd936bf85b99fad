// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// Lightweight and dynamic convolution and gates: windows are read in place, taps of heads are never repeated.

// CHECK-DAG:     #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 * 2, d2, d4)>
// CHECK-DAG:     #[[HEADS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3)>
// CHECK-DAG:     #[[COLUMNS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>

// CHECK-LABEL: func.func @light(
//       CHECK:   %[[P:.*]] = tensor.pad %arg0 low[0, 4, 0] high[0, 0, 0]
//       CHECK:   %[[X:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<?x?x2x4xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[WINDOW]], #[[HEADS]], {{.*}} ins(%[[X]], %arg1 :
//   CHECK-NOT:   convbert
func.func @light(%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.light_conv %x, %w {pads = array<i64: 4, 0>, dilation = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<2x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @columns(
//       CHECK:   %[[X:.*]] = tensor.expand_shape {{.*}} into tensor<?x?x4x2xf32>
//       CHECK:   linalg.generic {indexing_maps = [#[[WINDOW]], #[[COLUMNS]], {{.*}} ins(%[[X]], %arg1 :
//       CHECK:   arith.addf
func.func @columns(%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.light_conv %x, %w, %b {pads = array<i64: 4, 0>, dilation = 2 : i64, normalize = #convbert.norm<none>,
                                       head_map = #convbert.head_map<interleaved>}
    : (tensor<?x?x8xf32>, tensor<2x3xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Before the softmax what reads beyond an end is -inf, for each token, not for each sequence.
// CHECK-LABEL: func.func @renormalised(
//       CHECK:   %[[L:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<2x3xf32>) outs({{.*}} : tensor<?x2x3xf32>)
//       CHECK:     arith.cmpi ult
//       CHECK:     arith.select {{.*}} : f32
//       CHECK:   linalg.generic {{.*}} ins(%[[L]] :
//       CHECK:     arith.maxnumf
func.func @renormalised(%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x8xf32>, tensor<2x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// One exponential a branch, sequence and channel: none on tokens.
// CHECK-LABEL: func.func @branches(
//       CHECK:   %[[M:.*]] = linalg.generic {{.*}} ins(%arg2, %arg3 : tensor<?x8xf32>, tensor<?x8xf32>)
//       CHECK:   %[[E0:.*]] = linalg.generic {{.*}} ins(%arg2, %[[M]] :
//       CHECK:   %[[E1:.*]] = linalg.generic {{.*}} ins(%arg3, %[[M]] :
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} ins(%[[E0]], %[[E1]] :
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1, %[[E0]], %[[E1]], %[[S]] :
func.func @branches(%u: tensor<?x?x8xf32>, %v: tensor<?x?x8xf32>, %k: tensor<?x8xf32>, %l: tensor<?x8xf32>)
    -> tensor<?x?x8xf32> {
  %y = convbert.select_branches %u, %v by(%k, %l)
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// A token outside the mask may hold a NaN, and a sequence no token at all.
// CHECK-LABEL: func.func @masked_mean(
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<?x?x8xf32>, tensor<?x?xi1>)
//       CHECK:     arith.select
//       CHECK:     arith.addf
//       CHECK:   linalg.generic {{.*}} ins(%arg1 : tensor<?x?xi1>)
//       CHECK:   linalg.generic
//       CHECK:     arith.maximumf
//       CHECK:     arith.divf
func.func @masked_mean(%x: tensor<?x?x8xf32>, %m: tensor<?x?xi1>) -> tensor<?x8xf32> {
  %y = convbert.pool %x mask(%m) {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>, tensor<?x?xi1>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
