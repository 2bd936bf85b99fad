// Groups are multiplied one after the other by one call in a loop: parts of rows, of panels and of biases.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512bf16 | FileCheck %s --check-prefixes=CHECK,PAIRS

ml_program.global private @w(#ml_program.extern : tensor<3x8x20xf32>) : tensor<3x8x20xf32>
ml_program.global private @b(#ml_program.extern : tensor<60xf32>) : tensor<60xf32>
ml_program.global private @v(#ml_program.extern : tensor<1x60x8xf32>) : tensor<1x60x8xf32>

// CHECK-LABEL: func.func @forward(
// Rows are rounded once, before the loop.
// PAIRS:         call @round_24(
// CHECK-NOT:     call @dense
// CHECK:         scf.for %[[G:.*]] = %c0 to %c3 step %c1 {
// CHECK-DAG:       %[[IN:.*]] = arith.muli %[[G]], %c8 : index
// CHECK-DAG:       %[[OUT:.*]] = arith.muli %[[G]], %c20 : index
// F32-DAG:         memref.subview %{{.*}}[%[[G]], 0, 0, 0] [1, 1, 8, 32] [1, 1, 1, 1] : memref<3x1x8x32xf32>
// PAIRS-DAG:       memref.subview %{{.*}}[%[[G]], 0, 0, 0, 0] [1, 1, 4, 32, 2] [1, 1, 1, 1, 1] : memref<3x1x4x32x2xbf16>
// CHECK-DAG:       memref.subview %{{.*}}[%[[G]], 0, 0] [1, 1, 32] [1, 1, 1] : memref<3x1x32xf32>
// CHECK-DAG:       memref.reinterpret_cast %{{.*}} to offset: [%[[IN]]]
// CHECK-DAG:       memref.reinterpret_cast %{{.*}} to offset: [%[[OUT]]]
// CHECK:           call @dense_{{.*}}n32(
// CHECK-NEXT:    }
// One group needs no loop.
// CHECK-NOT:     scf.for
// CHECK:         call @dense_{{.*}}n32(
// CHECK:         return
func.func @forward(%x: tensor<?x?x24xf32>) -> tensor<?x?x8xf32> {
  %w = ml_program.global_load_const @w : tensor<3x8x20xf32>
  %b = ml_program.global_load_const @b : tensor<60xf32>
  %v = ml_program.global_load_const @v : tensor<1x60x8xf32>
  %h = convbert.grouped_dense %x, %w, %b : (tensor<?x?x24xf32>, tensor<3x8x20xf32>, tensor<60xf32>) -> tensor<?x?x60xf32>
  %y = convbert.grouped_dense %h, %v : (tensor<?x?x60xf32>, tensor<1x60x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
