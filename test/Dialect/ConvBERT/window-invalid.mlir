// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Convolutions with a window of their own: constraints on several operands.

// CONV1D-C1
func.func @conv_rank(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 3, floating point, static, no empty dimension) or one weight a sequence (rank 4, floating point, static from dimension 1 on, no empty dimension), but got 'tensor<4x8xf32>'}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// CONV1D-C1
func.func @conv_dynamic_weight(%x: tensor<?x?x8xf32>, %w: tensor<?x?x8x3xf32>) {
  // expected-error @below {{operand #1 must be weight}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<?x?x8x3xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

// CONV1D-C2
func.func @conv_no_groups(%x: tensor<?x?x8xf32>, %w: tensor<4x8x3xf32>) {
  // expected-error @below {{requires a positive number of groups, but found 0}}
  %y = convbert.conv1d %x, %w {groups = 0 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<4x8x3xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// CONV1D-C2
func.func @conv_groups_of_x(%x: tensor<?x?x8xf32>, %w: tensor<6x2x3xf32>) {
  // expected-error @below {{requires the features of `x` to be a multiple of the 3 groups, but found 8}}
  %y = convbert.conv1d %x, %w {groups = 3 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x2x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C2
func.func @conv_groups_of_weight(%x: tensor<?x?x8xf32>, %w: tensor<6x2x3xf32>) {
  // expected-error @below {{requires the output features of `weight` to be a multiple of the 4 groups, but found 6}}
  %y = convbert.conv1d %x, %w {groups = 4 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x2x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C3
func.func @conv_features(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 4, but found 8}}
  %y = convbert.conv1d %x, %w {groups = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C3
func.func @conv_features_in_out(%x: tensor<?x?x8xf32>, %w: tensor<3x6x8xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 6}}
  %y = convbert.conv1d %x, %w {layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<3x6x8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// CONV1D-C4
func.func @conv_batch(%x: tensor<2x?x8xf32>, %w: tensor<3x6x8x3xf32>) {
  // expected-error @below {{requires the batch of `weight` to be 2, but found 3}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<2x?x8xf32>, tensor<3x6x8x3xf32>) -> tensor<2x?x6xf32>
  return
}

// -----

// CONV1D-C5
func.func @conv_bias_rank(%x: tensor<?x?x8xf32>, %w: tensor<?x6x8x3xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the rank of `bias` to be 2, but found 1}}
  %y = convbert.conv1d %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<?x6x8x3xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C5
func.func @conv_bias(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 6, but found 8}}
  %y = convbert.conv1d %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>, tensor<8xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C5
func.func @conv_bias_batch(%x: tensor<2x?x8xf32>, %w: tensor<2x6x8x3xf32>, %b: tensor<1x6xf32>) {
  // expected-error @below {{requires the batch of `bias` to be 2, but found 1}}
  %y = convbert.conv1d %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<2x?x8xf32>, tensor<2x6x8x3xf32>, tensor<1x6xf32>) -> tensor<2x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_stride(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires a positive stride, but found 0}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1, 1>, stride = 0 : i64}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_dilation(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires a positive dilation, but found -2}}
  %y = convbert.conv1d %x, %w {dilation = -2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_one_pad(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires two pads, but found 1}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1>} : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_negative_pad(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires pads that are not negative, but found [2, -1]}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 2, -1>} : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_short(%x: tensor<?x5x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires at least 6 tokens for 3 taps with dilation 4 and pads [1, 2], but found 5}}
  %y = convbert.conv1d %x, %w {dilation = 4 : i64, pads = array<i64: 1, 2>}
    : (tensor<?x5x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_huge_pads(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires a window whose extent is a number, but found pads [9223372036854775807, 9223372036854775807] and 3 taps with dilation 1}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 9223372036854775807, 9223372036854775807>}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// CONV1D-C6
func.func @conv_huge_dilation(%x: tensor<?x?x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{requires a window whose extent is a number, but found pads [0, 0] and 3 taps with dilation 9223372036854775807}}
  %y = convbert.conv1d %x, %w {dilation = 9223372036854775807 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<6x8x3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// TYPE-C7: the tokens of the result follow from the window.
func.func @conv_tokens(%x: tensor<?x9x8xf32>, %w: tensor<6x8x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<?x4x6xf32>' are incompatible with return type(s) of operation 'tensor<?x5x6xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 0, 0>, stride = 2 : i64}
    : (tensor<?x9x8xf32>, tensor<6x8x3xf32>) -> tensor<?x5x6xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_stride(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires a positive stride, but found -1}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>, stride = -1 : i64}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_dilation(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires a positive dilation, but found 0}}
  %y = convbert.depthwise_conv1d %x, %w {dilation = 0 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C2
func.func @depthwise_short(%x: tensor<1x2x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{requires at least 3 tokens for 3 taps with dilation 1 and pads [0, 0], but found 2}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>}
    : (tensor<1x2x8xf32>, tensor<8x3xf32>) -> tensor<1x?x8xf32>
  return
}

