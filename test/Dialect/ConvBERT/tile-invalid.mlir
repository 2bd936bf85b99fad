// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Bodies of outlined kernels: constraints on several operands.

// WEIGHT_VIEW-C2
func.func @weight_view_elements(%p: tensor<8xf32>) {
  // expected-error @below {{requires weights of the packed element type 'f32', but found 'f16'}}
  %w = convbert.weight_view %p : (tensor<8xf32>) -> tensor<8xf16>
  return
}

// -----

// WEIGHT_VIEW-C3
func.func @weight_view_room(%p: tensor<2x8xf32>) {
  // expected-error @below {{requires room for 17 elements of the weights, but found 16 packed ones}}
  %w = convbert.weight_view %p : (tensor<2x8xf32>) -> tensor<17xf32>
  return
}

// -----

// PACKED_DENSE-C5
func.func @packed_dense_bias_first(%r: tensor<?x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires neither multiplier nor activation with `bias_first`, but found relu}}
  %y = convbert.packed_dense %r, %p, %b {activation = #convbert.activation<relu>, bias_first}
    : (tensor<?x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C5
func.func @packed_dense_bias_first_times(%r: tensor<1x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x24xf32>,
                                         %m: tensor<1x4x2x24xf32>) {
  // expected-error @below {{requires neither multiplier nor activation with `bias_first`, but found `multiplier`}}
  %y = convbert.packed_dense %r, %p, %b times %m {bias_first}
    : (tensor<1x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>, tensor<1x4x2x24xf32>) -> tensor<1x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C8
func.func @packed_dense_widen_first(%r: tensor<1x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires rows of f32 and panels of bf16 with `widen_first`, but found 'tensor<1x4x8xf32>' and 'tensor<2x8x24xf32>'}}
  %y = convbert.packed_dense %r, %p, %b {widen_first}
    : (tensor<1x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>) -> tensor<1x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C8
func.func @packed_dense_widen_first_pairs(%r: tensor<1x4x8x2xbf16>, %p: tensor<2x8x24x2xbf16>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires rows of f32 and panels of bf16 with `widen_first`, but found 'tensor<1x4x8x2xbf16>' and 'tensor<2x8x24x2xbf16>'}}
  %y = convbert.packed_dense %r, %p, %b {widen_first}
    : (tensor<1x4x8x2xbf16>, tensor<2x8x24x2xbf16>, tensor<2x24xf32>) -> tensor<1x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C1
func.func @packed_dense_rows(%r: tensor<?x?x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires static tile sizes, but found 'tensor<?x?x8xf32>' and 'tensor<2x8x24xf32>'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x?x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>) -> tensor<?x?x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C1
func.func @packed_dense_panels(%r: tensor<?x4x8xf32>, %p: tensor<2x8x?xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires static tile sizes, but found 'tensor<?x4x8xf32>' and 'tensor<2x8x?xf32>'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf32>, tensor<2x8x?xf32>, tensor<2x24xf32>) -> tensor<?x4x2x?xf32>
  return
}

// -----

