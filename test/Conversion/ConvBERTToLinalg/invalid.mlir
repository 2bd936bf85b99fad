// RUN: convbert-opt %s --convbert-to-linalg --split-input-file --verify-diagnostics

func.func @element_type(%rows: tensor<?x4x?xf64>, %panels: tensor<?x?x24xf64>, %bias: tensor<?x24xf64>)
    -> tensor<?x4x?x24xf64> attributes {convbert.kernel = "dense"} {
  // expected-error @below {{failed to legalize operation 'convbert.packed_dense'}}
  %r = convbert.packed_dense %rows, %panels, %bias
    : (tensor<?x4x?xf64>, tensor<?x?x24xf64>, tensor<?x24xf64>) -> tensor<?x4x?x24xf64>
  return %r : tensor<?x4x?x24xf64>
}

// -----

func.func @block(%x: tensor<?x?x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> tensor<?x?x3xf32> {
  // expected-error @below {{'convbert.token_head' op requires decomposition before it is lowered; run convbert-decompose first}}
  %r = convbert.token_head %x, %w, %b : (tensor<?x?x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// -----

// Embeddings are a step, but not with a projection.
func.func @projected(%ids: tensor<?x?xi64>, %word: tensor<9x4xf32>, %position: tensor<8x4xf32>, %type: tensor<2x4xf32>,
                     %g: tensor<4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) -> tensor<?x?x6xf32> {
  // expected-error @below {{'convbert.embeddings' op requires decomposition}}
  %r = convbert.embeddings %ids, %ids, %ids tables(%word, %position, %type) norm(%g, %g) project(%w, %b)
         {eps = 1.0e-12 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  return %r : tensor<?x?x6xf32>
}

// -----

// Masks are steps of their own.
func.func @masked(%v: tensor<?x?x4xf32>, %t: tensor<?x?x2x3xf32>, %m: tensor<?x?xi1>) -> tensor<?x?x4xf32> {
  // expected-error @below {{'convbert.apply_kernel' op requires decomposition before it is lowered; run convbert-decompose first}}
  %y = convbert.apply_kernel %v, %t mask(%m) {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<?x?x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?xi1>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

func.func @mask(%v: tensor<?x?x4xf32>, %t: tensor<?x?x2x3xf32>, %m: tensor<?x?xi1>) -> tensor<?x?x4xf32> {
  // expected-error @below {{'convbert.apply_kernel' op requires decomposition}}
  %y = convbert.apply_kernel %v, %t mask(%m) {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?xi1>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
