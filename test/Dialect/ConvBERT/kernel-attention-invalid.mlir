// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Attention over kernels: constraints on several operands.

// KERNEL_ATTENTION_CONV-C1
func.func @f1(%x: tensor<?x?x8xf32>, %f1: tensor<2x4xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires the input features of `f1` to be 8, but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x4xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C1
func.func @b1(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %b1: tensor<3xf32>, %f2: tensor<3x2xf32>,
              %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires the size of `b1` to be 2, but found 3}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1, %b1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C2
func.func @f2_in(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x4xf32>, %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires the input features of `f2` to be 2, but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x4xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C2
func.func @f2_out(%x: tensor<?x?x8xf32>, %f1: tensor<8x2xf32>, %f2: tensor<2x4xf32>, %w: tensor<3x3x8x5xf32>) {
  // expected-error @below {{requires the output features of `f2` to be 3, but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w)
         {layout = #convbert.layout<in_out>, pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<3x3x8x5xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C2
func.func @b2(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %b2: tensor<2xf32>,
              %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires the size of `b2` to be 3, but found 2}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2, %b2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C3
func.func @kernels(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x4x3xf32>) {
  // expected-error @below {{requires the input features of `kernels` to be 8, but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x4x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C4
func.func @count_of_biases(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x8x3xf32>,
                           %b: tensor<2x5xf32>) {
  // expected-error @below {{requires the kernels of `biases` to be 3, but found 2}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w, %b) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>, tensor<2x5xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C4
func.func @width_of_biases(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x8x3xf32>,
                           %b: tensor<3x4xf32>) {
  // expected-error @below {{requires the output features of `biases` to be 5, but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w, %b) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>, tensor<3x4xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C5
func.func @window(%x: tensor<?x4x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires at least 5 tokens for 3 taps with dilation 2 and pads [0, 0], but found 4}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w)
         {dilation = 2 : i64, pads = array<i64: 0, 0>}
    : (tensor<?x4x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// KERNEL_ATTENTION_CONV-C6
func.func @temperature(%x: tensor<?x?x8xf32>, %f1: tensor<2x8xf32>, %f2: tensor<3x2xf32>, %w: tensor<3x5x8x3xf32>) {
  // expected-error @below {{requires a temperature that is finite and positive, but found -2}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w)
         {pads = array<i64: 1, 1>, temperature = -2.0 : f64}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>, tensor<3x2xf32>, tensor<3x5x8x3xf32>) -> tensor<?x?x5xf32>
  return
}

// -----

// TYPE-C6: integers have no softmax.
func.func @integers(%x: tensor<?x?x8xi32>, %f1: tensor<2x8xi32>, %f2: tensor<3x2xi32>, %w: tensor<3x5x8x3xi32>) {
  // expected-error @below {{operand #0 must be activation of a sequence}}
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w) {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xi32>, tensor<2x8xi32>, tensor<3x2xi32>, tensor<3x5x8x3xi32>) -> tensor<?x?x5xi32>
  return
}