// PACKED_DENSE-C2
func.func @packed_dense_depth(%r: tensor<?x4x8xf32>, %p: tensor<2x7x24xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires the depth of `panels` to be 8, but found 7}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf32>, tensor<2x7x24xf32>, tensor<2x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C3
func.func @packed_dense_bias_panels(%r: tensor<?x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<3x24xf32>) {
  // expected-error @below {{requires the panels of `bias` to be 2, but found 3}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf32>, tensor<2x8x24xf32>, tensor<3x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C3
func.func @packed_dense_bias_width(%r: tensor<?x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x16xf32>) {
  // expected-error @below {{requires the panel width of `bias` to be 24, but found 16}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf32>, tensor<2x8x24xf32>, tensor<2x16xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C6
func.func @packed_dense_pairs(%r: tensor<?x4x8xbf16>, %p: tensor<2x4x24x2xbf16>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires rows and panels both of three dimensions or both of pairs of bf16, but found 'tensor<?x4x8xbf16>' and 'tensor<2x4x24x2xbf16>'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xbf16>, tensor<2x4x24x2xbf16>, tensor<2x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C6
func.func @packed_dense_pairs_elements(%r: tensor<?x4x8x2xf32>, %p: tensor<2x8x24x2xf32>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires rows and panels both of three dimensions or both of pairs of bf16, but found 'tensor<?x4x8x2xf32>' and 'tensor<2x8x24x2xf32>'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8x2xf32>, tensor<2x8x24x2xf32>, tensor<2x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C7
func.func @packed_dense_elements(%r: tensor<?x4x8xf32>, %p: tensor<2x8x24xf16>, %b: tensor<2x24xf32>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf32>, tensor<2x8x24xf16>, tensor<2x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// PACKED_DENSE-C7
func.func @packed_dense_wide(%r: tensor<?x4x8xf64>, %p: tensor<2x8x24xbf16>, %b: tensor<2x24xf64>) {
  // expected-error @below {{requires equal element types, but found 'f64' and 'bf16'}}
  %y = convbert.packed_dense %r, %p, %b
    : (tensor<?x4x8xf64>, tensor<2x8x24xbf16>, tensor<2x24xf64>) -> tensor<?x4x2x24xf64>
  return
}

// -----

// PACKED_DENSE-C4
func.func @packed_dense_multiplier(
    %r: tensor<?x4x8xf32>, %p: tensor<2x8x24xf32>, %b: tensor<2x24xf32>, %m: tensor<?x4x3x24xf32>) {
  // expected-error @below {{requires `multiplier` to have the shape of 'tensor<?x4x2x24xf32>', but found 'tensor<?x4x3x24xf32>'}}
  %y = convbert.packed_dense %r, %p, %b times %m
    : (tensor<?x4x8xf32>, tensor<2x8x24xf32>, tensor<2x24xf32>, tensor<?x4x3x24xf32>) -> tensor<?x4x2x24xf32>
  return
}

// -----

// NORM_TILE-C2
func.func @norm_tile_params(%p: tensor<3x16xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{requires the rows of `params` to be 2, but found 3}}
  %y = convbert.norm_tile %p (%a, %b) {eps = 0.0 : f64, width = 10 : i64}
    : (tensor<3x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

// NORM_TILE-C3
func.func @norm_tile_addend(%p: tensor<2x16xf32>, %a: tensor<16xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the padded width of every addend to be 16, but found 8}}
  %y = convbert.norm_tile %p (%a, %b) {eps = 0.0 : f64, width = 10 : i64}
    : (tensor<2x16xf32>, tensor<16xf32>, tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

// NORM_TILE-C4
func.func @norm_tile_wide(%p: tensor<2x16xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{requires a width between 1 and 16, but found 17}}
  %y = convbert.norm_tile %p (%a, %b) {eps = 0.0 : f64, width = 17 : i64}
    : (tensor<2x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

// NORM_TILE-C4
func.func @norm_tile_negative(%p: tensor<2x16xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{requires a width between 1 and 16, but found -1}}
  %y = convbert.norm_tile %p (%a, %b) {eps = 0.0 : f64, width = -1 : i64}
    : (tensor<2x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

// NORM_TILE-C5
func.func @norm_tile_eps(%p: tensor<2x16xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found -1.0}}
  %y = convbert.norm_tile %p (%a, %b) {eps = -1.0 : f64, width = 10 : i64}
    : (tensor<2x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return
}

// -----

// DEPTHWISE_TILE-C1
func.func @depthwise_tile_channels(%x: tensor<12x32xf32>, %t: tensor<9x16xf32>) {
  // expected-error @below {{requires the channels of `taps` to be 32, but found 16}}
  %y = convbert.depthwise_tile %x, %t : (tensor<12x32xf32>, tensor<9x16xf32>) -> tensor<4x32xf32>
  return
}

// -----

// DEPTHWISE_TILE-C2
func.func @depthwise_tile_rows(%x: tensor<8x32xf32>, %t: tensor<9x32xf32>) {
  // expected-error @below {{requires at least as many rows of `x` as taps, but found 8 and 9}}
  // expected-error @below {{failed to infer returned types}}
  %y = convbert.depthwise_tile %x, %t : (tensor<8x32xf32>, tensor<9x32xf32>) -> tensor<1x32xf32>
  return
}

// -----

// DEPTHWISE_TILE-C3
func.func @depthwise_tile_bias(%x: tensor<12x32xf32>, %t: tensor<9x32xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{requires the size of `bias` to be 32, but found 16}}
  %y = convbert.depthwise_tile %x, %t, %b
    : (tensor<12x32xf32>, tensor<9x32xf32>, tensor<16xf32>) -> tensor<4x32xf32>
  return
}

// -----

// SPAN_TILE-C1
func.func @span_tile_tokens(%l: tensor<4x9x8xf32>, %v: tensor<11x6x64xf32>) {
  // expected-error @below {{requires the tokens of `v` (tokens + taps - 1) to be 12, but found 11}}
  %y = convbert.span_tile %l, %v : (tensor<4x9x8xf32>, tensor<11x6x64xf32>) -> tensor<4x6x64xf32>
  return
}

// -----

// SPAN_TILE-C2
func.func @span_tile_heads(%l: tensor<4x9x8xf32>, %v: tensor<12x9x64xf32>) {
  // expected-error @below {{requires at least 9 heads of logits, but found 8}}
  %y = convbert.span_tile %l, %v : (tensor<4x9x8xf32>, tensor<12x9x64xf32>) -> tensor<4x9x64xf32>
  return
}

// -----

// ATTENTION_TILE-C1
func.func @attention_tile_head_size(
    %q: tensor<8x64xf32>, %k: tensor<3x32x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x3x16xf32>) {
  // expected-error @below {{requires the head size of `keys` to be 64, but found 32}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x32x16xf32>, tensor<3x16x64xf32>, tensor<3x16xf32>, tensor<8x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C2
func.func @attention_tile_value_panels(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<4x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x3x16xf32>) {
  // expected-error @below {{requires the panels of `values` to be 3, but found 4}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<4x16x64xf32>, tensor<3x16xf32>, tensor<8x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C2
func.func @attention_tile_value_width(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x8x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x3x16xf32>) {
  // expected-error @below {{requires the panel width of `values` to be 16, but found 8}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x8x64xf32>, tensor<3x16xf32>, tensor<8x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C3
func.func @attention_tile_bias_panels(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<4x16xf32>,
    %s: tensor<8x3x16xf32>) {
  // expected-error @below {{requires the panels of `bias` to be 3, but found 4}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<4x16xf32>, tensor<8x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C3
func.func @attention_tile_bias_width(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x8xf32>,
    %s: tensor<8x3x16xf32>) {
  // expected-error @below {{requires the panel width of `bias` to be 16, but found 8}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<3x8xf32>, tensor<8x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C4
func.func @attention_tile_score_rows(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<4x3x16xf32>) {
  // expected-error @below {{requires the rows of `scores` to be 8, but found 4}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<3x16xf32>, tensor<4x3x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C4
func.func @attention_tile_score_panels(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x4x16xf32>) {
  // expected-error @below {{requires the panels of `scores` to be 3, but found 4}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<3x16xf32>, tensor<8x4x16xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

// ATTENTION_TILE-C4
func.func @attention_tile_score_width(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x3x8xf32>) {
  // expected-error @below {{requires the panel width of `scores` to be 16, but found 8}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<3x16xf32>, tensor<8x3x8xf32>)
       -> tensor<8x64xf32>
  return
}

// -----

func.func @attention_tile_factor(
    %q: tensor<8x64xf32>, %k: tensor<3x64x16xf32>, %v: tensor<3x16x64xf32>, %b: tensor<3x16xf32>,
    %s: tensor<8x3x16xf32>, %f: f64) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f64'}}
  %y = convbert.attention_tile %q, %k, %v, %b scratch(%s) times(%f)
    : (tensor<8x64xf32>, tensor<3x64x16xf32>, tensor<3x16x64xf32>, tensor<3x16xf32>, tensor<8x3x16xf32>, f64)
       -> tensor<8x64xf32>
  return
}

// -----

// WEIGHT_VIEW-C1
func.func @weight_view_of_nothing() {
  // expected-error @below {{requires at least one packed tensor and one weight, but found 0 and 1}}
  %w = "convbert.weight_view"() : () -> tensor<8xf32>
  return
}

// -----

// WEIGHT_VIEW-C1
func.func @weight_view_without_weights(%p: tensor<8xf32>) {
  // expected-error @below {{requires at least one packed tensor and one weight, but found 1 and 0}}
  "convbert.weight_view"(%p) : (tensor<8xf32>) -> ()
  return
}

// -----

// NORM_TILE-C1
func.func @norm_tile_of_nothing(%p: tensor<2x16xf32>) {
  // expected-error @below {{requires at least one addend, but found none}}
  // expected-error @below {{failed to infer returned types}}
  %y = "convbert.norm_tile"(%p) {eps = 0.0 : f64, width = 10 : i64} : (tensor<2x16xf32>) -> tensor<16xf32>
  return
}
