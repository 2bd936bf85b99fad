// RUN: convbert-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<()[s0] -> ((s0 - 2) floordiv 3 + 1)>
// CHECK-DAG: #[[$LONGER:.*]] = affine_map<()[s0] -> (s0 + 2)>

// Sizes of results rest on the sizes of inputs: batch and length are those of operand 0, the rest is known.

// A chain of steps.
// CHECK-LABEL: func.func @chain(
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[B:.*]] = tensor.dim %arg0, %[[C0]]
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg0, %[[C1]]
// CHECK-NOT:     convbert
// CHECK:         return %[[B]], %[[T]], %[[C4]]
func.func @chain(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %wg: tensor<2x4x4xf32>, %g: tensor<8xf32>)
    -> (index, index, index) {
  %0 = convbert.grouped_dense %x, %wg : (tensor<?x?x8xf32>, tensor<2x4x4xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.activation %0 {kind = #convbert.activation<gelu>} : tensor<?x?x8xf32>
  %2 = convbert.layer_norm %1 residual(%x), %g, %g {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.dense %2, %w : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %3, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %3, %c1 : tensor<?x?x4xf32>
  %f = tensor.dim %3, %c2 : tensor<?x?x4xf32>
  return %b, %t, %f : index, index, index
}

// CHECK-LABEL: func.func @convolutions(
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg0, %{{.*}} : tensor<3x?x8xf32>
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-NOT:     convbert
// CHECK:         return %[[C3]], %[[T]], %[[C2]], %[[T]]
func.func @convolutions(%x: tensor<3x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>, %wf: tensor<6x4xf32>)
    -> (index, index, index, index) {
  %0 = convbert.depthwise_conv1d %x, %wd {pads = array<i64: 1, 1>}
    : (tensor<3x?x8xf32>, tensor<8x3xf32>) -> tensor<3x?x8xf32>
  %1 = convbert.separable_conv1d %0, %wd, %wp {pads = array<i64: 1, 1>}
    : (tensor<3x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<3x?x4xf32>
  %2 = convbert.dynamic_kernel %1, %wf {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<3x?x4xf32>, tensor<6x4xf32>) -> tensor<3x?x2x3xf32>
  %3 = convbert.apply_kernel %1, %2 {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<3x?x4xf32>, tensor<3x?x2x3xf32>) -> tensor<3x?x4xf32>
  %4 = convbert.span_dynamic_conv %1, %1, %3, %wf {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<3x?x4xf32>, tensor<3x?x4xf32>, tensor<3x?x4xf32>, tensor<6x4xf32>) -> tensor<3x?x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %4, %c0 : tensor<3x?x4xf32>
  %t = tensor.dim %4, %c1 : tensor<3x?x4xf32>
  %h = tensor.dim %2, %c2 : tensor<3x?x2x3xf32>
  %u = tensor.dim %2, %c1 : tensor<3x?x2x3xf32>
  return %b, %t, %h, %u : index, index, index, index
}

// A window changes the number of tokens: floor((T + 2 + 1 - 2 * 2 - 1) / 3) + 1 of T.
// CHECK-LABEL: func.func @windows(
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg0, %{{.*}} : tensor<2x?x8xf32>
// CHECK-DAG:     %[[A:.*]] = affine.apply #[[$WINDOW]]()[%[[T]]]
// CHECK-DAG:     %[[D:.*]] = affine.apply #[[$LONGER]]()[%[[T]]]
// CHECK-NOT:     convbert
// CHECK:         return %{{.*}}, %[[A]], %{{.*}}, %[[D]], %[[A]], %[[T]], %{{.*}}
func.func @windows(%x: tensor<2x?x8xf32>, %w: tensor<4x8x3xf32>, %d: tensor<16x3xf32>, %f1: tensor<2x8xf32>,
    %f2: tensor<3x2xf32>, %k: tensor<3x4x8x3xf32>, %v: tensor<8xf32>, %p: tensor<2x2xf32>)
    -> (index, index, index, index, index, index, index) {
  %0 = convbert.conv1d %x, %w {dilation = 2 : i64, pads = array<i64: 2, 1>, stride = 3 : i64}
    : (tensor<2x?x8xf32>, tensor<4x8x3xf32>) -> tensor<2x?x4xf32>
  %1 = convbert.depthwise_conv1d %x, %d {pads = array<i64: 2, 2>}
    : (tensor<2x?x8xf32>, tensor<16x3xf32>) -> tensor<2x?x16xf32>
  %2 = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%k)
         {dilation = 2 : i64, pads = array<i64: 2, 1>, stride = 3 : i64}
    : (tensor<2x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x4x8x3xf32>) -> tensor<2x?x4xf32>
  %3 = convbert.batch_norm %x, %v, %v, %v, %v {eps = 0.0 : f64}
    : (tensor<2x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  %4 = convbert.weighted_sum %3, %p : (tensor<2x?x8xf32>, tensor<2x2xf32>) -> tensor<2x?x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %b0 = tensor.dim %0, %c0 : tensor<2x?x4xf32>
  %t0 = tensor.dim %0, %c1 : tensor<2x?x4xf32>
  %f0 = tensor.dim %0, %c2 : tensor<2x?x4xf32>
  %t1 = tensor.dim %1, %c1 : tensor<2x?x16xf32>
  %t2 = tensor.dim %2, %c1 : tensor<2x?x4xf32>
  %t4 = tensor.dim %4, %c1 : tensor<2x?x4xf32>
  %f4 = tensor.dim %4, %c2 : tensor<2x?x4xf32>
  return %b0, %t0, %f0, %t1, %t2, %t4, %f4 : index, index, index, index, index, index, index
}

// Where the query is static and the values are not, the sizes of both are known.
// CHECK-LABEL: func.func @static_query(
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK:         return %[[C2]], %[[C5]]
func.func @static_query(%q: tensor<2x5x4xf32>, %v: tensor<?x?x8xf32>, %wf: tensor<6x4xf32>) -> (index, index) {
  %y = convbert.span_dynamic_conv %q, %q, %v, %wf {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<?x?x8xf32>, tensor<6x4xf32>) -> tensor<?x?x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %y, %c0 : tensor<?x?x8xf32>
  %t = tensor.dim %y, %c1 : tensor<?x?x8xf32>
  return %b, %t : index, index
}

// CHECK-LABEL: func.func @attention(
// CHECK-DAG:     %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg1, %c1
// CHECK-NOT:     convbert
// CHECK:         return %[[B]], %[[T]]
func.func @attention(%q: tensor<?x?x4xf32>, %mask: tensor<?x?xi1>) -> (index, index) {
  %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?xf32>) -> tensor<?x?x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %y, %c0 : tensor<?x?x4xf32>
  %t = tensor.dim %bias, %c1 : tensor<?x?xf32>
  return %b, %t : index, index
}

// From ids to logits through blocks.
// CHECK-LABEL: func.func @blocks(
// CHECK-DAG:     %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg0, %c1
// CHECK-NOT:     convbert
// CHECK:         return %[[B]], %[[T]], %[[B]], %[[T]], %[[B]], %[[B]], %[[B]]
func.func @blocks(%ids: tensor<?x?xi64>, %table: tensor<9x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>,
                  %wd: tensor<8x3xf32>, %wf: tensor<6x8xf32>, %bf: tensor<6xf32>, %wo: tensor<8x16xf32>,
                  %w2: tensor<2x8xf32>, %b2: tensor<2xf32>, %w1: tensor<1x8xf32>, %b1: tensor<1xf32>)
    -> (index, index, index, index, index, index, index) {
  %0 = convbert.embeddings %ids, %ids, %ids tables(%table, %table, %table) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.mixed_attention %0 query(%w, %g) key(%w, %g) value(%w, %g) span(%wd, %w, %g) kernel(%wf, %bf)
         conv(%w, %g) output(%wo, %g) {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<8x8xf32>, tensor<8xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.feed_forward %1, %w, %g, %w, %g {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.lm_head %2, %w, %g, %g, %g, %w2, %b2 {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<2x8xf32>,
       tensor<2xf32>) -> tensor<?x?x2xf32>
  %4 = convbert.token_head %2, %w2, %b2 : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %start, %end = convbert.span_head %2, %w2, %b2
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %5 = convbert.classifier_head %2, %w, %g, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %6 = convbert.choice_head %2, %w1, %b1 {summary = #convbert.pool<last>}
    : (tensor<?x?x8xf32>, tensor<1x8xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %7 = convbert.pool %2 {kind = #convbert.pool<first>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b3 = tensor.dim %3, %c0 : tensor<?x?x2xf32>
  %t4 = tensor.dim %4, %c1 : tensor<?x?x2xf32>
  %bs = tensor.dim %start, %c0 : tensor<?x?xf32>
  %te = tensor.dim %end, %c1 : tensor<?x?xf32>
  %b5 = tensor.dim %5, %c0 : tensor<?x2xf32>
  %b6 = tensor.dim %6, %c0 : tensor<?x1xf32>
  %b7 = tensor.dim %7, %c0 : tensor<?x8xf32>
  return %b3, %t4, %bs, %te, %b5, %b6, %b7 : index, index, index, index, index, index, index
}

// Probabilities have the length of the query and that of the keys.
// CHECK-LABEL: func.func @probabilities(
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x8xf32>, %[[K:.*]]: tensor<?x?x8xf32>)
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG:     %[[TQ:.*]] = tensor.dim %[[Q]], %c1
// CHECK-DAG:     %[[TK:.*]] = tensor.dim %[[K]], %c1
// CHECK-NOT:     convbert
// CHECK:         return %[[B]], %c2, %[[TQ]], %[[TK]]
func.func @probabilities(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>) -> (index, index, index, index) {
  %y, %p = convbert.self_attention %q, %k, %k {heads = 2 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %p, %c0 : tensor<?x2x?x?xf32>
  %1 = tensor.dim %p, %c1 : tensor<?x2x?x?xf32>
  %2 = tensor.dim %p, %c2 : tensor<?x2x?x?xf32>
  %3 = tensor.dim %p, %c3 : tensor<?x2x?x?xf32>
  return %0, %1, %2, %3 : index, index, index, index
}

// CHECK-LABEL: func.func @maps(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[T:.*]] = tensor.dim %[[X]], %c1
// CHECK-NOT:     convbert
// CHECK:         return %[[T]], %[[B]], %[[T]], %[[T]], %[[B]], %[[T]]
func.func @maps(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<3x8xf32>, %bf: tensor<3xf32>, %wo: tensor<8x16xf32>)
    -> (index, index, index, index, index, index) {
  %y, %p, %k = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         output(%wo, %b)
         {attn_heads = 1 : i64, conv_heads = 1 : i64, head_size = 8 : i64, with_kernels, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3xf32>,
       tensor<8x16xf32>, tensor<8xf32>) -> (tensor<?x?x8xf32>, tensor<?x1x?x?xf32>, tensor<?x?x1x3xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %y, %c1 : tensor<?x?x8xf32>
  %1 = tensor.dim %p, %c0 : tensor<?x1x?x?xf32>
  %2 = tensor.dim %p, %c2 : tensor<?x1x?x?xf32>
  %3 = tensor.dim %p, %c3 : tensor<?x1x?x?xf32>
  %4 = tensor.dim %k, %c0 : tensor<?x?x1x3xf32>
  %5 = tensor.dim %k, %c1 : tensor<?x?x1x3xf32>
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}

// CHECK-LABEL: func.func @family(
// CHECK-DAG:     %[[B:.*]] = tensor.dim %arg0, %c0
// CHECK-DAG:     %[[T:.*]] = tensor.dim %arg0, %c1
// CHECK-NOT:     convbert
// CHECK:         return %[[B]], %[[T]], %[[T]], %[[B]]
func.func @family(%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>, %g: tensor<6x8xf32>, %w1: tensor<4x8xf32>,
                  %w2: tensor<8x4xf32>, %a: tensor<2x4x8xf32>, %b: tensor<8xf32>, %s: tensor<?x8xf32>)
    -> (index, index, index, index) {
  %0 = convbert.light_conv %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<2x3xf32>) -> tensor<?x?x8xf32>
  %1 = convbert.dynamic_conv %0, %g {heads = 2 : i64, pads = array<i64: 2, 0>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>) -> tensor<?x?x8xf32>
  %2 = convbert.squeeze_excite %1 squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<?x?x8xf32>
  %3 = convbert.selective_kernel %2, %x squeeze(%w1) select(%a)
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<2x4x8xf32>) -> tensor<?x?x8xf32>
  %4 = convbert.add_bias %3, %b : (tensor<?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %5 = convbert.scale_channels %4, %s : (tensor<?x?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  %6 = convbert.select_branches %5, %x by(%s, %s)
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?x8xf32>
  %p = convbert.add_bias %s, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %6, %c0 : tensor<?x?x8xf32>
  %d1 = tensor.dim %6, %c1 : tensor<?x?x8xf32>
  %d2 = tensor.dim %1, %c1 : tensor<?x?x8xf32>
  %d3 = tensor.dim %2, %c0 : tensor<?x?x8xf32>
  return %d0, %d1, %d2, %d3 : index, index, index, index
}
