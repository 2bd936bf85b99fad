// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Heads: constraints on several operands.

// LM_HEAD-C1
func.func @lm_head_weight(
    %x: tensor<?x?x8xf32>, %w: tensor<4x7xf32>, %b: tensor<4xf32>, %g: tensor<4xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x4xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C2
func.func @lm_head_bias(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>, %g: tensor<4xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x4xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires the size of `bias` to be 4, but found 8}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C2
func.func @lm_head_gamma(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %g: tensor<8xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x4xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires the size of `gamma` to be 4, but found 8}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<9x4xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C2
func.func @lm_head_beta(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %g: tensor<4xf32>, %beta: tensor<8xf32>,
    %d: tensor<9x4xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires the size of `beta` to be 4, but found 8}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<9x4xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C3
func.func @lm_head_decoder(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %g: tensor<4xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x8xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires the input features of `decoder` to be 4, but found 8}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x8xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C3
func.func @lm_head_decoder_bias(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %g: tensor<4xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x4xf32>, %db: tensor<4xf32>) {
  // expected-error @below {{requires the size of `decoder_bias` to be 9, but found 4}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>,
       tensor<4xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// LM_HEAD-C4
func.func @lm_head_eps(
    %x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %g: tensor<4xf32>, %beta: tensor<4xf32>,
    %d: tensor<9x4xf32>, %db: tensor<9xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found -INF}}
  %y = convbert.lm_head %x, %w, %b, %g, %beta, %d, %db {eps = 0xFFF0000000000000 : f64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>,
       tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// CLASSIFIER_HEAD-C1
func.func @classifier_head_w1(
    %x: tensor<?x?x8xf32>, %w1: tensor<6x7xf32>, %b1: tensor<6xf32>, %w2: tensor<3x6xf32>, %b2: tensor<3xf32>) {
  // expected-error @below {{requires the input features of `w1` to be 8, but found 7}}
  %y = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<6x7xf32>, tensor<6xf32>, tensor<3x6xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// CLASSIFIER_HEAD-C1
func.func @classifier_head_b1(
    %x: tensor<?x?x8xf32>, %w1: tensor<6x8xf32>, %b1: tensor<8xf32>, %w2: tensor<3x6xf32>, %b2: tensor<3xf32>) {
  // expected-error @below {{requires the size of `b1` to be 6, but found 8}}
  %y = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<8xf32>, tensor<3x6xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// CLASSIFIER_HEAD-C2
func.func @classifier_head_w2(
    %x: tensor<?x?x8xf32>, %w1: tensor<6x8xf32>, %b1: tensor<6xf32>, %w2: tensor<3x8xf32>, %b2: tensor<3xf32>) {
  // expected-error @below {{requires the input features of `w2` to be 6, but found 8}}
  %y = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// CLASSIFIER_HEAD-C2
func.func @classifier_head_b2(
    %x: tensor<?x?x8xf32>, %w1: tensor<6x8xf32>, %b1: tensor<6xf32>, %w2: tensor<3x6xf32>, %b2: tensor<6xf32>) {
  // expected-error @below {{requires the size of `b2` to be 3, but found 6}}
  %y = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>, tensor<3x6xf32>, tensor<6xf32>) -> tensor<?x3xf32>
  return
}

// -----

// TOKEN_HEAD-C1
func.func @token_head_weight(%x: tensor<?x?x8xf32>, %w: tensor<9x7xf32>, %b: tensor<9xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.token_head %x, %w, %b : (tensor<?x?x8xf32>, tensor<9x7xf32>, tensor<9xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// TOKEN_HEAD-C2
func.func @token_head_bias(%x: tensor<?x?x8xf32>, %w: tensor<9x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 9, but found 8}}
  %y = convbert.token_head %x, %w, %b : (tensor<?x?x8xf32>, tensor<9x8xf32>, tensor<8xf32>) -> tensor<?x?x9xf32>
  return
}

// -----

// SPAN_HEAD-C1
func.func @span_head_input(%x: tensor<?x?x8xf32>, %w: tensor<2x7xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %s, %e = convbert.span_head %x, %w, %b
    : (tensor<?x?x8xf32>, tensor<2x7xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return
}

// -----

// SPAN_HEAD-C1
func.func @span_head_outputs(%x: tensor<?x?x8xf32>, %w: tensor<3x8xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{requires the output features of `weight` to be 2, but found 3}}
  %s, %e = convbert.span_head %x, %w, %b
    : (tensor<?x?x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return
}

// -----

// SPAN_HEAD-C2
func.func @span_head_bias(%x: tensor<?x?x8xf32>, %w: tensor<2x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 2, but found 8}}
  %s, %e = convbert.span_head %x, %w, %b
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return
}

// -----

// CHOICE_HEAD-C1
func.func @choice_head_outputs(%x: tensor<?x?x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the output features of `weight` to be 1, but found 2}}
  %y = convbert.choice_head %x, %w, %b {summary = #convbert.pool<last>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<?x1xf32>
  return
}

// -----

// CHOICE_HEAD-C2
func.func @choice_head_bias(%x: tensor<?x?x8xf32>, %w: tensor<1x8xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the size of `bias` to be 1, but found 2}}
  %y = convbert.choice_head %x, %w, %b {summary = #convbert.pool<last>}
    : (tensor<?x?x8xf32>, tensor<1x8xf32>, tensor<2xf32>) -> tensor<?x1xf32>
  return
}
