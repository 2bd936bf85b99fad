// What the CPU kernels cannot do is said with the operation that wants it.
// RUN: convbert-opt %s --convbert-outline-cpu --split-input-file --verify-diagnostics

// expected-error @below {{requires exactly one public function, the model's entry}}
module {
}

// -----

// expected-error @below {{requires exactly one public function, the model's entry}}
module {
  func.func @f() {
    return
  }
  func.func @g() {
    return
  }
}

// -----

// Private functions alone are no model.
// expected-error @below {{requires exactly one public function, the model's entry}}
module {
  func.func private @f() {
    return
  }
}

//===--- Functions ---===//

// -----

// expected-error @below {{'func.func' op requires a body of one block, but found 2}}
func.func @blocks() {
  cf.br ^loop
^loop:
  cf.br ^loop
}

// -----

// expected-error @below {{requires arguments and results that are ranked tensors, but found 'index'}}
func.func private @f(%i: index) {
  return
}
func.func @forward() {
  return
}

// -----

// expected-error @below {{requires arguments and results that are ranked tensors, but found 'f32'}}
func.func @forward() -> f32 {
  %c = arith.constant 0.0 : f32
  return %c : f32
}

// -----

// expected-error @below {{requires inputs of type tensor<?x?xi64>, tensor<?x?xi1>, tensor<?x?xCxf32>, tensor<?x?xHxKxf32>, tensor<?xCxf32> or tensor<Nxf32>, but found 'tensor<?x?x8xf64>'}}
func.func @forward(%x: tensor<?x?x8xf64>) {
  return
}

// -----

// expected-error @below {{requires inputs of type tensor<?x?xi64>, tensor<?x?xi1>, tensor<?x?xCxf32>, tensor<?x?xHxKxf32>, tensor<?xCxf32> or tensor<Nxf32>, but found 'tensor<?x?xi32>'}}
func.func @forward(%x: tensor<?x?xi32>) {
  return
}

// -----

// expected-error @below {{requires inputs of type tensor<?x?xi64>, tensor<?x?xi1>, tensor<?x?xCxf32>, tensor<?x?xHxKxf32>, tensor<?xCxf32> or tensor<Nxf32>, but found 'tensor<2x?xi64>'}}
func.func @forward(%x: tensor<2x?xi64>) {
  return
}

// -----

// expected-error @below {{requires functions that do not call each other in a circle: the workspace would have no bound}}
func.func private @f() {
  call @g() : () -> ()
  return
}
func.func private @g() {
  call @f() : () -> ()
  return
}
func.func @forward() {
  return
}

// -----

// expected-error @below {{requires another name: @scratch_bytes is part of the compiled object}}
func.func private @scratch_bytes() {
  return
}
func.func @forward() {
  return
}

// -----

// expected-error @below {{requires another name: @prepack is part of the compiled object}}
func.func @prepack() {
  return
}

// -----

func.func private @declared()
func.func @forward() {
  // expected-error @below {{'func.call' op requires a private callee with a body}}
  call @declared() : () -> ()
  return
}

// -----

func.func private @f() {
  // expected-error @below {{'func.call' op requires a private callee with a body}}
  call @forward() : () -> ()
  return
}
func.func @forward() {
  return
}

//===--- Results ---===//

// -----

func.func @forward(%mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
  // expected-error @below {{requires results of tokens or sequences, but found 'tensor<?x?xf32>'}}
  return %bias : tensor<?x?xf32>
}

// -----

func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?xi64> {
  // expected-error @below {{requires results that are activations of f32 with a dynamic batch, but found 'tensor<?x?xi64>'}}
  return %ids : tensor<?x?xi64>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<4x8xf32>) : tensor<4x8xf32>
func.func @forward() -> tensor<4x8xf32> {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  // expected-error @below {{requires results that are activations of f32 with a dynamic batch, but found 'tensor<4x8xf32>'}}
  return %w : tensor<4x8xf32>
}

// -----

func.func private @argument(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{requires a result of its own, but found an argument, a part of a value, or a value returned twice}}
  return %x : tensor<?x?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @twice(%x: tensor<?x?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  // expected-error @below {{requires a result of its own, but found an argument, a part of a value, or a value returned twice}}
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @forward() {
  return
}

// -----

func.func private @part(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %B = tensor.dim %x, %c0 : tensor<?x8xf32>
  %y = tensor.extract_slice %x[0, 0] [%B, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  // expected-error @below {{requires a result of its own, but found an argument, a part of a value, or a value returned twice}}
  return %y : tensor<?x4xf32>
}
func.func @forward() {
  return
}
