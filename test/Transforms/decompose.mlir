// Every block operation becomes steps.  Forms that are one step already stay.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-decompose))' --split-input-file | FileCheck %s


// The separable convolution inside decomposes in its turn.
// CHECK-LABEL: func.func @mixed_attention(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<4x8xf32>, %[[B:[a-z0-9]*]]: tensor<4xf32>, %[[WD:[a-z0-9]*]]: tensor<8x3xf32>, %[[WF:[a-z0-9]*]]: tensor<6x4xf32>, %[[BF:[a-z0-9]*]]: tensor<6xf32>, %[[WO:[a-z0-9]*]]: tensor<8x8xf32>, %[[BO:[a-z0-9]*]]: tensor<8xf32>, %[[BIAS:[a-z0-9]*]]: tensor<?x?xf32>)
// CHECK:         %[[Q:.*]] = convbert.dense %[[X]], %[[W]], %[[B]]
// CHECK:         %[[K:.*]] = convbert.dense %[[X]]
// CHECK:         %[[V:.*]] = convbert.dense %[[X]]
// CHECK:         %[[U:.*]] = convbert.dense %[[X]]
// CHECK:         %[[Z:.*]] = convbert.depthwise_conv1d %[[X]], %[[WD]] {pads = array<i64: 1, 1>}
// CHECK:         %[[S:.*]] = convbert.dense %[[Z]]
// CHECK:         %[[TAPS:.*]] = convbert.dynamic_kernel %[[Q]], %[[WF]], %[[BF]] span(%[[S]]) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
// CHECK:         %[[C:.*]] = convbert.apply_kernel %[[U]], %[[TAPS]] {normalize = #convbert.norm<none>, pads = array<i64: 1, 1>}
// CHECK:         %[[A:.*]] = convbert.self_attention %[[Q]], %[[K]], %[[V]] bias(%[[BIAS]]) {heads = 2 : i64, scale = 0.70710678118654746 : f64}
// CHECK:         %[[AC:.*]] = tensor.concat dim(2) %[[A]], %[[C]]
// CHECK:         %[[Y:.*]] = convbert.dense %[[AC]], %[[WO]], %[[BO]]
// CHECK:         return %[[Y]]
func.func @mixed_attention(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wo: tensor<8x8xf32>, %bo: tensor<8xf32>, %bias: tensor<?x?xf32>)
    -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo) bias(%bias) {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// Without a mask there is no bias; weights of the other orientation stay as they are.
// CHECK-LABEL: func.func @no_mask(
// CHECK-COUNT-4: convbert.dense {{.*}} {layout = #convbert.layout<in_out>}
// CHECK:         convbert.depthwise_conv1d {{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>}
// CHECK:         convbert.dynamic_kernel {{.*}} layout = #convbert.layout<in_out>
// CHECK:         convbert.self_attention %{{.*}}, %{{.*}}, %{{[0-9a-z]*}} {heads
// CHECK:         convbert.dense {{.*}} {layout = #convbert.layout<in_out>}
func.func @no_mask(%x: tensor<?x?x8xf16>, %w: tensor<8x4xf16>, %b: tensor<4xf16>, %wd: tensor<3x8xf16>,
    %wf: tensor<4x6xf16>, %bf: tensor<6xf16>, %wo: tensor<8x8xf16>, %bo: tensor<8xf16>) -> tensor<?x?x8xf16> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 2 : i64, layout = #convbert.layout<in_out>}
    : (tensor<?x?x8xf16>, tensor<8x4xf16>, tensor<4xf16>, tensor<8x4xf16>, tensor<4xf16>, tensor<8x4xf16>,
       tensor<4xf16>, tensor<3x8xf16>, tensor<8x4xf16>, tensor<4xf16>, tensor<4x6xf16>, tensor<6xf16>,
       tensor<8x4xf16>, tensor<4xf16>, tensor<8x8xf16>, tensor<8xf16>) -> tensor<?x?x8xf16>
  return %y : tensor<?x?x8xf16>
}

// -----

