// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Convolutions over tokens: constraints on several operands.

// DEPTHWISE_CONV1D-C1
func.func @depthwise_channels(%x: tensor<?x?x8xf32>, %w: tensor<7x3xf32>) {
  // expected-error @below {{requires the channels of `weight` to be a multiple of the 8 channels of `x`, but found 7}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<7x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_one_pad(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires two pads, but found 1}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_no_pads(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires two pads, but found 0}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64>} : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_negative_pad(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires pads that are not negative, but found [3, -1]}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 3, -1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C1
func.func @separable_channels(%x: tensor<?x?x8xf32>, %wd: tensor<4x3xf32>, %wp: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the channels of `depthwise` to be 8, but found 4}}
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<4x3xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C2
func.func @separable_pointwise(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the input features of `pointwise` to be 8, but found 4}}
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C3
func.func @separable_bias(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 4, but found 8}}
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C4
func.func @separable_pads(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [0, 0]}}
  %y = convbert.separable_conv1d %x, %wd, %wp, %b {pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// MASK_TOKENS-C1
func.func @mask_tokens(%x: tensor<2x5x8xf32>, %m: tensor<2x4xi1>) {
  // expected-error @below {{requires the length of `mask` to be 5, but found 4}}
  %y = convbert.mask_tokens %x, %m : (tensor<2x5x8xf32>, tensor<2x4xi1>) -> tensor<2x5x8xf32>
  return
}
