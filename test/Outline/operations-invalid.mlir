// Operations without a CPU kernel, and parameters that cannot be packed.
// RUN: convbert-opt %s --convbert-outline-cpu --split-input-file --verify-diagnostics

func.func private @light_softmax(%x: tensor<?x?x8xf32>, %w: tensor<2x3xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{requires the softmax of its weights decomposed for the CPU kernel, but found normalize softmax}}
  %y = convbert.light_conv %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<2x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @strided(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{requires the number of tokens to stay the same in a private function}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>, stride = 2 : i64} : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @wide_values(%x: tensor<?x?x32xf32>, %v: tensor<?x?x64xf32>, %bias: tensor<?x?xf32>) -> tensor<?x?x64xf32> {
  // expected-error @below {{requires values as wide as keys for the CPU kernel, but found 64 and 32 features}}
  %y = convbert.self_attention %x, %x, %v bias(%bias) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x64xf32>, tensor<?x?xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @scores(%x: tensor<?x?x32xf32>, %v: tensor<?x?x32xf32>, %bias: tensor<?x?xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %one = tensor.extract_slice %x[0, 0, 3] [%B, %T, 1] [1, 1, 1] : tensor<?x?x32xf32> to tensor<?x?xf32>
  // expected-error @below {{requires a key bias made by convbert.attention_bias for the CPU kernel}}
  %y = convbert.self_attention %x, %x, %v bias(%one) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @probabilities(%x: tensor<?x?x32xf32>, %bias: tensor<?x?xf32>) -> tensor<?x?x32xf32> {
  // expected-error @below {{requires probabilities and normalised taps to be results of the function, once, and used nowhere else}}
  %y, %p = convbert.self_attention %x, %x, %x bias(%bias) {heads = 2 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?xf32>)
      -> (tensor<?x?x32xf32>, tensor<?x2x?x?xf32>)
  return %y : tensor<?x?x32xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @twice(%v: tensor<?x?x32xf32>, %t: tensor<?x?x2x3xf32>)
    -> (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>) {
  // expected-error @below {{requires probabilities and normalised taps to be results of the function, once, and used nowhere else}}
  %y, %k = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>, with_taps}
    : (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>) -> (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>)
  return %y, %k, %k : tensor<?x?x32xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @mask(%v: tensor<?x?x32xf32>, %t: tensor<?x?x2x3xf32>, %m: tensor<?x?xi1>) -> tensor<?x?x32xf32> {
  // expected-error @below {{requires its mask decomposed into a step of its own}}
  %y = convbert.apply_kernel %v, %t mask(%m) {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>, tensor<?x?xi1>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @span_key(%q: tensor<?x?x16xf32>, %v: tensor<?x?x32xf32>, %w: tensor<6x16xf32>) -> tensor<?x?x32xf32> {
  // expected-error @below {{requires its span-aware key fused into the layer that makes a factor of the product}}
  %t = convbert.dynamic_kernel %q, %w span(%q) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x16xf32>, tensor<6x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x32xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @quotient(%x: tensor<?x?x8xf32>, %z: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{'arith.divf' op has no CPU kernel}}
  %y = arith.divf %x, %z : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

// A loop around calls.
func.func private @f() {
  return
}
func.func @forward() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @below {{'scf.for' op has no CPU kernel}}
  scf.for %i = %c0 to %c3 step %c1 {
    func.call @f() : () -> ()
  }
  return
}

// -----

func.func @forward(%mask: tensor<?x?xi1>) {
  %c0 = arith.constant 0 : index
  %c = tensor.extract %mask[%c0, %c0] : tensor<?x?xi1>
  // expected-error @below {{'cf.assert' op has no CPU kernel}}
  cf.assert %c, "never"
  return
}

//===--- Parameters and inputs ---===//

// -----

// Nobody calls this function, so nobody says what its weight is.
func.func private @uncalled(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x?x5xf32> {
  // expected-error @below {{requires packed parameters that rest on globals}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<5x8xf32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @uncalled(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{requires packed parameters that rest on globals, and inputs that are arguments}}
  %y = convbert.layer_norm %x, %g, %g {eps = 0.5 : f64} : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func @forward(%mask: tensor<?x?xi1>) {
  %not = arith.xori %mask, %mask : tensor<?x?xi1>
  return
}
func.func private @inverted(%mask: tensor<?x?xi1>, %other: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %both = arith.andi %mask, %other : tensor<?x?xi1>
  // expected-error @below {{requires packed parameters that rest on globals, and inputs that are arguments}}
  %bias = convbert.attention_bias %both : (tensor<?x?xi1>) -> tensor<?x?xf32>
  return %bias : tensor<?x?xf32>
}

// -----

ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
ml_program.global private @g(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
func.func private @short_ids(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
  %t = ml_program.global_load_const @t : tensor<9x8xf32>
  %g = ml_program.global_load_const @g : tensor<8xf32>
  // expected-error @below {{requires operands of kernel @embed_8 of type 'memref<?x?xi64>', but found 'memref<?x?xi32>'}}
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}
func.func private @caller(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
  %y = call @short_ids(%ids) : (tensor<?x?xi32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
ml_program.global private @g(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
func.func private @f(%x: tensor<?x?x4xf32>) -> tensor<?x4xf32> {
  %y = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x4xf32> {
  %t = ml_program.global_load_const @t : tensor<9x8xf32>
  %g = ml_program.global_load_const @g : tensor<8xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %B = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %T = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %part = tensor.extract_slice %x[0, 0, 4] [%B, %T, 4] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x?x4xf32>
  // expected-error @below {{requires activations of their own, but found a part of one}}
  %y = call @f(%part) : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func private @f(%mask: tensor<?x?xi1>) {
  return
}
func.func @forward(%mask: tensor<?x?xi1>, %other: tensor<?x?xi1>) {
  %both = arith.andi %mask, %other : tensor<?x?xi1>
  // expected-error @below {{requires memory of type 'memref<?x?xi8>' for operand 0}}
  call @f(%both) : (tensor<?x?xi1>) -> ()
  return
}

// -----

ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
// expected-error @below {{requires a value that a checkpoint holds (#ml_program.extern)}}
ml_program.global private @g(dense<1.0> : tensor<8xf32>) : tensor<8xf32>
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x8xf32> {
  %t = ml_program.global_load_const @t : tensor<9x8xf32>
  %g = ml_program.global_load_const @g : tensor<8xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %x : tensor<?x?x8xf32>
}

// -----

ml_program.global private @a(#ml_program.extern : tensor<8x8xf32>) : tensor<8x8xf32>
ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
ml_program.global private @g(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x8xf32> {
  %t = ml_program.global_load_const @t : tensor<9x8xf32>
  %g = ml_program.global_load_const @g : tensor<8xf32>
  %a = ml_program.global_load_const @a : tensor<8x8xf32>
  // expected-error @below {{'convbert.dense' op cannot be computed once, when parameters are packed}}
  %w = convbert.dense %a, %a {activation = #convbert.activation<gelu>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
ml_program.global private @g(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
// expected-error @below {{requires a parameter that rests on globals, but found an argument}}
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x8xf32> {
  %t = ml_program.global_load_const @t : tensor<9x8xf32>
  %g = ml_program.global_load_const @g : tensor<8xf32>
  %some = tensor.cast %ids : tensor<?x?xi64> to tensor<8x8xi64>
  %w = arith.sitofp %some : tensor<8x8xi64> to tensor<8x8xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

module {
  module @elsewhere {
    ml_program.global private @g(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>
  }
  ml_program.global private @t(#ml_program.extern : tensor<9x8xf32>) : tensor<9x8xf32>
  func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x8xf32> {
    %t = ml_program.global_load_const @t : tensor<9x8xf32>
    // expected-error @below {{requires a global of this module, but found @elsewhere::@g}}
    %g = ml_program.global_load_const @elsewhere::@g : tensor<8xf32>
    %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
       tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
    return %x : tensor<?x?x8xf32>
  }
}

// -----

func.func private @weights_of_sequences(%x: tensor<?x?x8xf32>, %w: tensor<?x4x8x3xf32>) -> tensor<?x?x4xf32> {
  // expected-error @below {{requires weights of sequences that are mixed from kernels, with their biases and in one group, for the CPU kernel}}
  %y = convbert.conv1d %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x8xf32>, tensor<?x4x8x3xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @far(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{requires `pads` of at most 16777216 tokens, but found 16777217}}
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 0, 16777217>, dilation = 8 : i64} : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}
