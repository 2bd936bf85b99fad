// RUN: sed s/KIND/gelu/ %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,RATIONAL
// RUN: sed s/KIND/gelu_new/ %s | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,RATIONAL
// RUN: sed s/KIND/tanh/ %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,RATIONAL
// RUN: sed s/KIND/silu/ %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,EXP
// RUN: sed s/KIND/sigmoid/ %s  | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,EXP
// RUN: sed s/KIND/selu/ %s     | convbert-opt --convbert-to-linalg | FileCheck %s --check-prefixes=CHECK,EXP

// No scalar function that vectorisation or the code generator would turn into a library call.
// CHECK-LABEL: func.func @kernel
//   CHECK-NOT:   math.{{erf|exp|tanh}}
//    RATIONAL:   math.fma
//    RATIONAL:   arith.divf
//         EXP:   arith.bitcast
//         EXP:   arith.shli
//   CHECK-NOT:   math.{{erf|exp|tanh}}
//       CHECK:   return
func.func @kernel(%rows: tensor<?x4x?xf32>, %panels: tensor<?x?x24xf32>, %bias: tensor<?x24xf32>)
    -> tensor<?x4x?x24xf32> attributes {convbert.kernel = "dense"} {
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<KIND>}
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  return %r : tensor<?x4x?x24xf32>
}
