// The outliner reads packed parameters only.
// RUN: convbert-opt %s --convbert-outline --split-input-file --verify-diagnostics

func.func private @dense(%x: tensor<?x8xf32>, %w: tensor<5x8xf32>) -> tensor<?x5xf32> {
  // expected-error @below {{requires packed parameters (see convbert-pack-parameters)}}
  %y = convbert.dense %x, %w : (tensor<?x8xf32>, tensor<5x8xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @forward() {
  return
}

// -----

// Packed for something else: no panels.
ml_program.global private @w(#ml_program.extern : tensor<5x8xf32>) : tensor<5x8xf32>
func.func private @dense(%x: tensor<?x8xf32>) -> tensor<?x5xf32> {
  %w = ml_program.global_load_const @w : tensor<5x8xf32>
  %v = convbert.weight_view %w : (tensor<5x8xf32>) -> tensor<5x8xf32>
  // expected-error @below {{requires packed parameters that rest on globals}}
  %y = convbert.dense %x, %v : (tensor<?x8xf32>, tensor<5x8xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @forward() {
  return
}

// -----

// Packed for another number of groups.
ml_program.global private @w(#ml_program.extern : tensor<2x1x8x48xf32>) : tensor<2x1x8x48xf32>
func.func private @grouped(%x: tensor<?x24xf32>) -> tensor<?x15xf32> {
  %w = ml_program.global_load_const @w : tensor<2x1x8x48xf32>
  %v = convbert.weight_view %w : (tensor<2x1x8x48xf32>) -> tensor<3x8x5xf32>
  // expected-error @below {{requires packed parameters that rest on globals}}
  %y = convbert.grouped_dense %x, %v : (tensor<?x24xf32>, tensor<3x8x5xf32>) -> tensor<?x15xf32>
  return %y : tensor<?x15xf32>
}
func.func @forward() {
  return
}

// -----

// Block operations have been decomposed before.
func.func private @block(%x: tensor<?x?x8xf32>, %w: tensor<5x8xf32>, %b: tensor<5xf32>) -> tensor<?x?x5xf32> {
  %v = convbert.weight_view %w : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %c = convbert.weight_view %b : (tensor<5xf32>) -> tensor<5xf32>
  // expected-error @below {{'convbert.token_head' op has no CPU kernel}}
  %y = convbert.token_head %x, %v, %c : (tensor<?x?x8xf32>, tensor<5x8xf32>, tensor<5xf32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
func.func @forward() {
  return
}
