// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Dense layers and norms: constraints on several operands.

// DENSE-C1
func.func @dense_input(%x: tensor<?x?x8xf32>, %w: tensor<4x7xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<4x7xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// DENSE-C1
func.func @dense_input_in_out(%x: tensor<?x?x8xf32>, %w: tensor<7x4xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.dense %x, %w {layout = #convbert.layout<in_out>}
    : (tensor<?x?x8xf32>, tensor<7x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// DENSE-C2
func.func @dense_bias(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 4, but found 8}}
  %y = convbert.dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// DENSE-C3
func.func @dense_multiplier_features(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %m: tensor<?x?x8xf32>) {
  // expected-error @below {{requires `multiplier` to have the shape of 'tensor<?x?x4xf32>', but found 'tensor<?x?x8xf32>'}}
  %y = convbert.dense %x, %w times %m : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// DENSE-C3
func.func @dense_multiplier_batch(%x: tensor<2x?x8xf32>, %w: tensor<4x8xf32>, %m: tensor<3x?x4xf32>) {
  // expected-error @below {{requires `multiplier` to have the shape of 'tensor<2x?x4xf32>', but found 'tensor<3x?x4xf32>'}}
  %y = convbert.dense %x, %w times %m : (tensor<2x?x8xf32>, tensor<4x8xf32>, tensor<3x?x4xf32>) -> tensor<2x?x4xf32>
  return
}

// -----

// DENSE-C3
func.func @dense_multiplier_rank(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %m: tensor<?x4xf32>) {
  // expected-error @below {{requires `multiplier` to have the shape of 'tensor<?x?x4xf32>', but found 'tensor<?x4xf32>'}}
  %y = convbert.dense %x, %w times %m : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<?x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

// GROUPED_DENSE-C1
func.func @grouped_dense_input(%x: tensor<?x?x8xf32>, %w: tensor<2x3x4xf32>) {
  // expected-error @below {{requires groups x input features of `weight` to be 8, but found 6}}
  %y = convbert.grouped_dense %x, %w : (tensor<?x?x8xf32>, tensor<2x3x4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// GROUPED_DENSE-C2
func.func @grouped_dense_bias(%x: tensor<?x?x8xf32>, %w: tensor<2x4x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{requires the size of `bias` to be 6, but found 3}}
  %y = convbert.grouped_dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<?x?x6xf32>
  return
}

// -----

// LAYER_NORM-C1
func.func @layer_norm_residual(%x: tensor<2x?x8xf32>, %r: tensor<3x?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires `residual` to have the shape of 'tensor<2x?x8xf32>', but found 'tensor<3x?x8xf32>'}}
  %y = convbert.layer_norm %x residual(%r), %g, %b {eps = 0.0 : f64}
    : (tensor<2x?x8xf32>, tensor<3x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  return
}

// -----

// LAYER_NORM-C2
func.func @layer_norm_gamma(%x: tensor<?x?x8xf32>, %g: tensor<4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `gamma` to be 8, but found 4}}
  %y = convbert.layer_norm %x, %g, %b {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// LAYER_NORM-C2
func.func @layer_norm_beta(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{requires the size of `beta` to be 8, but found 4}}
  %y = convbert.layer_norm %x, %g, %b {eps = 0.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// LAYER_NORM-C3
func.func @layer_norm_negative_eps(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found -1.0}}
  %y = convbert.layer_norm %x, %g, %b {eps = -1.0 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}

// -----

// LAYER_NORM-C3
func.func @layer_norm_nan_eps(%x: tensor<?x?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires an epsilon that is finite and not negative, but found nan}}
  %y = convbert.layer_norm %x, %g, %b {eps = 0x7FF8000000000000 : f64}
    : (tensor<?x?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return
}
