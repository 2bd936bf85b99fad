// RUN: convbert-opt %s --convbert-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// Scores, masked scores and weights are one tensor, the operand: no other holds a panel.
// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
// CHECK-DAG: #[[S:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[P:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// CHECK-LABEL: func.func @tile
//  CHECK-SAME:   %[[Q0:[a-z0-9]+]]: tensor<8x64xf32>, %[[K0:[a-z0-9]+]]: tensor<?x64x16xf32>, %[[V0:[a-z0-9]+]]: tensor<?x16x64xf32>, %[[B:[a-z0-9]+]]: tensor<?x16xf32>, %[[SCORES:[a-z0-9]+]]: tensor<8x?x16xf32>
//   CHECK-NOT:   tensor.empty({{.+}})
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%[[B]] : {{.*}} outs(%[[SCORES]] : {{.*}} {bias}
//       CHECK:   %[[QK:.*]] = linalg.generic {indexing_maps = [#[[Q]], #[[K]], #[[S]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[Q0]], %[[K0]] : {{.*}} outs(%[[START]] : {{.*}} {qk}
//       CHECK:     math.fma
//       CHECK:   %[[LOWEST:.*]] = linalg.fill {{.*}} -> tensor<8x16xf32>
//       CHECK:   %[[MAXIMA:.*]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[QK]] : {{.*}} outs(%[[LOWEST]] : {{.*}} {panel_max}
//       CHECK:     arith.maxnumf
//       CHECK:   %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[MAXIMA]] : tensor<8x16xf32>) outs({{.*}} : tensor<8xf32>) attrs = {lane_max}
//       CHECK:   %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[MAX]] : tensor<8xf32>) outs(%[[QK]] : tensor<8x?x16xf32>) attrs = {exp}
//       CHECK:     arith.subf
//   CHECK-NOT:     math.exp
//       CHECK:   linalg.generic {{.*}} ins(%[[WEIGHTS]] : tensor<8x?x16xf32>) outs({{.*}} : tensor<8x16xf32>) attrs = {panel_sum}
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} {lane_sum}
//       CHECK:   %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : {{.*}} {factor}
//       CHECK:   %[[PV:.*]] = linalg.generic {indexing_maps = [#[[P]], #[[V]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[WEIGHTS]], %[[V0]] : {{.*}} {pv}
//       CHECK:   %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[PV]], %[[FACTOR]] : {{.*}} attrs = {scale, wide}
//       CHECK:   return %[[RESULT]]
func.func @tile(%q: tensor<8x64xf32>, %keys: tensor<?x64x16xf32>, %values: tensor<?x16x64xf32>, %bias: tensor<?x16xf32>,
                %scores: tensor<8x?x16xf32>) -> tensor<8x64xf32> attributes {convbert.kernel = "attention"} {
  %y = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores)
    : (tensor<8x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<8x?x16xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func.func @narrow
//       CHECK:   attrs = {narrow, scale}
func.func @narrow(%q: tensor<8x48xf32>, %keys: tensor<?x48x32xf32>, %values: tensor<?x32x48xf32>, %bias: tensor<?x32xf32>,
                  %scores: tensor<8x?x32xf32>) -> tensor<8x48xf32> attributes {convbert.kernel = "attention"} {
  %y = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores)
    : (tensor<8x48xf32>, tensor<?x48x32xf32>, tensor<?x32x48xf32>, tensor<?x32xf32>, tensor<8x?x32xf32>) -> tensor<8x48xf32>
  return %y : tensor<8x48xf32>
}

// -----

func.func @dynamic_rows(%q: tensor<?x64xf32>, %keys: tensor<?x64x16xf32>, %values: tensor<?x16x64xf32>, %bias: tensor<?x16xf32>,
                        %scores: tensor<?x?x16xf32>) -> tensor<?x64xf32> attributes {convbert.kernel = "attention"} {
  // expected-error @below {{failed to legalize operation 'convbert.attention_tile'}}
  %y = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores)
    : (tensor<?x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
