// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Mixed attention: slices of the query, the output layer, masks.

// MIXED_ATTENTION-C6
func.func @mixed_attention_narrow_query(
    %x: tensor<?x?x8xf32>, %wq: tensor<3x8xf32>, %bq: tensor<3xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<3x8xf32>, %bp: tensor<3xf32>,
    %wf: tensor<6x3xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `query_heads` to name slices of the query below 1, but found 1}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<3x8xf32>, tensor<3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<3x8xf32>, tensor<3xf32>, tensor<6x3xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C6
func.func @mixed_attention_slices(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `query_heads` to have 2 entries, but found 3}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64, query_heads = array<i64: 0, 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C6
func.func @mixed_attention_slice_range(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `query_heads` to name slices of the query below 2, but found -1}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64, query_heads = array<i64: 0, -1>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C6
func.func @mixed_attention_span_slices(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `span_query_heads` to have 2 entries, but found 1}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64, span_query_heads = array<i64: 1>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C6
func.func @mixed_attention_span_slice_range(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires `span_query_heads` to name slices of the query below 2, but found 2}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64, span_query_heads = array<i64: 0, 2>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C7
func.func @mixed_attention_wd(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<6x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the channels of `wd` to be 8, but found 6}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<6x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C8
func.func @mixed_attention_wo(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x8xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wo` to be 12, but found 8}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C8
func.func @mixed_attention_bo(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<12xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bo` to be 8, but found 12}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<12xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C9
func.func @mixed_attention_bias(
    %x: tensor<2x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<3x?xf32>) {
  // expected-error @below {{requires the batch of `bias` to be 2, but found 3}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<2x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<3x?xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C9
func.func @mixed_attention_conv_mask(
    %x: tensor<2x5x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %conv_mask: tensor<2x4xi1>) {
  // expected-error @below {{requires the length of `conv_mask` to be 5, but found 4}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) conv_mask(%conv_mask)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<2x4xi1>) -> tensor<2x5x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C10
func.func @mixed_attention_bias_elements(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf64>) {
  // expected-error @below {{requires a bias of f32 or 'f32', but found 'f64'}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf64>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C10
func.func @mixed_attention_elements(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>, %head_mask: tensor<4xf16>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b) head_mask(%head_mask)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>, tensor<4xf16>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C11
func.func @mixed_attention_head_mask(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>, %head_mask: tensor<2xf32>) {
  // expected-error @below {{requires the size of `head_mask` to be 4, but found 2}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b) head_mask(%head_mask)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>, tensor<2xf32>) -> tensor<?x?x8xf32>
  return
}
