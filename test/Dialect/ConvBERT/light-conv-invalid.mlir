// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Lightweight and dynamic convolution: constraints on several operands.

// LIGHT_CONV-C1
func.func @heads(%x: tensor<2x5x8xf32>, %w: tensor<3x3xf32>) {
  // expected-error @below {{requires the channels of `x` to be a multiple of the 3 heads, but found 8}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<3x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C2
func.func @bias(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the size of `bias` to be 8, but found 2}}
  %y = convbert.light_conv %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @pads(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [2, 2]}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 2, 2>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @negative_pads(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires pads that are not negative, but found [3, -1]}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 3, -1>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @one_pad(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires two pads, but found 1}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 2>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @pads_of_a_dilated_window(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 4), but found [1, 1]}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>, dilation = 2 : i64}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @dilation(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires a positive dilation, but found 0}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 0, 0>, dilation = 0 : i64}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C3
func.func @window(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires a window of at most 2147483648 tokens, but found 3 taps with dilation 9223372036854775807}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>, dilation = 9223372036854775807 : i64}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C4
func.func @renorm(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `edge = renorm`, but found `none`}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// LIGHT_CONV-C4
func.func @renorm_without_the_token(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf32>) {
  // expected-error @below {{requires a low pad that is a multiple of the dilation, 2, for `edge = renorm`, but found 1}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 3>, dilation = 2 : i64, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// TYPE-C6
func.func @light_elements(%x: tensor<2x5x8xf32>, %w: tensor<2x3xf16>) {
  // expected-error @below {{requires equal element types, but found 'f32' and 'f16'}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x3xf16>) -> tensor<2x5x8xf32>
  return
}

// -----

// TYPE-C4
func.func @light_integers(%x: tensor<2x5x8xf32>, %w: tensor<2x3xi32>) {
  // expected-error @below {{operand #1 must be weight}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x3xi32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C1
func.func @query_length(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %q: tensor<2x6x8xf32>) {
  // expected-error @below {{requires the length of `query` to be 5, but found 6}}
  %y = convbert.dynamic_conv %x, %w query(%q) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C2
func.func @no_heads(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a positive number of heads, but found 0}}
  %y = convbert.dynamic_conv %x, %w {heads = 0 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C2
func.func @channel_heads(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires the channels of `x` to be a multiple of the 3 heads, but found 8}}
  %y = convbert.dynamic_conv %x, %w {heads = 3 : i64, pads = array<i64: 0, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C2
func.func @weight_heads(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires the output features of `weight` to be a multiple of the 4 heads, but found 6}}
  %y = convbert.dynamic_conv %x, %w {heads = 4 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C3
func.func @weight_input(%x: tensor<2x5x8xf32>, %w: tensor<6x7xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x7xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C3
func.func @weight_query(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %q: tensor<2x5x4xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 4, but found 8}}
  %y = convbert.dynamic_conv %x, %w query(%q) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<2x5x4xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C4
func.func @generator_bias(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 6, but found 8}}
  %y = convbert.dynamic_conv %x, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C5
func.func @channel_bias(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %c: tensor<6xf32>) {
  // expected-error @below {{requires the size of `channel_bias` to be 8, but found 6}}
  %y = convbert.dynamic_conv %x, %w channel_bias(%c) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C6
func.func @dynamic_pads(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [2, 2]}}
  %y = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 2, 2>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C7
func.func @dynamic_renorm(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `edge = renorm`, but found `none`}}
  %y = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 1, 1>, normalize = #convbert.norm<none>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// ADD_BIAS-C1
func.func @add_bias(%x: tensor<2x8xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the size of `bias` to be 8, but found 2}}
  %y = convbert.add_bias %x, %b
    : (tensor<2x8xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}
