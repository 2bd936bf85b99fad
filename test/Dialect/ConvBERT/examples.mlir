// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Examples of the descriptions with optional parts.

// CHECK-LABEL: func.func @scale_heads_0(
// CHECK:         convbert.scale_heads
func.func @scale_heads_0(
    %x: tensor<?x?x384xf32>, %scales: tensor<6xf32>)
    -> tensor<?x?x384xf32> {
  %y = convbert.scale_heads %x, %scales : (tensor<?x?x384xf32>, tensor<6xf32>) -> tensor<?x?x384xf32>
  return %y : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @self_attention_1(
// CHECK:         convbert.self_attention
func.func @self_attention_1(
    %q: tensor<?x?x384xf32>, %k: tensor<?x?x192xf32>, %v: tensor<?x?x192xf32>, %mask: tensor<3xf32>)
    -> (tensor<?x?x192xf32>, tensor<?x3x?x?xf32>) {
  %c, %p = convbert.self_attention %q, %k, %v head_mask(%mask)
      {heads = 3 : i64, query_heads = array<i64: 0, 2, 5>, scale = 0.125 : f64, with_probabilities}
    : (tensor<?x?x384xf32>, tensor<?x?x192xf32>, tensor<?x?x192xf32>, tensor<3xf32>)
      -> (tensor<?x?x192xf32>, tensor<?x3x?x?xf32>)
  return %c, %p : tensor<?x?x192xf32>, tensor<?x3x?x?xf32>
}

// CHECK-LABEL: func.func @mixed_attention_1(
// CHECK:         convbert.mixed_attention
func.func @mixed_attention_1(
    %x: tensor<?x?x8xf32>, %wq: tensor<8x8xf32>, %bq: tensor<8xf32>, %wk: tensor<8x8xf32>, %bk: tensor<8xf32>,
    %wv: tensor<8x8xf32>, %bv: tensor<8xf32>, %wo: tensor<8x8xf32>, %bo: tensor<8xf32>)
    -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) output(%wo, %bo)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @mixed_attention_2(
// CHECK:         convbert.mixed_attention
func.func @mixed_attention_2(
    %x: tensor<?x?x8xf32>, %wq: tensor<8x8xf32>, %bq: tensor<8xf32>, %wk: tensor<4x8xf32>, %bk: tensor<4xf32>,
    %wv: tensor<4x8xf32>, %bv: tensor<4xf32>, %wd: tensor<8x3xf32>, %wp: tensor<8x8xf32>, %bp: tensor<8xf32>,
    %wf: tensor<3x8xf32>, %bf: tensor<3xf32>, %wc: tensor<4x8xf32>, %bc: tensor<4xf32>, %wo: tensor<8x8xf32>,
    %bo: tensor<8xf32>, %cm: tensor<?x?xi1>, %hm: tensor<2xf32>)
    -> (tensor<?x?x8xf32>, tensor<?x1x?x?xf32>, tensor<?x?x1x3xf32>) {
  %y, %p, %k = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) conv_mask(%cm) head_mask(%hm)
         {attn_heads = 1 : i64, conv_heads = 1 : i64, head_size = 4 : i64, query_heads = array<i64: 1>,
          with_kernels, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xi1>, tensor<2xf32>)
      -> (tensor<?x?x8xf32>, tensor<?x1x?x?xf32>, tensor<?x?x1x3xf32>)
  return %y, %p, %k : tensor<?x?x8xf32>, tensor<?x1x?x?xf32>, tensor<?x?x1x3xf32>
}

// CHECK-LABEL: func.func @dynamic_kernel_0(
// CHECK:         convbert.dynamic_kernel
func.func @dynamic_kernel_0(
    %q: tensor<?x?x384xf32>, %w: tensor<54x384xf32>, %b: tensor<54xf32>, %ks: tensor<?x?x384xf32>)
    -> tensor<?x?x6x9xf32> {
  %k = convbert.dynamic_kernel %q, %w, %b span(%ks) {heads = 6 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x384xf32>, tensor<54x384xf32>, tensor<54xf32>, tensor<?x?x384xf32>) -> tensor<?x?x6x9xf32>
  return %k : tensor<?x?x6x9xf32>
}

// CHECK-LABEL: func.func @apply_kernel_1(
// CHECK:         convbert.apply_kernel
func.func @apply_kernel_1(
    %v: tensor<?x?x6xf32>, %taps: tensor<?x?x2x3xf32>, %m: tensor<?x?xi1>)
    -> tensor<?x?x6xf32> {
  %o = convbert.apply_kernel %v, %taps mask(%m) {pads = array<i64: 2, 0>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>, tensor<?x?xi1>) -> tensor<?x?x6xf32>
  return %o : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @embeddings_1(
// CHECK:         convbert.embeddings %arg0, %arg1, %arg2 tables(%arg3, %arg4) norm(%arg5, %arg6)
func.func @embeddings_1(
    %vectors: tensor<?x?x768xf32>, %types: tensor<?x?xi64>, %positions: tensor<?x?xi64>, %position: tensor<512x768xf32>,
    %type: tensor<2x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
    -> tensor<?x?x768xf32> {
  %x = convbert.embeddings %vectors, %types, %positions tables(%position, %type) norm(%gamma, %beta)
         {eps = 1.0e-12 : f64}
    : (tensor<?x?x768xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<512x768xf32>, tensor<2x768xf32>,
       tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
  return %x : tensor<?x?x768xf32>
}
