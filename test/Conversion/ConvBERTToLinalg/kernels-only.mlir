// RUN: convbert-opt %s --convbert-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @host
//       CHECK:   convbert.packed_dense
func.func @host(%rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xf32>, %bias: tensor<?x24xf32>) -> tensor<?x4x?x24xf32> {
  %r = convbert.packed_dense %rows, %panels, %bias
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}
