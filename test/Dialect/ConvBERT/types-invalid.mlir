// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// What a type alone must fulfil, and the two constraints that all operations share.

// TYPE-C1
func.func @dynamic_features(%x: tensor<?x?x?xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<?x?x?xf32>'}}
  %y = convbert.dense %x, %w : (tensor<?x?x?xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C1
func.func @no_tokens(%x: tensor<2x0x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<2x0x8xf32>'}}
  %y = convbert.dense %x, %w : (tensor<2x0x8xf32>, tensor<4x8xf32>) -> tensor<2x0x4xf32>
  return
}

// -----

// TYPE-C1
func.func @no_features(%x: tensor<2x0xf32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<2x0xf32>'}}
  %y = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<2x0xf32>
  return
}

// -----

// TYPE-C1
func.func @activation_rank(%x: tensor<2x3x4x5xf32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<2x3x4x5xf32>'}}
  %y = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<2x3x4x5xf32>
  return
}

// -----

// TYPE-C1
func.func @activation_elements(%x: tensor<2x3x4xi32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<2x3x4xi32>'}}
  %y = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<2x3x4xi32>
  return
}

// -----

// TYPE-C1
func.func @unranked(%x: tensor<*xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be activation (rank 2 or 3, floating point, static features, no empty dimension), but got 'tensor<*xf32>'}}
  %y = convbert.dense %x, %w : (tensor<*xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C1
func.func @sequence_rank(%x: tensor<?x8xf32>) {
  // expected-error @below {{operand #0 must be activation of a sequence (rank 3, floating point, static features, no empty dimension), but got 'tensor<?x8xf32>'}}
  %y = convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// TYPE-C2
func.func @taps_dynamic(%v: tensor<?x?x8xf32>, %t: tensor<?x?x?x3xf32>) {
  // expected-error @below {{operand #1 must be convolution taps (rank 4, floating point, static heads and taps, no empty dimension), but got 'tensor<?x?x?x3xf32>'}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C2
func.func @no_taps(%v: tensor<?x?x8xf32>, %t: tensor<?x?x2x0xf32>) {
  // expected-error @below {{operand #1 must be convolution taps (rank 4, floating point, static heads and taps, no empty dimension), but got 'tensor<?x?x2x0xf32>'}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 0, 0>, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf32>, tensor<?x?x2x0xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C3
func.func @mask_elements(%m: tensor<?x?xi8>) {
  // expected-error @below {{operand #0 must be one bit a token (rank 2, i1, no empty dimension), but got 'tensor<?x?xi8>'}}
  %y = convbert.attention_bias %m : (tensor<?x?xi8>) -> tensor<?x?xf32>
  return
}

// -----

// TYPE-C3
func.func @mask_rank(%m: tensor<?x?x?xi1>) {
  // expected-error @below {{operand #0 must be one bit a token (rank 2, i1, no empty dimension), but got 'tensor<?x?x?xi1>'}}
  %y = convbert.attention_bias %m : (tensor<?x?x?xi1>) -> tensor<?x?xf32>
  return
}

// -----

// TYPE-C3
func.func @bias_rank(%q: tensor<?x?x8xf32>, %k: tensor<?x?x8xf32>, %v: tensor<?x?x8xf32>, %b: tensor<?x?x?xf32>) {
  // expected-error @below {{operand #3 must be one number a token (rank 2, floating point, no empty dimension), but got 'tensor<?x?x?xf32>'}}
  %y = convbert.self_attention %q, %k, %v bias(%b) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x?xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C3
func.func @id_elements(
    %i: tensor<?x?xf32>, %t: tensor<?x?xi64>, %p: tensor<?x?xi64>, %a: tensor<9x4xf32>, %b: tensor<7x4xf32>,
    %c: tensor<2x4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be one integer a token (rank 2, i32 or i64, no empty dimension) or activation of a sequence (rank 3, floating point, static features, no empty dimension), but got 'tensor<?x?xf32>'}}
  %y = convbert.embeddings %i, %t, %p tables(%a, %b, %c) norm(%g, %h) {eps = 0.0 : f64}
    : (tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C4
func.func @dynamic_weight(%x: tensor<?x?x8xf32>, %w: tensor<4x?xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 2, floating point, static, no empty dimension), but got 'tensor<4x?xf32>'}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<4x?xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C4
func.func @empty_weight(%x: tensor<?x?x8xf32>, %w: tensor<8x0xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 2, floating point, static, no empty dimension), but got 'tensor<8x0xf32>'}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<8x0xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C4
func.func @bias_rank(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<1x4xf32>) {
  // expected-error @below {{operand #2 must be weight (rank 1, floating point, static, no empty dimension), but got 'tensor<1x4xf32>'}}
  %y = convbert.dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<1x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C4
func.func @feed_forward_rank(
    %x: tensor<?x?x8xf32>, %w1: tensor<8xf32>, %b1: tensor<8xf32>, %w2: tensor<8x8xf32>, %b2: tensor<8xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 2 or 3, floating point, static, no empty dimension), but got 'tensor<8xf32>'}}
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C4
func.func @dynamic_parameter(%p: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be variadic of parameter (floating point, static, no empty dimension), but got 'tensor<?xf32>'}}
  %w = convbert.weight_view %p : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

// TYPE-C5
func.func @empty_tile(%x: tensor<4x32xf32>, %t: tensor<0x32xf32>) {
  // expected-error @below {{operand #1 must be tile (rank 2, floating point, no empty dimension), but got 'tensor<0x32xf32>'}}
  %y = convbert.depthwise_tile %x, %t : (tensor<4x32xf32>, tensor<0x32xf32>) -> tensor<5x32xf32>
  return
}

// -----

// TYPE-C5
func.func @dynamic_row(%p: tensor<2x8xf32>, %x: tensor<?xf32>) {
  // expected-error @below {{operand #1 must be variadic of row (rank 1, floating point, static, no empty dimension), but got 'tensor<?xf32>'}}
  %y = convbert.norm_tile %p (%x) {eps = 0.0 : f64, width = 8 : i64} : (tensor<2x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// TYPE-C6
func.func @element_types(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf16>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<4x8xf16>) -> tensor<?x?x4xf32>
  return
}

// -----

// TYPE-C7
func.func @result_features(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<?x?x4xf32>' are incompatible with return type(s) of operation 'tensor<?x?x8xf32>'}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// TYPE-C7
func.func @result_batch(%x: tensor<2x?x8xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<2x8xf32>' are incompatible with return type(s) of operation 'tensor<?x8xf32>'}}
  %y = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<2x?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// ACTIVATION-C1
func.func @activation_result(%x: tensor<?x8xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "convbert.activation"(%x) {kind = #convbert.activation<relu>} : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}

// -----

// TYPE-C8
func.func @probabilities_rank(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{result #1 must be attention probabilities (rank 4, floating point, no empty dimension), but got 'tensor<?x?x?xf32>'}}
  %y, %p = convbert.self_attention %x, %x, %x {heads = 2 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x?xf32>)
  return
}

// -----

// TYPE-C7
func.func @probabilities_nobody_asked_for(%x: tensor<?x?x8xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<?x?x8xf32>' are incompatible with return type(s) of operation 'tensor<?x?x8xf32>', 'tensor<?x2x?x?xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y, %p = convbert.self_attention %x, %x, %x {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>)
  return
}
