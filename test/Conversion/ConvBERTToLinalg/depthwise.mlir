// RUN: convbert-opt %s --convbert-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @tile
//  CHECK-SAME:   %[[X0:[a-z0-9]+]]: tensor<12x32xf32>, %[[W0:[a-z0-9]+]]: tensor<9x32xf32>
//       CHECK:   %[[ZERO:.*]] = linalg.fill
//       CHECK:   %[[RESULT:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X0]], %[[W0]] : {{.*}} outs(%[[ZERO]] : tensor<4x32xf32>) attrs = {conv}
//       CHECK:     math.fma
//       CHECK:   return %[[RESULT]]
func.func @tile(%x: tensor<12x32xf32>, %taps: tensor<9x32xf32>) -> tensor<4x32xf32> attributes {convbert.kernel = "depthwise"} {
  %y = convbert.depthwise_tile %x, %taps : (tensor<12x32xf32>, tensor<9x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

func.func @dynamic_channels(%x: tensor<12x?xf32>, %taps: tensor<9x?xf32>) -> tensor<4x?xf32> attributes {convbert.kernel = "depthwise"} {
  // expected-error @below {{failed to legalize operation 'convbert.depthwise_tile'}}
  %y = convbert.depthwise_tile %x, %taps : (tensor<12x?xf32>, tensor<9x?xf32>) -> tensor<4x?xf32>
  return %y : tensor<4x?xf32>
}
