// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters))' --split-input-file \
// RUN:   --verify-diagnostics

// Modules that convbert-fuzz-ir has found, made small.

// Padded to whole panels, the weight would have more rows than an extent can say.
func.func private @huge(%x: tensor<?x?x1xf32>, %w: tensor<9223372036854775806x1xf32>)
    -> tensor<?x?x9223372036854775806xf32> {
  // expected-error @below {{requires tensors of at most 1099511627776 elements, but found 'tensor<9223372036854775806x1xf32>'}}
  %y = convbert.dense %x, %w
    : (tensor<?x?x1xf32>, tensor<9223372036854775806x1xf32>) -> tensor<?x?x9223372036854775806xf32>
  return %y : tensor<?x?x9223372036854775806xf32>
}
