// RUN: convbert-opt %s --convbert-to-linalg --split-input-file --verify-diagnostics

func.func @element_type(%rows: tensor<?x4x?xf64>, %panels: tensor<?x?x24xf64>, %bias: tensor<?x24xf64>)
    -> tensor<?x4x?x24xf64> attributes {convbert.kernel = "dense"} {
  // expected-error @below {{failed to legalize operation 'convbert.packed_dense'}}
  %r = convbert.packed_dense %rows, %panels, %bias
    : (tensor<?x4x?xf64>, tensor<?x?x24xf64>, tensor<?x24xf64>) -> tensor<?x4x?x24xf64>
  return %r : tensor<?x4x?x24xf64>
}

// -----

func.func @step(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> attributes {convbert.kernel = "dense"} {
  // expected-error @below {{failed to legalize operation 'convbert.activation'}}
  %r = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}
