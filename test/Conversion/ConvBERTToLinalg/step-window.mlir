// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 3 + d4 * 2, d2, d5)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d5, d4)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[SEQUENCES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d5, d2, d3)>
// CHECK-DAG: #[[LENGTH:.*]] = affine_map<()[s0] -> ((s0 - 2) floordiv 3 + 1)>

// One operation reads the windows from the padded copy and the weight as it lies.
// CHECK-LABEL: func.func @conv
//       CHECK:   %[[P:.*]] = tensor.pad %arg0 low[0, 2, 0] high[0, 1, 0]
//       CHECK:   %[[XG:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<?x?x4x2xf32>
//       CHECK:   %[[WG:.*]] = tensor.expand_shape %arg1 {{.*}} : tensor<12x2x3xf32> into tensor<4x3x2x3xf32>
//       CHECK:   %[[BG:.*]] = tensor.expand_shape %arg2 {{.*}} : tensor<12xf32> into tensor<4x3xf32>
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%[[BG]] :
//       CHECK:   %[[R:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[XG]], %[[WG]] : {{.*}} outs(%[[START]] :
//       CHECK:   tensor.collapse_shape %[[R]] {{.*}} into tensor<?x?x12xf32>
//   CHECK-NOT:   linalg
//       CHECK:   return
func.func @conv(%x: tensor<?x?x8xf32>, %w: tensor<12x2x3xf32>, %b: tensor<12xf32>) -> tensor<?x?x12xf32> {
  %y = convbert.conv1d %x, %w, %b {dilation = 2 : i64, groups = 4 : i64, pads = array<i64: 2, 1>, stride = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<12x2x3xf32>, tensor<12xf32>) -> tensor<?x?x12xf32>
  return %y : tensor<?x?x12xf32>
}

// The result has as many tokens as the window has places.
// CHECK-LABEL: func.func @length
//       CHECK:   %[[T:.*]] = tensor.dim %arg0, %c1
//       CHECK:   affine.apply #[[LENGTH]]()[%[[T]]]
func.func @length(%x: tensor<2x?x8xf32>, %w: tensor<4x8x3xf32>) -> tensor<2x?x4xf32> {
  %y = convbert.conv1d %x, %w {dilation = 2 : i64, pads = array<i64: 2, 1>, stride = 3 : i64}
    : (tensor<2x?x8xf32>, tensor<4x8x3xf32>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}

// Weights of each sequence; sums of f16 are those of f32.
// CHECK-LABEL: func.func @sequences
//   CHECK-NOT:   tensor.pad
//       CHECK:   linalg.generic {indexing_maps = [#{{.*}}, #[[SEQUENCES]], #[[Y]]], {{.*}} outs({{.*}} : tensor<?x?x2x2xf32>)
//       CHECK:     arith.extf
//       CHECK:   arith.truncf
func.func @sequences(%x: tensor<?x?x8xf16>, %w: tensor<?x3x4x4xf16>) -> tensor<?x?x4xf16> {
  %y = convbert.conv1d %x, %w {groups = 2 : i64, layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf16>, tensor<?x3x4x4xf16>) -> tensor<?x?x4xf16>
  return %y : tensor<?x?x4xf16>
}

// Several filters a channel, from the bias.
// CHECK-LABEL: func.func @filters
//       CHECK:   %[[WT:.*]] = linalg.transpose ins(%arg1 : tensor<16x3xf32>)
//       CHECK:   %[[P:.*]] = tensor.pad %arg0 low[0, 4, 0] high[0, 0, 0]
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<16xf32>)
//       CHECK:   linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<2> : vector<1xi64>, strides = dense<3> : vector<1xi64>} ins(%[[P]], %{{.*}} : tensor<?x?x8xf32>, tensor<3x8x2xf32>)
//       CHECK:   tensor.collapse_shape {{.*}} into tensor<?x?x16xf32>
func.func @filters(%x: tensor<?x?x8xf32>, %w: tensor<16x3xf32>, %b: tensor<16xf32>) -> tensor<?x?x16xf32> {
  %y = convbert.depthwise_conv1d %x, %w, %b {dilation = 2 : i64, pads = array<i64: 4, 0>, stride = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<16x3xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  return %y : tensor<?x?x16xf32>
}

// The root of each feature once, in f32.
// CHECK-LABEL: func.func @narrow_batch_norm
//       CHECK:   %[[SCALE:.*]] = linalg.generic {{.*}} ins(%arg1, %arg1 : tensor<8xf16>, tensor<8xf16>) outs({{.*}} : tensor<8xf32>)
//       CHECK:     math.sqrt
//       CHECK:   linalg.generic {{.*}} ins(%arg0, %arg1, %[[SCALE]], %arg1 : {{.*}} outs({{.*}} : tensor<?x?x8xf16>)
//   CHECK-NOT:   math.sqrt
//       CHECK:   return
func.func @narrow_batch_norm(%x: tensor<?x?x8xf16>, %v: tensor<8xf16>) -> tensor<?x?x8xf16> {
  %y = convbert.batch_norm %x, %v, %v, %v, %v {eps = 1.0e-03 : f64}
    : (tensor<?x?x8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<?x?x8xf16>
  return %y : tensor<?x?x8xf16>
}

// CHECK-LABEL: func.func @softmax
//       CHECK:   %[[CST:.*]] = arith.constant 3.000000e+01 : f32
//       CHECK:     arith.divf %{{.*}}, %[[CST]]
//       CHECK:     arith.maxnumf
func.func @softmax(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = convbert.softmax %x {temperature = 3.0e+01 : f64} : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @weighted_sum
//       CHECK:   %[[BLOCKS:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<?x?x4x2xf32>
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%[[BLOCKS]], %arg1 :
func.func @weighted_sum(%x: tensor<?x?x8xf32>, %p: tensor<?x4xf32>) -> tensor<?x?x2xf32> {
  %y = convbert.weighted_sum %x, %p : (tensor<?x?x8xf32>, tensor<?x4xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}
