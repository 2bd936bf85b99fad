// Values that have no place in a workspace, and heads that cannot be padded.
// RUN: convbert-opt %s --convbert-outline-cpu --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op requires activations of f32, but found 'f16'}}
func.func private @half(%x: tensor<?x?x8xf16>) {
  return
}
func.func @forward() {
  return
}

// -----

func.func private @double(%x: tensor<?x?xi1>) -> tensor<?x?xf64> {
  // expected-error @below {{'arith.sitofp' op requires activations of f32, but found 'f64'}}
  %y = arith.sitofp %x : tensor<?x?xi1> to tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
func.func @forward() {
  return
}

// -----

// expected-error @below {{requires a static number of features, but found 'tensor<?x?x?xf32>'}}
func.func private @open(%x: tensor<?x?x?xf32>) {
  return
}
func.func @forward() {
  return
}

// -----

func.func private @strided(%x: tensor<?x8xf32>, %w: tensor<5x4xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %B = tensor.dim %x, %c0 : tensor<?x8xf32>
  // expected-error @below {{requires a slice of features of all rows, with static bounds}}
  %y = tensor.extract_slice %x[0, 0] [%B, 4] [1, 2] : tensor<?x8xf32> to tensor<?x4xf32>
  %z = convbert.dense %y, %w : (tensor<?x4xf32>, tensor<5x4xf32>) -> tensor<?x5xf32>
  return %z : tensor<?x5xf32>
}
func.func @forward() {
  return
}

// -----

// The first token is what `pool` is for.
func.func private @first_token(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  // expected-error @below {{requires a slice of features of all rows, with static bounds}}
  %y = tensor.extract_slice %x[0, 0, 0] [%B, 1, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
  %z = convbert.dense %y, %w : (tensor<?x8xf32>, tensor<5x8xf32>) -> tensor<?x5xf32>
  return %z : tensor<?x5xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @rows(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>, %n: tensor<?x?x8xf32>) -> tensor<?x?x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  // expected-error @below {{requires a slice of features of all rows, with static bounds}}
  %y = tensor.extract_slice %x[0, 1, 0] [%B, %T, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x8xf32>
  %z = convbert.dense %y, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  return %z : tensor<?x?x5xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @along_tokens(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x?x5xf32> {
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  %z = convbert.dense %x, %w {activation = #convbert.activation<gelu>} : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  // expected-error @below {{requires a concatenation of features, but found dimension 1}}
  %c = tensor.concat dim(1) %y, %z : (tensor<?x?x5xf32>, tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  return %c : tensor<?x?x5xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @arguments(%x: tensor<?x?x8xf32>) -> tensor<?x?x16xf32> {
  // expected-error @below {{requires operands that are computed for this concatenation alone}}
  %c = tensor.concat dim(2) %x, %x : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x16xf32>
  return %c : tensor<?x?x16xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @open_operand(%x: tensor<?x?xi1>, %n: tensor<?x?xi1>) -> tensor<?x?x8xf32> {
  %i = tensor.expand_shape %x [[0], [1, 2]] output_shape [1, 1, 1] : tensor<?x?xi1> into tensor<?x?x?xi1>
  %y = arith.sitofp %i : tensor<?x?x?xi1> to tensor<?x?x?xf32>
  %z = arith.negf %y : tensor<?x?x?xf32>
  // expected-error @below {{requires a static number of features, but found 'tensor<?x?x?xf32>'}}
  %c = tensor.concat dim(2) %y, %z : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x8xf32>
  return %c : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @operand_twice(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x?x10xf32> {
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  // expected-error @below {{requires operands that are computed for this concatenation alone}}
  %c = tensor.concat dim(2) %y, %y : (tensor<?x?x5xf32>, tensor<?x?x5xf32>) -> tensor<?x?x10xf32>
  return %c : tensor<?x?x10xf32>
}
func.func @forward() {
  return
}

// -----

// A partial panel of the first part, written last, would run into the second.
func.func private @order(%x: tensor<?x?x8xf32>, %v: tensor<7x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x?x12xf32> {
  %z = convbert.dense %x, %v : (tensor<?x?x8xf32>, tensor<7x8xf32>) -> tensor<?x?x7xf32>
  // expected-error @below {{requires the parts of a concatenation in the order of its operands where they are no whole panels, but found one of 5 features computed after the next}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  %c = tensor.concat dim(2) %y, %z : (tensor<?x?x5xf32>, tensor<?x?x7xf32>) -> tensor<?x?x12xf32>
  return %c : tensor<?x?x12xf32>
}
func.func @forward() {
  return
}

//===--- Head padding ---===//

// -----

// expected-error @below {{requires head-padded rows to stay inside a function, but an argument has heads of 4 features}}
func.func private @argument(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<5x8xf32>) -> tensor<?x?x5xf32> {
  %y = convbert.self_attention %x, %x, %x bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  %z = convbert.dense %y, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  return %z : tensor<?x?x5xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @norm(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %q = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'convbert.layer_norm' op cannot work on heads of 4 features padded to 16}}
  %z = convbert.layer_norm %y, %g, %g {eps = 0.5 : f64} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @two_sizes(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<8x8xf32>) -> tensor<?x?x8xf32> {
  %q = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  // expected-error @below {{'convbert.self_attention' op requires heads of 2 features, but found heads of 4}}
  %z = convbert.self_attention %q, %q, %q bias(%bias) {heads = 4 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

// Heads of 16 features need no padding, but cannot live in rows that are padded for heads of 8.
func.func private @plain_and_padded(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<32x8xf32>,
    %v: tensor<32x32xf32>) -> tensor<?x?x32xf32> {
  %q = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<32x8xf32>) -> tensor<?x?x32xf32>
  // expected-error @below {{'convbert.self_attention' op requires heads of 16 features, but found heads of 8}}
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?xf32>) -> tensor<?x?x32xf32>
  %z = convbert.self_attention %q, %q, %q bias(%bias) {heads = 4 : i64, scale = 1.0 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?xf32>) -> tensor<?x?x32xf32>
  %u = convbert.dense %z, %v : (tensor<?x?x32xf32>, tensor<32x32xf32>) -> tensor<?x?x32xf32>
  return %u : tensor<?x?x32xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @part_of_a_head(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<10x8xf32>, %o: tensor<3x8xf32>)
    -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %p = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<10x8xf32>) -> tensor<?x?x10xf32>
  // expected-error @below {{requires whole heads of 4 features, but found 10 features}}
  %q = tensor.extract_slice %p[0, 0, 0] [%B, %T, 8] [1, 1, 1] : tensor<?x?x10xf32> to tensor<?x?x8xf32>
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  %z = convbert.dense %y, %o : (tensor<?x?x8xf32>, tensor<3x8xf32>) -> tensor<?x?x3xf32>
  return %z : tensor<?x?x3xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @between_heads(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>, %w: tensor<12x8xf32>, %o: tensor<3x8xf32>)
    -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %p = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<12x8xf32>) -> tensor<?x?x12xf32>
  // expected-error @below {{requires a slice of whole heads of 4 features, but found one from feature 2 on}}
  %q = tensor.extract_slice %p[0, 0, 2] [%B, %T, 8] [1, 1, 1] : tensor<?x?x12xf32> to tensor<?x?x8xf32>
  %y = convbert.self_attention %q, %q, %q bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  %z = convbert.dense %y, %o : (tensor<?x?x8xf32>, tensor<3x8xf32>) -> tensor<?x?x3xf32>
  return %z : tensor<?x?x3xf32>
}
func.func @forward() {
  return
}
