// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Windows and taps of the operations that check them as others do.

// TYPE-C4: no taps.
func.func @no_taps(%x: tensor<2x5x8xf32>, %w: tensor<4x8x0xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 3, floating point, static, no empty dimension) or}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 0, 0>}
    : (tensor<2x5x8xf32>, tensor<4x8x0xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

// TYPE-C4
func.func @no_taps_of_channels(%x: tensor<2x5x8xf32>, %w: tensor<8x0xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 2, floating point, static, no empty dimension), but got 'tensor<8x0xf32>'}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 0>}
    : (tensor<2x5x8xf32>, tensor<8x0xf32>) -> tensor<2x6x8xf32>
  return
}

// -----

// TYPE-C4
func.func @no_taps_of_heads(%x: tensor<2x5x8xf32>, %w: tensor<2x0xf32>) {
  // expected-error @below {{operand #1 must be weight (rank 2, floating point, static, no empty dimension), but got 'tensor<2x0xf32>'}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 0, 0>}
    : (tensor<2x5x8xf32>, tensor<2x0xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// TYPE-C4: no kernels.
func.func @no_kernels(%x: tensor<2x5x8xf32>, %f1: tensor<3x8xf32>, %f2: tensor<1x3xf32>, %k: tensor<0x4x8x3xf32>) {
  // expected-error @below {{operand #3 must be weight (rank 4, floating point, static, no empty dimension), but got 'tensor<0x4x8x3xf32>'}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%k) {pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<1x3xf32>, tensor<0x4x8x3xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C5
func.func @stride_of_kernels(%x: tensor<2x5x8xf32>, %f1: tensor<3x8xf32>, %f2: tensor<2x3xf32>, %k: tensor<2x4x8x3xf32>) {
  // expected-error @below {{requires a positive stride, but found 0}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%k) {pads = array<i64: 1, 1>, stride = 0 : i64}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<2x3xf32>, tensor<2x4x8x3xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C5
func.func @pads_of_kernels(%x: tensor<2x5x8xf32>, %f1: tensor<3x8xf32>, %f2: tensor<2x3xf32>, %k: tensor<2x4x8x3xf32>) {
  // expected-error @below {{requires pads that are not negative, but found [-1, 3]}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%k) {pads = array<i64: -1, 3>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<2x3xf32>, tensor<2x4x8x3xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// APPLY_KERNEL-C3
func.func @dilation_of_taps(%v: tensor<2x5x8xf32>, %a: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires a positive dilation, but found 0}}
  %y = convbert.apply_kernel %v, %a {pads = array<i64: 1, 1>, dilation = 0 : i64, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// APPLY_KERNEL-C6
func.func @renorm_without_softmax(%v: tensor<2x5x8xf32>, %a: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `edge = renorm`, but found `none`}}
  %y = convbert.apply_kernel %v, %a {pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C6
func.func @dilation_of_dynamic(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a positive dilation, but found -1}}
  %y = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 1, 1>, dilation = -1 : i64}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_CONV-C7
func.func @low_pad_of_dynamic(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a low pad that is a multiple of the dilation, 2, for `edge = renorm`, but found 3}}
  %y = convbert.dynamic_conv %x, %w {heads = 2 : i64, pads = array<i64: 3, 1>, dilation = 2 : i64, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C6
func.func @dilation_of_span(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a positive dilation, but found 0}}
  %y = convbert.span_dynamic_conv %q, %q, %q, %w {heads = 2 : i64, pads = array<i64: 1, 1>, dilation = 0 : i64}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C8
func.func @low_pad_of_span(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a low pad that is a multiple of the dilation, 2, for `edge = renorm`, but found 1}}
  %y = convbert.span_dynamic_conv %q, %q, %q, %w {heads = 2 : i64, pads = array<i64: 1, 3>, dilation = 2 : i64, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}
