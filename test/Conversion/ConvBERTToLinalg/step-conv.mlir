// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[M_V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d2, d4)>
// CHECK-DAG: #[[M_TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[M_Y:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>

// The weight is transposed, the activation is not.
// CHECK-LABEL: func.func @depthwise
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<?x?x6xf32>, %[[W:[a-z0-9]+]]: tensor<6x9xf32>
//       CHECK:   %[[WT:.*]] = linalg.transpose ins(%[[W]] : tensor<6x9xf32>)
//       CHECK:   %[[P:.*]] = tensor.pad %[[X]] low[0, 5, 0] high[0, 3, 0]
//       CHECK:   linalg.depthwise_conv_1d_nwc_wc {{.*}} ins(%[[P]], %[[WT]] : tensor<?x?x6xf32>, tensor<9x6xf32>)
func.func @depthwise(%x: tensor<?x?x6xf32>, %w: tensor<6x9xf32>) -> tensor<?x?x6xf32> {
  %r = convbert.depthwise_conv1d %x, %w {pads = array<i64: 5, 3>}
    : (tensor<?x?x6xf32>, tensor<6x9xf32>) -> tensor<?x?x6xf32>
  return %r : tensor<?x?x6xf32>
}

// Nothing to transpose and nothing to pad.
// CHECK-LABEL: func.func @in_out
//   CHECK-NOT:   linalg.transpose
//   CHECK-NOT:   tensor.pad
//       CHECK:   linalg.depthwise_conv_1d_nwc_wc {{.*}} ins(%arg0, %arg1 : tensor<2x?x6xbf16>, tensor<1x6xbf16>) outs({{.*}} : tensor<2x?x6xf32>)
//       CHECK:   arith.truncf
func.func @in_out(%x: tensor<2x?x6xbf16>, %w: tensor<1x6xbf16>) -> tensor<2x?x6xbf16> {
  %r = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>, layout = #convbert.layout<in_out>}
    : (tensor<2x?x6xbf16>, tensor<1x6xbf16>) -> tensor<2x?x6xbf16>
  return %r : tensor<2x?x6xbf16>
}

// Logits are split in heads without a copy; the softmax over the taps works in place.
// CHECK-LABEL: func.func @kernel
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 :
//       CHECK:   %[[LOGITS:.*]] = tensor.expand_shape %[[SUM]] {{.*}} : tensor<?x?x15xf32> into tensor<?x?x3x5xf32>
//       CHECK:   %[[MAX:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[LOGITS]] :
//       CHECK:     arith.maxnumf
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[LOGITS]], %[[MAX]] : {{.*}} outs(%[[LOGITS]] :
//       CHECK:     arith.subf
//       CHECK:   %[[TOTAL:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[E]] :
//       CHECK:   %[[TAPS:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[TOTAL]] : {{.*}} outs(%[[E]] :
//       CHECK:     arith.divf
//       CHECK:   return %[[TAPS]]
func.func @kernel(%q: tensor<?x?x6xf32>, %w: tensor<15x6xf32>, %b: tensor<15xf32>) -> tensor<?x?x3x5xf32> {
  %r = convbert.dynamic_kernel %q, %w, %b {heads = 3 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x6xf32>, tensor<15x6xf32>, tensor<15xf32>) -> tensor<?x?x3x5xf32>
  return %r : tensor<?x?x3x5xf32>
}

// Windows are read from the padded copy, never written down.
// CHECK-LABEL: func.func @apply
//  CHECK-SAME:   %[[V:[a-z0-9]+]]: tensor<?x?x12xf32>, %[[T:[a-z0-9]+]]: tensor<?x?x3x5xf32>
//       CHECK:   %[[P:.*]] = tensor.pad %[[V]] low[0, 2, 0] high[0, 2, 0]
//       CHECK:   %[[PH:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<?x?x3x4xf32>
//       CHECK:   %[[Y:.*]] = linalg.generic {indexing_maps = [#[[M_V]], #[[M_TAPS]], #[[M_Y]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%[[PH]], %[[T]] :
//       CHECK:   tensor.collapse_shape %[[Y]] {{.*}} into tensor<?x?x12xf32>
//   CHECK-NOT:   linalg
//       CHECK:   return
func.func @apply(%v: tensor<?x?x12xf32>, %t: tensor<?x?x3x5xf32>) -> tensor<?x?x12xf32> {
  %r = convbert.apply_kernel %v, %t {pads = array<i64: 2, 2>, normalize = #convbert.norm<none>}
    : (tensor<?x?x12xf32>, tensor<?x?x3x5xf32>) -> tensor<?x?x12xf32>
  return %r : tensor<?x?x12xf32>
}

// The logits are an operand: their softmax has a tensor of its own.
// CHECK-LABEL: func.func @apply_softmax
//       CHECK:   %[[EMPTY:.*]] = tensor.empty({{.*}}) : tensor<?x?x3x5xf32>
//       CHECK:   linalg.generic {{.*}} ins(%arg1, %{{.*}} : {{.*}} outs(%[[EMPTY]] : tensor<?x?x3x5xf32>)
//       CHECK:   linalg.generic {indexing_maps = [#[[M_V]], #[[M_TAPS]], #[[M_Y]]]
func.func @apply_softmax(%v: tensor<?x?x12xf32>, %t: tensor<?x?x3x5xf32>) -> tensor<?x?x12xf32> {
  %r = convbert.apply_kernel %v, %t {pads = array<i64: 4, 0>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x12xf32>, tensor<?x?x3x5xf32>) -> tensor<?x?x12xf32>
  return %r : tensor<?x?x12xf32>
}
