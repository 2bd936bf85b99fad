// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Self-attention: constraints on several operands.

// SELF_ATTENTION-C1
func.func @self_attention_k_batch(
    %q: tensor<2x5x8xf32>, %k: tensor<3x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the batch of `k` to be 2, but found 3}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<3x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C1
func.func @self_attention_v_length(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x4x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the length of `v` to be 5, but found 4}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x4x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C3
func.func @self_attention_k_features(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the features of `q` to be 4, but found 8}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C2
func.func @self_attention_no_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires a positive number of heads, but found 0}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 0 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C2
func.func @self_attention_negative_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires a positive number of heads, but found -2}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = -2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C2
func.func @self_attention_k_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the features of `k` to be a multiple of the 3 heads, but found 8}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 3 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C2
func.func @self_attention_v_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the features of `v` to be a multiple of the 8 heads, but found 4}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 8 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C4
func.func @self_attention_bias_batch(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<1x5xf32>) {
  // expected-error @below {{requires the batch of `bias` to be 2, but found 1}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<1x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C4
func.func @self_attention_bias_keys(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x8xf32>) {
  // expected-error @below {{requires the length of `bias` to be 5, but found 8}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x8xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C5
func.func @self_attention_elements(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf16>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf16>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C5
func.func @self_attention_bias_elements(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf16>) {
  // expected-error @below {{requires a bias of f32 or 'f32', but found 'f16'}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf16>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C6
func.func @self_attention_scale(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %b: tensor<2x5xf32>) {
  // expected-error @below {{requires a finite scale, but found INF}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 0x7FF0000000000000 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C1
func.func @self_attention_v_keys(
    %q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x5x4xf32>) {
  // expected-error @below {{requires the length of `v` to be 7, but found 5}}
  %y = convbert.self_attention %q, %k, %v {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C3
func.func @self_attention_odd_query(
    %q: tensor<2x5x6xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>) {
  // expected-error @below {{requires a query of whole heads of 4 features, but found 6}}
  %y = convbert.self_attention %q, %k, %v {heads = 2 : i64, scale = 1.0 : f64, query_heads = array<i64: 0, 0>}
    : (tensor<2x5x6xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C7
func.func @self_attention_head_mask(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %m: tensor<3xf32>) {
  // expected-error @below {{requires the size of `head_mask` to be 2, but found 3}}
  %y = convbert.self_attention %q, %k, %v head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<3xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C5
func.func @self_attention_head_mask_elements(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %m: tensor<2xf16>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.self_attention %q, %k, %v head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2xf16>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C8
func.func @self_attention_slices(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>) {
  // expected-error @below {{requires `query_heads` to have 2 entries, but found 1}}
  %y = convbert.self_attention %q, %k, %v {heads = 2 : i64, scale = 1.0 : f64, query_heads = array<i64: 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SELF_ATTENTION-C8
func.func @self_attention_slice_range(
    %q: tensor<2x5x12xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>) {
  // expected-error @below {{requires `query_heads` to name slices of the query below 3, but found 3}}
  %y = convbert.self_attention %q, %k, %v {heads = 2 : i64, scale = 1.0 : f64, query_heads = array<i64: 0, 3>}
    : (tensor<2x5x12xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SCALE_HEADS-C1
func.func @scale_heads(%x: tensor<?x?x8xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{requires the features of `x` to be a multiple of the 3 heads, but found 8}}
  %y = convbert.scale_heads %x, %s : (tensor<?x?x8xf32>, tensor<3xf32>) -> tensor<?x?x8xf32>
  return
}