// More convolution than attention heads: attention reads the first slices of the query.
// CHECK-LABEL: func.func @pruned(
// CHECK:         %[[Q:.*]] = convbert.dense {{.*}} -> tensor<?x?x4xf32>
// CHECK:         convbert.dynamic_kernel %[[Q]],
// CHECK:         %[[FIRST:.*]] = tensor.extract_slice %[[Q]][0, 0, 0] [%{{.*}}, %{{.*}}, 2] [1, 1, 1]
// CHECK:         convbert.self_attention %[[FIRST]], {{.*}} {heads = 1 : i64, scale {{.*}} -> tensor<?x?x2xf32>
func.func @pruned(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %w1: tensor<2x8xf32>,
    %b1: tensor<2xf32>, %wd: tensor<8x3xf32>, %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wo: tensor<8x6xf32>,
    %bo: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w1, %b1) value(%w1, %b1) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo) {attn_heads = 1 : i64, conv_heads = 2 : i64, head_size = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<2x8xf32>,
       tensor<2xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x6xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// No convolution heads: no concatenation and no convolution.
// CHECK-LABEL: func.func @plain(
// CHECK-COUNT-3: convbert.dense
// CHECK-NEXT:    %[[A:.*]] = convbert.self_attention
// CHECK-NEXT:    %[[Y:.*]] = convbert.dense %[[A]]
// CHECK-NEXT:    return %[[Y]]
func.func @plain(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) output(%w, %b)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Both branches read one value; the convolution's masks become steps; a run of query slices is a slice.
// CHECK-LABEL: func.func @masks(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, {{.*}}, %[[CM:[a-z0-9]*]]: tensor<?x?xi1>, %[[HM:[a-z0-9]*]]: tensor<4xf32>)
// CHECK-DAG:     %[[Q:.*]] = convbert.dense {{.*}} -> tensor<?x?x6xf32>
// CHECK-DAG:     %[[MX:.*]] = convbert.mask_tokens %[[X]], %[[CM]]
// CHECK-DAG:     convbert.depthwise_conv1d %[[MX]]
// CHECK-DAG:     %[[SQ:.*]] = tensor.extract_slice %[[Q]][0, 0, 2] [%{{.*}}, %{{.*}}, 4] [1, 1, 1]
// CHECK-DAG:     %[[T:.*]] = convbert.dynamic_kernel %[[SQ]],
// CHECK-DAG:     %[[MV:.*]] = convbert.mask_tokens %[[V:.*]], %[[CM]]
// CHECK-DAG:     %[[C:.*]] = convbert.apply_kernel %[[MV]], %[[T]] {
// CHECK-DAG:     %[[HC:.*]] = tensor.extract_slice %[[HM]][2] [2] [1]
// CHECK-DAG:     %[[SC:.*]] = convbert.scale_heads %[[C]], %[[HC]]
// CHECK-DAG:     %[[HA:.*]] = tensor.extract_slice %[[HM]][0] [2] [1]
// CHECK-DAG:     %[[A:.*]] = convbert.self_attention %[[Q]], %{{.*}}, %[[V]] head_mask(%[[HA]]) {heads = 2 : i64, query_heads = array<i64: 2, 0>
// CHECK:         tensor.concat dim(2) %[[A]], %[[SC]]
func.func @masks(%x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %w: tensor<4x8xf32>,
    %b: tensor<4xf32>, %wd: tensor<8x3xf32>, %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wo: tensor<8x8xf32>,
    %bo: tensor<8xf32>, %cm: tensor<?x?xi1>, %hm: tensor<4xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         output(%wo, %bo) conv_mask(%cm) head_mask(%hm)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 2 : i64, query_heads = array<i64: 2, 0>,
          span_query_heads = array<i64: 1, 2>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xi1>, tensor<4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Probabilities come out of the attention, and kernels are taken before they are used.
// CHECK-LABEL: func.func @maps(
// CHECK:         %[[T:.*]] = convbert.dynamic_kernel
// CHECK:         convbert.apply_kernel %{{.*}}, %[[T]]
// CHECK:         %[[A:.*]], %[[P:.*]] = convbert.self_attention {{.*}} head_mask(%{{.*}}) {{.*}}with_probabilities
// CHECK:         %[[Y:.*]] = convbert.dense
// CHECK:         return %[[Y]], %[[P]], %[[T]]
func.func @maps(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wo: tensor<8x8xf32>, %bo: tensor<8xf32>, %hm: tensor<4xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>, tensor<?x?x2x3xf32>) {
  %y, %p, %k = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo) head_mask(%hm)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 2 : i64, with_kernels, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4xf32>)
      -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>, tensor<?x?x2x3xf32>)
  return %y, %p, %k : tensor<?x?x8xf32>, tensor<?x2x?x?xf32>, tensor<?x?x2x3xf32>
}

