// RUN: convbert-opt %s --convbert-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// The softmax has all 8 heads of the logits, the convolution the 6 of `v`.
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d3, d1, d2)>
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @tile
//  CHECK-SAME:   %[[L:[a-z0-9]+]]: tensor<4x9x8xf32>, %[[V0:[a-z0-9]+]]: tensor<12x6x64xf32>
//       CHECK:   %[[MAX:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[L]] : {{.*}} outs({{.*}} : tensor<4x8xf32>) attrs = {tap_reduction}
//       CHECK:     arith.maxnumf
//       CHECK:   %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[L]], %[[MAX]] : {{.*}} {tap_elementwise}
//   CHECK-NOT:     math.exp
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]] : {{.*}} {tap_reduction}
//       CHECK:   %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : {{.*}} {tap_factor}
//       CHECK:   %[[SOFTMAX:.*]] = linalg.generic {{.*}} ins(%[[EXP]], %[[FACTOR]] : {{.*}} outs({{.*}} : tensor<4x9x8xf32>) attrs = {softmax}
//       CHECK:   %[[WEIGHTS:.*]] = tensor.extract_slice %[[SOFTMAX]][0, 0, 0] [4, 9, 6] [1, 1, 1]
//       CHECK:   %[[RESULT:.*]] = linalg.generic {indexing_maps = [#[[V]], #[[A]], #[[Y]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[V0]], %[[WEIGHTS]] : {{.*}} attrs = {conv, wide}
//       CHECK:     math.fma
//       CHECK:   return %[[RESULT]]
func.func @tile(%logits: tensor<4x9x8xf32>, %v: tensor<12x6x64xf32>) -> tensor<4x6x64xf32> attributes {convbert.kernel = "span"} {
  %y = convbert.span_tile %logits, %v : (tensor<4x9x8xf32>, tensor<12x6x64xf32>) -> tensor<4x6x64xf32>
  return %y : tensor<4x6x64xf32>
}

// -----

// CHECK-LABEL: func.func @narrow
//       CHECK:   attrs = {conv, narrow}
func.func @narrow(%logits: tensor<4x9x8xf32>, %v: tensor<12x2x48xf32>) -> tensor<4x2x48xf32> attributes {convbert.kernel = "span"} {
  %y = convbert.span_tile %logits, %v : (tensor<4x9x8xf32>, tensor<12x2x48xf32>) -> tensor<4x2x48xf32>
  return %y : tensor<4x2x48xf32>
}

// -----

func.func @dynamic_columns(%logits: tensor<4x9x8xf32>, %v: tensor<12x2x?xf32>) -> tensor<4x2x?xf32> attributes {convbert.kernel = "span"} {
  // expected-error @below {{failed to legalize operation 'convbert.span_tile'}}
  %y = convbert.span_tile %logits, %v : (tensor<4x9x8xf32>, tensor<12x2x?xf32>) -> tensor<4x2x?xf32>
  return %y : tensor<4x2x?xf32>
}
