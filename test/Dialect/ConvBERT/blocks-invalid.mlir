// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Embeddings and feed-forward block: constraints on several operands.

// EMBEDDINGS-C7
func.func @embeddings_vectors_and_words(
    %i: tensor<?x?x4xf32>, %t: tensor<?x?xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>, %y: tensor<2x4xf32>,
    %g: tensor<4xf32>) {
  // expected-error @below {{requires no table of words for vectors, but found one}}
  %r = convbert.embeddings %i, %t, %t tables(%w, %q, %y) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?x4xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// EMBEDDINGS-C7
func.func @embeddings_ids_alone(%i: tensor<?x?xi64>, %q: tensor<7x4xf32>, %y: tensor<2x4xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{requires a table of words for ids, but found none}}
  %r = convbert.embeddings %i, %i, %i tables(%q, %y) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<7x4xf32>, tensor<2x4xf32>, tensor<4xf32>,
       tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// EMBEDDINGS-C7
func.func @embeddings_narrow_vectors(
    %i: tensor<?x?x3xf32>, %t: tensor<?x?xi64>, %q: tensor<7x4xf32>, %y: tensor<2x4xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{requires the width of the vectors to be 4, but found 3}}
  %r = convbert.embeddings %i, %t, %t tables(%q, %y) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?x3xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<7x4xf32>, tensor<2x4xf32>, tensor<4xf32>,
       tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

func.func @embeddings_one_table(%i: tensor<?x?x4xf32>, %t: tensor<?x?xi64>, %q: tensor<7x4xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{requires the tables (word,) position and type, but found 1}}
  %r = convbert.embeddings %i, %t, %t tables(%q) norm(%g, %g) {eps = 0.0 : f64}
    : (tensor<?x?x4xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<7x4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> tensor<?x?x4xf32>
  return
}

// -----

// EMBEDDINGS-C1
func.func @embeddings_types_batch(
    %i: tensor<2x5xi64>, %t: tensor<3x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the batch of `token_types` to be 2, but found 3}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<3x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C1
func.func @embeddings_positions_length(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x4xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the length of `position_ids` to be 5, but found 4}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x4xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C2
func.func @embeddings_position_width(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x5xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the width of `position` to be 4, but found 5}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x5xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C2
func.func @embeddings_type_width(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x5xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the width of `type_table` to be 4, but found 5}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x5xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C3
func.func @embeddings_gamma(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<5xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the size of `gamma` to be 4, but found 5}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<5xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C3
func.func @embeddings_beta(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{requires the size of `beta` to be 4, but found 5}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<5xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C4
func.func @embeddings_no_projection_bias(
    %i: tensor<2x5xi64>, %t: tensor<2x5xi64>, %p: tensor<2x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %wp: tensor<8x4xf32>) {
  // expected-error @below {{requires `projection` and `projection_bias` together, but found `projection` alone}}
  %r = "convbert.embeddings"(%i, %t, %p, %w, %q, %y, %g, %b, %wp)
         <{eps = 0.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0>}>
    : (tensor<2x5xi64>, tensor<2x5xi64>, tensor<2x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// EMBEDDINGS-C4
func.func @embeddings_no_projection(
    %i: tensor<2x5xi64>, %t: tensor<2x5xi64>, %p: tensor<2x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %bp: tensor<8xf32>) {
  // expected-error @below {{requires `projection` and `projection_bias` together, but found `projection_bias` alone}}
  %r = "convbert.embeddings"(%i, %t, %p, %w, %q, %y, %g, %b, %bp)
         <{eps = 0.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0, 1>}>
    : (tensor<2x5xi64>, tensor<2x5xi64>, tensor<2x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// EMBEDDINGS-C5
func.func @embeddings_projection_input(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %wp: tensor<8x5xf32>, %bp: tensor<8xf32>) {
  // expected-error @below {{requires the input features of `projection` to be 4, but found 5}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) project(%wp, %bp) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8x5xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// EMBEDDINGS-C5
func.func @embeddings_projection_bias(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %wp: tensor<8x4xf32>, %bp: tensor<4xf32>) {
  // expected-error @below {{requires the size of `projection_bias` to be 8, but found 4}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) project(%wp, %bp) {eps = 0.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// EMBEDDINGS-C6
func.func @embeddings_eps(
    %i: tensor<2x5xi64>, %t: tensor<2x?xi64>, %p: tensor<?x5xi64>, %w: tensor<9x4xf32>, %q: tensor<7x4xf32>,
    %y: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found -1.0}}
  %r = convbert.embeddings %i, %t, %p tables(%w, %q, %y) norm(%g, %b) {eps = -1.0 : f64}
    : (tensor<2x5xi64>, tensor<2x?xi64>, tensor<?x5xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// FEED_FORWARD-C1
func.func @feed_forward_ranks(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x8xf32>, %b1: tensor<12xf32>, %w2: tensor<2x6x4xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires weights of equal rank, but found 2 and 3}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<2x6x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C2
func.func @feed_forward_groups(
    %x: tensor<?x?x8xf32>, %w1: tensor<2x4x6xf32>, %b1: tensor<12xf32>, %w2: tensor<4x3x2xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the groups of `w2` to be 2, but found 4}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<2x4x6xf32>, tensor<12xf32>, tensor<4x3x2xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C3
func.func @feed_forward_w1(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x7xf32>, %b1: tensor<12xf32>, %w2: tensor<8x12xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the input features of `w1` to be 8, but found 7}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x7xf32>, tensor<12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C3
func.func @feed_forward_b1(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x8xf32>, %b1: tensor<8xf32>, %w2: tensor<8x12xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the size of `b1` to be 12, but found 8}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C3
func.func @feed_forward_w1_grouped(
    %x: tensor<?x?x8xf32>, %w1: tensor<2x8x6xf32>, %b1: tensor<12xf32>, %w2: tensor<2x6x4xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the input features of `w1` to be 8, but found 16}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<2x8x6xf32>, tensor<12xf32>, tensor<2x6x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C4
func.func @feed_forward_w2_input(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x8xf32>, %b1: tensor<12xf32>, %w2: tensor<8x11xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the input features of `w2` to be 12, but found 11}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<8x11xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C4
func.func @feed_forward_w2_output(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x8xf32>, %b1: tensor<12xf32>, %w2: tensor<7x12xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{requires the output features of `w2` to be 8, but found 7}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<7x12xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// FEED_FORWARD-C4
func.func @feed_forward_b2(
    %x: tensor<?x?x8xf32>, %w1: tensor<12x8xf32>, %b1: tensor<12xf32>, %w2: tensor<8x12xf32>, %b2: tensor<12xf32>) {
  // expected-error @below {{requires the size of `b2` to be 8, but found 12}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<8x12xf32>, tensor<12xf32>) -> tensor<?x?x8xf32>
  return
}
