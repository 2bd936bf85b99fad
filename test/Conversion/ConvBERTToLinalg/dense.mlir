// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[E:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>

// CHECK-LABEL: func.func @plain
//  CHECK-SAME:   %[[ROWS:.*]]: tensor<?x4x?xf32>, %[[PANELS:.*]]: tensor<?x?x24xf32>, %[[BIAS:.*]]: tensor<?x24xf32>
//       CHECK:   %[[ZERO:.*]] = linalg.fill
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[W]], #[[C]]]
//  CHECK-SAME:     "parallel", "parallel", "parallel", "parallel", "reduction"
//  CHECK-SAME:     ins(%[[ROWS]], %[[PANELS]]
//  CHECK-SAME:     outs(%[[ZERO]]
//  CHECK-SAME:     {mm}
//       CHECK:   %[[RESULT:.*]] = linalg.generic {indexing_maps = [#[[E]], #[[B]], #[[E]]]
//  CHECK-SAME:     ins(%[[SUM]], %[[BIAS]]
//  CHECK-SAME:     {epi}
//       CHECK:     arith.addf
//  CHECK-NEXT:     linalg.yield
//       CHECK:   return %[[RESULT]]
func.func @plain(%rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xf32>, %bias: tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    attributes {convbert.kernel = "dense"} {
  %r = convbert.packed_dense %rows, %panels, %bias
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}

// The multiplier comes after the activation.
// CHECK-LABEL: func.func @relu_times
//  CHECK-SAME:   %[[M:[a-z0-9]+]]: tensor<?x8x?x48xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#[[E]], #[[B]], #[[E]], #[[E]]]
//  CHECK-SAME:     %[[M]]
//       CHECK:   ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[FACTOR:.*]]: f32, %{{.*}}: f32):
//       CHECK:     %[[CMP:.*]] = arith.cmpf ugt
//       CHECK:     %[[RELU:.*]] = arith.select %[[CMP]]
//       CHECK:     arith.mulf %[[RELU]], %[[FACTOR]]
func.func @relu_times(%rows: tensor<?x8x?xf32>, %panels: tensor<?x?x48xf32>, %bias: tensor<?x48xf32>,
                      %m: tensor<?x8x?x48xf32>) -> tensor<?x8x?x48xf32> attributes {convbert.kernel = "dense"} {
  %r = convbert.packed_dense %rows, %panels, %bias times %m {activation = #convbert.activation<relu>}
    : (tensor<?x8x?xf32>, tensor<?x?x48xf32>, tensor<?x48xf32>, tensor<?x8x?x48xf32>) -> tensor<?x8x?x48xf32>
  return %r : tensor<?x8x?x48xf32>
}

// Panels of bf16 are widened in a step of their own, which has none of the rows' dimensions.
// CHECK-LABEL: func.func @widen_first
//       CHECK:   %[[WIDE:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<?x?x24xbf16>) outs(%{{.*}} : tensor<?x?x24xf32>) attrs = {widen}
//       CHECK:     arith.extf
//       CHECK:   linalg.generic {indexing_maps = [#[[A]], #[[W]], #[[C]]]
//  CHECK-SAME:     ins(%{{.*}}, %[[WIDE]]
//  CHECK-SAME:     {mm}
func.func @widen_first(%rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xbf16>, %bias: tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    attributes {convbert.kernel = "dense"} {
  %r = convbert.packed_dense %rows, %panels, %bias {widen_first}
    : (tensor<?x4x?xf32>, tensor<?x?x24xbf16>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}

// The sum starts from the bias, and is the result.
// CHECK-LABEL: func.func @bias_first
//  CHECK-SAME:   %[[ROWS:.*]]: tensor<?x4x?xf32>, %[[PANELS:.*]]: tensor<?x?x24xf32>, %[[BIAS:.*]]: tensor<?x24xf32>
//   CHECK-NOT:   linalg.fill
//       CHECK:   %[[START:.*]] = linalg.generic {indexing_maps = [#[[B]], #[[E]]]
//  CHECK-SAME:     ins(%[[BIAS]]
//  CHECK-SAME:     {start}
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[W]], #[[C]]]
//  CHECK-SAME:     ins(%[[ROWS]], %[[PANELS]]
//  CHECK-SAME:     outs(%[[START]]
//  CHECK-SAME:     {mm}
//       CHECK:   return %[[SUM]]
func.func @bias_first(%rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xf32>, %bias: tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
    attributes {convbert.kernel = "dense_deep"} {
  %r = convbert.packed_dense %rows, %panels, %bias {bias_first}
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}
