// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Bodies of outlined kernels: each form parses, prints, and comes back from the generic form and from bytecode.

// CHECK-LABEL: func.func @weight_view(
// CHECK:         convbert.weight_view %arg0
func.func @weight_view(%packed: tensor<128x768x24xf32>) -> tensor<3072x768xf32> {
  %w = convbert.weight_view %packed : (tensor<128x768x24xf32>) -> tensor<3072x768xf32>
  return %w : tensor<3072x768xf32>
}

// CHECK-LABEL: func.func @packed_dense(
// CHECK:         convbert.packed_dense %arg0, %arg1, %arg2 {activation = #convbert.activation<gelu>}
func.func @packed_dense(
    %rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xf32>, %bias: tensor<?x24xf32>)
    -> tensor<?x4x?x24xf32> {
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>}
      : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}

// CHECK-LABEL: func.func @norm_tile(
// CHECK:         convbert.norm_tile %arg0(%arg1, %arg2) {eps = {{.*}} : f64, width = 768 : i64}
func.func @norm_tile(%params: tensor<2x768xf32>, %x: tensor<768xf32>, %residual: tensor<768xf32>) -> tensor<768xf32> {
  %y = convbert.norm_tile %params (%x, %residual) {eps = 1.0e-12 : f64, width = 768 : i64}
      : (tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<768xf32>
  return %y : tensor<768xf32>
}

// CHECK-LABEL: func.func @depthwise_tile_bias(
// CHECK:         convbert.depthwise_tile %arg0, %arg1, %arg2 : (tensor<12x32xf32>, tensor<9x32xf32>, tensor<32xf32>)
func.func @depthwise_tile_bias(%x: tensor<12x32xf32>, %taps: tensor<9x32xf32>, %bias: tensor<32xf32>)
    -> tensor<4x32xf32> {
  %y = convbert.depthwise_tile %x, %taps, %bias
      : (tensor<12x32xf32>, tensor<9x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// CHECK-LABEL: func.func @depthwise_tile(
// CHECK:         convbert.depthwise_tile %arg0, %arg1
func.func @depthwise_tile(%x: tensor<12x32xf32>, %taps: tensor<9x32xf32>) -> tensor<4x32xf32> {
  %y = convbert.depthwise_tile %x, %taps : (tensor<12x32xf32>, tensor<9x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// CHECK-LABEL: func.func @span_tile(
// CHECK:         convbert.span_tile %arg0, %arg1
func.func @span_tile(%logits: tensor<4x9x8xf32>, %v: tensor<12x6x64xf32>) -> tensor<4x6x64xf32> {
  %y = convbert.span_tile %logits, %v : (tensor<4x9x8xf32>, tensor<12x6x64xf32>) -> tensor<4x6x64xf32>
  return %y : tensor<4x6x64xf32>
}

// CHECK-LABEL: func.func @attention_tile(
// CHECK:         convbert.attention_tile %arg0, %arg1, %arg2, %arg3 scratch(%arg4)
func.func @attention_tile(
    %q: tensor<8x64xf32>, %keys: tensor<?x64x16xf32>, %values: tensor<?x16x64xf32>, %bias: tensor<?x16xf32>,
    %scores: tensor<8x?x16xf32>)
    -> tensor<8x64xf32> {
  %y = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores)
      : (tensor<8x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<8x?x16xf32>)
        -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @attention_tile_maps(
// CHECK:         convbert.attention_tile %arg0, %arg1, %arg2, %arg3 scratch(%arg4) times(%arg5) {with_probabilities} :
// CHECK-SAME:      -> (tensor<8x64xf32>, tensor<8x?x16xf32>)
func.func @attention_tile_maps(
    %q: tensor<8x64xf32>, %keys: tensor<?x64x16xf32>, %values: tensor<?x16x64xf32>, %bias: tensor<?x16xf32>,
    %scores: tensor<8x?x16xf32>, %m: f32) {
  %y, %p = convbert.attention_tile %q, %keys, %values, %bias scratch(%scores) times(%m) {with_probabilities}
      : (tensor<8x64xf32>, tensor<?x64x16xf32>, tensor<?x16x64xf32>, tensor<?x16xf32>, tensor<8x?x16xf32>, f32)
        -> (tensor<8x64xf32>, tensor<8x?x16xf32>)
  return
}

// CHECK-LABEL: func.func @span_tile_maps(
// CHECK:         convbert.span_tile %arg0, %arg1 {with_taps} :
// CHECK-SAME:      -> (tensor<4x6x64xf32>, tensor<4x9x8xf32>)
func.func @span_tile_maps(%logits: tensor<4x9x8xf32>, %v: tensor<12x6x64xf32>) {
  %y, %a = convbert.span_tile %logits, %v {with_taps}
      : (tensor<4x9x8xf32>, tensor<12x6x64xf32>) -> (tensor<4x6x64xf32>, tensor<4x9x8xf32>)
  return
}

// Several packed tensors for one weight (groups), one packed tensor for two weights (gamma and beta).
// CHECK-LABEL: func.func @weight_views(
// CHECK:         convbert.weight_view %arg0, %arg0 : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x6xf32>
// CHECK:         convbert.weight_view %arg1 : (tensor<2x16xf32>) -> (tensor<10xf32>, tensor<10xf32>)
func.func @weight_views(%g: tensor<1x4x8xf32>, %n: tensor<2x16xf32>) {
  %w = convbert.weight_view %g, %g : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<2x4x6xf32>
  %gamma, %beta = convbert.weight_view %n : (tensor<2x16xf32>) -> (tensor<10xf32>, tensor<10xf32>)
  return
}

// CHECK-LABEL: func.func @packed_dense_bias_first(
// CHECK: convbert.packed_dense %{{.*}}, %{{.*}}, %{{.*}} {bias_first} :
func.func @packed_dense_bias_first(%rows: tensor<3x4x8xf32>, %panels: tensor<2x8x24xf32>, %bias: tensor<2x24xf32>) {
  %r = convbert.packed_dense %rows, %panels, %bias {bias_first}
    : (tensor<3x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>) -> tensor<3x4x2x24xf32>
  return
}

// CHECK-LABEL: func.func @packed_dense_widen_first(
// CHECK: convbert.packed_dense %{{.*}}, %{{.*}}, %{{.*}} {widen_first} :
func.func @packed_dense_widen_first(%rows: tensor<3x4x8xf32>, %panels: tensor<2x8x24xbf16>, %bias: tensor<2x24xf32>) {
  %r = convbert.packed_dense %rows, %panels, %bias {widen_first}
    : (tensor<3x4x8xf32>, tensor<2x8x24xbf16>, tensor<2x24xf32>) -> tensor<3x4x2x24xf32>
  return
}

// CHECK-LABEL: func.func @packed_dense_times(
// CHECK:         convbert.packed_dense %arg0, %arg1, %arg2 times %arg3 :
func.func @packed_dense_times(%rows: tensor<3x4x8xf32>, %panels: tensor<2x8x24xf32>, %bias: tensor<2x24xf32>,
                              %m: tensor<3x4x2x24xf32>) -> tensor<3x4x2x24xf32> {
  %r = convbert.packed_dense %rows, %panels, %bias times %m
    : (tensor<3x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>, tensor<3x4x2x24xf32>) -> tensor<3x4x2x24xf32>
  return %r : tensor<3x4x2x24xf32>
}

// Extents that are not known stay unknown in the result.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         -> tensor<?x32xf32>
// CHECK:         -> tensor<?x32xf32>
// CHECK:         -> tensor<?x6x?xf32>
// CHECK:         -> tensor<?x?xf32>
func.func @dynamic(%x: tensor<?x32xf32>, %taps: tensor<9x?xf32>, %y: tensor<12x32xf32>, %any: tensor<?x32xf32>,
                   %logits: tensor<?x?x?xf32>, %v: tensor<?x6x?xf32>, %q: tensor<?x64xf32>, %k: tensor<?x64x?xf32>,
                   %values: tensor<?x?x?xf32>, %bias: tensor<?x?xf32>) {
  %0 = convbert.depthwise_tile %x, %taps : (tensor<?x32xf32>, tensor<9x?xf32>) -> tensor<?x32xf32>
  %1 = convbert.depthwise_tile %y, %any : (tensor<12x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %2 = convbert.span_tile %logits, %v : (tensor<?x?x?xf32>, tensor<?x6x?xf32>) -> tensor<?x6x?xf32>
  %3 = convbert.attention_tile %q, %k, %values, %bias scratch(%logits)
    : (tensor<?x64xf32>, tensor<?x64x?xf32>, tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?xf32>
  return
}
