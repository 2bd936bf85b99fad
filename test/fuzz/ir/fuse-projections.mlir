// RUN: convbert-opt %s --convbert-fuse-projections | FileCheck %s

// Modules that convbert-fuzz-ir has found, made small.

// Together they would have more features than an extent can say.
// CHECK-LABEL: func.func @huge(
// CHECK-COUNT-3: convbert.dense
// CHECK-NOT:   concat
func.func @huge(%x: tensor<?x?x2xf32>, %w: tensor<4611686018427387903x2xf32>, %b: tensor<4611686018427387903xf32>)
    -> (tensor<?x?x4611686018427387903xf32>, tensor<?x?x4611686018427387903xf32>,
        tensor<?x?x4611686018427387903xf32>) {
  %0 = convbert.dense %x, %w, %b
    : (tensor<?x?x2xf32>, tensor<4611686018427387903x2xf32>, tensor<4611686018427387903xf32>)
      -> tensor<?x?x4611686018427387903xf32>
  %1 = convbert.dense %x, %w, %b
    : (tensor<?x?x2xf32>, tensor<4611686018427387903x2xf32>, tensor<4611686018427387903xf32>)
      -> tensor<?x?x4611686018427387903xf32>
  %2 = convbert.dense %x, %w, %b
    : (tensor<?x?x2xf32>, tensor<4611686018427387903x2xf32>, tensor<4611686018427387903xf32>)
      -> tensor<?x?x4611686018427387903xf32>
  return %0, %1, %2 : tensor<?x?x4611686018427387903xf32>, tensor<?x?x4611686018427387903xf32>,
                      tensor<?x?x4611686018427387903xf32>
}
