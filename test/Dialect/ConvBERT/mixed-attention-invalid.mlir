// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Mixed attention: head counts, and which operands they ask for.

// MIXED_ATTENTION-C1
func.func @mixed_attention_negative_heads(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires a positive head size and one positive head count, none negative, but found head size 3 and -2 and 2 heads}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = -2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C1
func.func @mixed_attention_no_heads(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires a positive head size and one positive head count, none negative, but found head size 3 and 0 and 0 heads}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 0 : i64, conv_heads = 0 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C1
func.func @mixed_attention_head_size(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires a positive head size and one positive head count, none negative, but found head size 0 and 2 and 2 heads}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 0 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C2
func.func @mixed_attention_even_taps(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x2xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires an odd number of taps, but found 2}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x2xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C3
func.func @mixed_attention_no_value(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>, %wf: tensor<6x6xf32>, %bf: tensor<6xf32>,
    %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>, %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `wv` for 2 attention heads, but found none}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) span(%wd, %wp, %bp) kernel(%wf, %bf) conv(%wc, %bc)
         output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<8x3xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C3
func.func @mixed_attention_key_of_no_head(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires no `wk` without attention heads, but found one}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 0 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C3
func.func @mixed_attention_bias_of_no_head(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>,
    %bp: tensor<6xf32>, %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>,
    %wo: tensor<8x12xf32>, %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires no `bias` without attention heads, but found one}}
  %y = convbert.mixed_attention %x query(%wq, %bq) span(%wd, %wp, %bp) kernel(%wf, %bf) conv(%wc, %bc)
         output(%wo, %bo) bias(%b)
         {attn_heads = 0 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<6x6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>,
       tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C3
func.func @mixed_attention_probabilities_of_no_head(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>,
    %bp: tensor<6xf32>, %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>,
    %wo: tensor<8x12xf32>, %bo: tensor<8xf32>) {
  // expected-error @below {{requires no `with_probabilities` without attention heads, but found one}}
  %y:2 = convbert.mixed_attention %x query(%wq, %bq) span(%wd, %wp, %bp) kernel(%wf, %bf) conv(%wc, %bc)
         output(%wo, %bo)
         {attn_heads = 0 : i64, conv_heads = 2 : i64, head_size = 3 : i64, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<6x6xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x?x?xf32>)
  return
}

// -----

// MIXED_ATTENTION-C4
func.func @mixed_attention_no_kernel(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>, %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `wf` for 2 convolution heads, but found none}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp) conv(%wc, %bc)
         output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C4
func.func @mixed_attention_span_of_no_head(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires no `wd` without convolution heads, but found one}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C4
func.func @mixed_attention_mask_of_no_head(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wo: tensor<8x12xf32>, %bo: tensor<8xf32>, %b: tensor<?x?xf32>,
    %conv_mask: tensor<?x?xi1>) {
  // expected-error @below {{requires no `conv_mask` without convolution heads, but found one}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) output(%wo, %bo) bias(%b)
         conv_mask(%conv_mask)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>, tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C4
func.func @mixed_attention_shared_values(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wo: tensor<8x12xf32>, %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires as many attention as convolution heads where they share values, but found 1 and 2}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) output(%wo, %bo) bias(%b)
         {attn_heads = 1 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C4
func.func @mixed_attention_weight_alone(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>,
    %wd: tensor<4x3xf32>, %wf: tensor<3x4xf32>, %bf: tensor<3xf32>) {
  // expected-error @below {{requires `wc` and `bc` together, but found `wc` alone}}
  %y = "convbert.mixed_attention"(%x, %w, %b, %wd, %w, %b, %wf, %bf, %w, %w, %b)
    <{attn_heads = 0 : i64, conv_heads = 1 : i64, head_size = 4 : i64,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0>}>
    : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4xf32>,
       tensor<3x4xf32>, tensor<3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}