// -----

// Only the projection comes off.
// CHECK-LABEL: func.func @embeddings(
// CHECK:         %[[E:.*]] = convbert.embeddings {{.*}} norm(%{{.*}}, %{{[0-9a-z]*}}) {eps = 2.500000e-01 : f64}
// CHECK-SAME:      -> tensor<?x?x4xf32>
// CHECK:         convbert.dense %[[E]]
// CHECK:         convbert.embeddings {{.*}} norm(%{{.*}}, %{{[0-9a-z]*}}) {eps = 5.000000e-01 : f64}
// CHECK-NOT:     convbert.dense
func.func @embeddings(%ids: tensor<?x?xi64>, %word: tensor<9x4xf32>, %v: tensor<4xf32>, %w: tensor<8x4xf32>,
    %b: tensor<8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x4xf32>) {
  %x = convbert.embeddings %ids, %ids, %ids tables(%word, %word, %word) norm(%v, %v) project(%w, %b) {eps = 0.25 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.embeddings %ids, %ids, %ids tables(%word, %word, %word) norm(%v, %v) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %x, %y : tensor<?x?x8xf32>, tensor<?x?x4xf32>
}

// -----

// CHECK-LABEL: func.func @feed_forward(
// CHECK:         %[[H:.*]] = convbert.dense
// CHECK:         %[[A:.*]] = convbert.activation %[[H]] {kind = #convbert.activation<silu>}
// CHECK:         convbert.dense %[[A]]
func.func @feed_forward(%x: tensor<?x?x4xbf16>, %w1: tensor<6x4xbf16>, %b1: tensor<6xbf16>, %w2: tensor<4x6xbf16>,
    %b2: tensor<4xbf16>) -> tensor<?x?x4xbf16> {
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<silu>}
    : (tensor<?x?x4xbf16>, tensor<6x4xbf16>, tensor<6xbf16>, tensor<4x6xbf16>, tensor<4xbf16>) -> tensor<?x?x4xbf16>
  return %y : tensor<?x?x4xbf16>
}

// CHECK-LABEL: func.func @grouped(
// CHECK:         %[[H:.*]] = convbert.grouped_dense
// CHECK:         %[[A:.*]] = convbert.activation %[[H]]
// CHECK:         convbert.grouped_dense %[[A]]
func.func @grouped(%x: tensor<?x?x4xf64>, %w1: tensor<2x2x3xf64>, %b1: tensor<6xf64>, %w2: tensor<2x3x2xf64>,
    %b2: tensor<4xf64>) -> tensor<?x?x4xf64> {
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x4xf64>, tensor<2x2x3xf64>, tensor<6xf64>, tensor<2x3x2xf64>, tensor<4xf64>) -> tensor<?x?x4xf64>
  return %y : tensor<?x?x4xf64>
}

// -----

