// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[M_Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[M_K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-DAG: #[[M_S:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[M_KEY:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>

// CHECK-LABEL: func.func @bias
//       CHECK:   %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
//       CHECK:   linalg.generic {{.*}} ins(%arg0 : tensor<?x?xi1>) outs({{.*}} : tensor<?x?xf32>)
//       CHECK:     arith.select %{{.*}}, %{{.*}}, %[[LOWEST]]
func.func @bias(%mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %r = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Heads are a dimension of both products; scale and bias, exponential and quotient replace the scores in place.
// CHECK-LABEL: func.func @attention
//   CHECK-DAG:   %[[SCALE:.*]] = arith.constant 5.000000e-01
//       CHECK:   %[[QH:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<?x?x3x4xf32>
//       CHECK:   %[[KH:.*]] = tensor.expand_shape %arg1 {{.*}} into tensor<?x?x3x4xf32>
//       CHECK:   %[[VH:.*]] = tensor.expand_shape %arg2 {{.*}} into tensor<?x?x3x2xf32>
//       CHECK:   %[[X:.*]] = linalg.generic {indexing_maps = [#[[M_Q]], #[[M_K]], #[[M_S]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[QH]], %[[KH]] :
//       CHECK:   %[[M:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[M_KEY]], #{{.*}}], {{.*}} ins(%[[X]], %arg3 : {{.*}} outs(%[[X]] : tensor<?x3x?x?xf32>)
//       CHECK:     %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
//  CHECK-NEXT:     arith.addf %[[SCALED]]
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[M]] :
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[M]], %{{.*}} : {{.*}} outs(%[[M]] :
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[E]] :
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[E]], %{{.*}} : {{.*}} outs(%[[E]] :
//       CHECK:   %[[Y:.*]] = linalg.generic {indexing_maps = [#[[M_S]], #[[M_K]], #[[M_Q]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%[[P]], %[[VH]] :
//       CHECK:   tensor.collapse_shape %[[Y]] {{.*}} into tensor<?x?x6xf32>
func.func @attention(%q: tensor<?x?x12xf32>, %k: tensor<?x?x12xf32>, %v: tensor<?x?x6xf32>, %b: tensor<?x?xf32>)
    -> tensor<?x?x6xf32> {
  %r = convbert.self_attention %q, %k, %v bias(%b) {heads = 3 : i64, scale = 0.5 : f64}
    : (tensor<?x?x12xf32>, tensor<?x?x12xf32>, tensor<?x?x6xf32>, tensor<?x?xf32>) -> tensor<?x?x6xf32>
  return %r : tensor<?x?x6xf32>
}

// Without scale and bias the scores go straight to the softmax; f16 scores are f32, and so is the mask.
// CHECK-LABEL: func.func @plain
//       CHECK:   %[[X:.*]] = linalg.generic {indexing_maps = [#[[M_Q]], #[[M_K]], #[[M_S]]]
//  CHECK-SAME:     outs({{.*}} : tensor<?x1x?x?xf32>)
//       CHECK:   linalg.generic {{.*}}"reduction"]} ins(%[[X]] :
//       CHECK:     arith.maxnumf
func.func @plain(%q: tensor<?x?x4xf16>) -> tensor<?x?x4xf16> {
  %r = convbert.self_attention %q, %q, %q {heads = 1 : i64, scale = 1.0 : f64}
    : (tensor<?x?x4xf16>, tensor<?x?x4xf16>, tensor<?x?x4xf16>) -> tensor<?x?x4xf16>
  return %r : tensor<?x?x4xf16>
}
