// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Mixed attention: widths of the projections.

// MIXED_ATTENTION-C5
func.func @mixed_attention_wq(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x7xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wq` to be 8, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x7xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bq(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<5xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bq` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<5xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wk(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x7xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wk` to be 8, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x7xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bk(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<5xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bk` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<5xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wv(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<7x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the output features of `wv` to be 6, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<7x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bv(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<5xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bv` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<5xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wp(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x7xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wp` to be 8, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x7xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bp(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<5xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bp` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<5xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wf(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<7x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the output features of `wf` to be 6, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<7x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wf_span(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x3xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wf` to be 6, but found 3}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x3xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bf(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<5xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bf` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<5xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_wc(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x7xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the input features of `wc` to be 8, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x7xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_bc(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<5xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the size of `bc` to be 6, but found 5}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<5xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_query_size(
    %x: tensor<?x?x8xf32>, %wq: tensor<7x8xf32>, %bq: tensor<7xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires a query of whole heads of 3 features, but found 7}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<7x8xf32>, tensor<7xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5
func.func @mixed_attention_span_size(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>, %bp: tensor<4xf32>,
    %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires a span-aware key of whole heads of 3 features, but found 4}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// MIXED_ATTENTION-C5: the product is not wrapped around
func.func @mixed_attention_huge(
    %x: tensor<?x?x8xf32>, %wq: tensor<6x8xf32>, %bq: tensor<6xf32>, %wk: tensor<6x8xf32>, %bk: tensor<6xf32>,
    %wv: tensor<6x8xf32>, %bv: tensor<6xf32>, %wd: tensor<8x3xf32>, %wp: tensor<6x8xf32>, %bp: tensor<6xf32>,
    %wf: tensor<6x6xf32>, %bf: tensor<6xf32>, %wc: tensor<6x8xf32>, %bc: tensor<6xf32>, %wo: tensor<8x12xf32>,
    %bo: tensor<8xf32>, %b: tensor<?x?xf32>) {
  // expected-error @below {{requires the output features of `wk` to be 9223372036854775807, but found 6}}
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
         kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%b)
         {attn_heads = 4611686018427387904 : i64, conv_heads = 2 : i64, head_size = 3 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x8xf32>,
       tensor<6xf32>, tensor<8x3xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<6x6xf32>, tensor<6xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x12xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return
}