// CHECK-LABEL: func.func @heads(
// CHECK:         %[[H:.*]] = convbert.dense
// CHECK:         %[[A:.*]] = convbert.activation %[[H]] {kind = #convbert.activation<gelu>}
// CHECK:         %[[N:.*]] = convbert.layer_norm %[[A]], %{{.*}} {eps = 5.000000e-01 : f64}
// CHECK:         %[[LM:.*]] = convbert.dense %[[N]]
// CHECK:         %[[F:.*]] = convbert.pool %{{.*}} {kind = #convbert.pool<first>}
// CHECK:         %[[G:.*]] = convbert.dense %[[F]]
// CHECK:         %[[T:.*]] = convbert.activation %[[G]] {kind = #convbert.activation<tanh>}
// CHECK:         %[[CLASS:.*]] = convbert.dense %[[T]]
// CHECK:         %[[TOKEN:.*]] = convbert.dense
// CHECK:         %[[BOTH:.*]] = convbert.dense
// CHECK:         %[[START:.*]] = tensor.extract_slice %[[BOTH]][0, 0, 0] [%{{.*}}, %{{.*}}, 1] [1, 1, 1] : tensor<?x?x2xf32> to tensor<?x?xf32>
// CHECK:         %[[END:.*]] = tensor.extract_slice %[[BOTH]][0, 0, 1]
// CHECK:         %[[L:.*]] = convbert.pool %{{.*}} {kind = #convbert.pool<last>}
// CHECK:         %[[CHOICE:.*]] = convbert.dense %[[L]]
// CHECK:         return %[[LM]], %[[CLASS]], %[[TOKEN]], %[[START]], %[[END]], %[[CHOICE]]
func.func @heads(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4xf32>, %word: tensor<9x4xf32>,
    %bw: tensor<9xf32>, %w2: tensor<2x4xf32>, %v2: tensor<2xf32>, %w1: tensor<1x4xf32>, %v1: tensor<1xf32>)
    -> (tensor<?x?x9xf32>, tensor<?x2xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1xf32>) {
  %a = convbert.lm_head %x, %w, %v, %v, %v, %word, %bw {eps = 0.5 : f64}
    : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>, tensor<9xf32>)
      -> tensor<?x?x9xf32>
  %b = convbert.classifier_head %x, %w, %v, %w2, %v2 {activation = #convbert.activation<tanh>}
    : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %c = convbert.token_head %x, %w2, %v2 : (tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  %d, %e = convbert.span_head %x, %w2, %v2
    : (tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  %f = convbert.choice_head %x, %w1, %v1 {summary = #convbert.pool<last>}
    : (tensor<?x?x4xf32>, tensor<1x4xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %a, %b, %c, %d, %e, %f
    : tensor<?x?x9xf32>, tensor<?x2xf32>, tensor<?x?x2xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1xf32>
}

// -----

// Operations in other blocks too, and functions without body.
func.func private @declared(tensor<?x?x4xf32>) -> tensor<?x?x4xf32>

// CHECK-LABEL: func.func @branches(
// CHECK:         cf.cond_br
// CHECK:         convbert.depthwise_conv1d
// CHECK-NEXT:    convbert.dense
// CHECK-NEXT:    cf.br
func.func @branches(%c: i1, %x: tensor<?x?x4xf32>, %wd: tensor<4x1xf32>, %wp: tensor<4x4xf32>) -> tensor<?x?x4xf32> {
  cf.cond_br %c, ^then, ^else
^then:
  %y = convbert.separable_conv1d %x, %wd, %wp {pads = array<i64: 0, 0>}
    : (tensor<?x?x4xf32>, tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
  cf.br ^end(%y : tensor<?x?x4xf32>)
^else:
  cf.br ^end(%x : tensor<?x?x4xf32>)
^end(%r: tensor<?x?x4xf32>):
  return %r : tensor<?x?x4xf32>
}

// -----

// The softmax of a lightweight convolution's weights is one of parameters; where it depends on the token, it stays.
// CHECK-LABEL: func.func @light(
// CHECK:         %[[T:.*]] = convbert.normalize_taps %arg1
// CHECK:         %[[Y:.*]] = convbert.light_conv %arg0, %[[T]], %arg2
// CHECK-SAME:      {head_map = #convbert.head_map<interleaved>, normalize = #convbert.norm<none>, pads = array<i64: 2, 0>}
// CHECK-NEXT:    convbert.light_conv %[[Y]], %arg1 {edge = #convbert.edge<renorm>, pads = array<i64: 1, 1>}
// CHECK-NEXT:    convbert.light_conv %arg3, %arg4 {pads = array<i64: 1, 1>}
func.func @light(%x: tensor<?x?x4xf32>, %w: tensor<2x3xf32>, %b: tensor<4xf32>, %h: tensor<?x?x4xf16>, %v: tensor<2x3xf16>)
    -> (tensor<?x?x4xf32>, tensor<?x?x4xf16>) {
  %0 = convbert.light_conv %x, %w, %b {pads = array<i64: 2, 0>, head_map = #convbert.head_map<interleaved>}
    : (tensor<?x?x4xf32>, tensor<2x3xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %1 = convbert.light_conv %0, %w {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
    : (tensor<?x?x4xf32>, tensor<2x3xf32>) -> tensor<?x?x4xf32>
  %2 = convbert.light_conv %h, %v {pads = array<i64: 1, 1>} : (tensor<?x?x4xf16>, tensor<2x3xf16>) -> tensor<?x?x4xf16>
  return %1, %2 : tensor<?x?x4xf32>, tensor<?x?x4xf16>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[K:.*]] = convbert.dynamic_kernel %arg0, %arg1 {heads = 2 : i64, normalize = #convbert.norm<softmax>}
// CHECK:         %[[Y:.*]] = convbert.apply_kernel %arg0, %[[K]] {dilation = 2 : i64, normalize = #convbert.norm<none>, pads = array<i64: 4, 0>}
// CHECK:         %[[L:.*]] = convbert.dynamic_kernel %arg0, %arg1
// CHECK-SAME:      {dilation = 2 : i64, edge = #convbert.edge<renorm>, heads = 2 : i64, normalize = #convbert.norm<softmax>, pads = array<i64: 4, 0>}
// CHECK:         %[[Z:.*]] = convbert.apply_kernel %[[Y]], %[[L]] {dilation = 2 : i64, normalize = #convbert.norm<none>, pads = array<i64: 4, 0>}
// CHECK:         convbert.add_bias %[[Z]], %arg2
func.func @dynamic(%x: tensor<?x?x4xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %0 = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 4, 0>, dilation = 2 : i64}
    : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x4xf32>
  %1 = convbert.dynamic_conv %0, %w query(%x) channel_bias(%b)
      {heads = 2 : i64, pads = array<i64: 4, 0>, dilation = 2 : i64, edge = #convbert.edge<renorm>}
    : (tensor<?x?x4xf32>, tensor<6x4xf32>, tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %1 : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @gates(
// CHECK:         %[[S:.*]] = convbert.pool %arg0 mask(%arg3) {kind = #convbert.pool<mean>}
// CHECK:         %[[H:.*]] = convbert.dense %[[S]], %arg1
// CHECK:         %[[R:.*]] = convbert.activation %[[H]] {kind = #convbert.activation<relu>}
// CHECK:         %[[E:.*]] = convbert.dense %[[R]], %arg2
// CHECK:         %[[G:.*]] = convbert.activation %[[E]] {kind = #convbert.activation<hard_sigmoid>}
// CHECK:         %[[Y:.*]] = convbert.scale_channels %arg0, %[[G]]
// CHECK-DAG:     %[[P0:.*]] = convbert.pool %[[Y]]
// CHECK-DAG:     %[[P1:.*]] = convbert.pool %arg0 {
// CHECK:         %[[SUM:.*]] = arith.addf %[[P0]], %[[P1]]
// CHECK:         convbert.dense %[[SUM]], %arg1
// CHECK:         %[[Z:.*]] = convbert.activation {{.*}}<relu>
// CHECK:         %[[A0:.*]] = tensor.extract_slice %arg4[0, 0, 0] [1, 2, 4]
// CHECK:         %[[L0:.*]] = convbert.dense %[[Z]], %[[A0]] {layout = #convbert.layout<in_out>}
// CHECK:         %[[A1:.*]] = tensor.extract_slice %arg4[1, 0, 0] [1, 2, 4]
// CHECK:         %[[L1:.*]] = convbert.dense %[[Z]], %[[A1]] {layout = #convbert.layout<in_out>}
// CHECK:         convbert.select_branches %[[Y]], %arg0 by(%[[L0]], %[[L1]])
func.func @gates(%x: tensor<?x?x4xf32>, %w1: tensor<2x4xf32>, %w2: tensor<4x2xf32>, %m: tensor<?x?xi1>,
                 %a: tensor<2x2x4xf32>) -> tensor<?x?x4xf32> {
  %0 = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<hard_sigmoid>}
    : (tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<4x2xf32>, tensor<?x?xi1>) -> tensor<?x?x4xf32>
  %1 = convbert.selective_kernel %0, %x squeeze(%w1) select(%a)
    : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<2x2x4xf32>) -> tensor<?x?x4xf32>
  return %1 : tensor<?x?x4xf32>
}