// -----

// DEPTHWISE_CONV1D-C3
func.func @depthwise_bias(%x: tensor<?x?x8xf32>, %w: tensor<16x3xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 16, but found 8}}
  %y = convbert.depthwise_conv1d %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<16x3xf32>, tensor<8xf32>) -> tensor<?x?x16xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C4
func.func @separable_dilated_pads(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 6), but found [1, 1]}}
  %y = convbert.separable_conv1d %x, %wd, %wp {dilation = 3 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C4
func.func @separable_huge_pads(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [9223372036854775807, 9223372036854775807]}}
  %y = convbert.separable_conv1d %x, %wd, %wp {pads = array<i64: 9223372036854775807, 9223372036854775807>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// SEPARABLE_CONV1D-C5
func.func @separable_dilation(%x: tensor<?x?x8xf32>, %wd: tensor<8x3xf32>, %wp: tensor<4x8xf32>) {
  // expected-error @below {{requires a positive dilation, but found 0}}
  %y = convbert.separable_conv1d %x, %wd, %wp {dilation = 0 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// BATCH_NORM-C1
func.func @batch_norm_mean(%x: tensor<?x?x8xf32>, %m: tensor<4xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{requires the size of `mean` to be 8, but found 4}}
  %y = convbert.batch_norm %x, %m, %v, %v, %v {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// BATCH_NORM-C1
func.func @batch_norm_variance(%x: tensor<?x?x8xf32>, %m: tensor<4xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{requires the size of `variance` to be 8, but found 4}}
  %y = convbert.batch_norm %x, %v, %m, %v, %v {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// BATCH_NORM-C1
func.func @batch_norm_gamma(%x: tensor<?x?x8xf32>, %m: tensor<4xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{requires the size of `gamma` to be 8, but found 4}}
  %y = convbert.batch_norm %x, %v, %v, %m, %v {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// BATCH_NORM-C1
func.func @batch_norm_beta(%x: tensor<?x?x8xf32>, %m: tensor<4xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{requires the size of `beta` to be 8, but found 4}}
  %y = convbert.batch_norm %x, %v, %v, %v, %m {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// BATCH_NORM-C2
func.func @batch_norm_eps(%x: tensor<?x?x8xf32>, %v: tensor<8xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found -1}}
  %y = convbert.batch_norm %x, %v, %v, %v, %v {eps = -1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// SOFTMAX-C1
func.func @softmax_temperature(%x: tensor<?x4xf32>) {
  // expected-error @below {{requires a temperature that is finite and positive, but found 0}}
  %y = convbert.softmax %x {temperature = 0.0 : f64} : tensor<?x4xf32>
  return
}

// -----

// WEIGHTED_SUM-C1
func.func @weighted_sum_features(%x: tensor<?x?x8xf32>, %p: tensor<?x3xf32>) {
  // expected-error @below {{requires the features of `x` to be a multiple of the 3 weights, but found 8}}
  // expected-error @below {{failed to infer returned types}}
  %y = convbert.weighted_sum %x, %p : (tensor<?x?x8xf32>, tensor<?x3xf32>) -> tensor<?x?x2xf32>
  return
}

// -----

// WEIGHTED_SUM-C2
func.func @weighted_sum_batch(%x: tensor<2x?x8xf32>, %p: tensor<3x4xf32>) {
  // expected-error @below {{requires the batch of `weights` to be 2, but found 3}}
  %y = convbert.weighted_sum %x, %p : (tensor<2x?x8xf32>, tensor<3x4xf32>) -> tensor<2x?x2xf32>
  return
}
