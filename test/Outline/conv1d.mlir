// A convolution is a matrix product of rows that overlap: a copy with zeros around each sequence, no windows.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512bf16 | FileCheck %s --check-prefixes=CHECK,PAIRS

ml_program.global private @t(#ml_program.extern : tensor<9x32xf32>) : tensor<9x32xf32>
ml_program.global private @g(#ml_program.extern : tensor<32xf32>) : tensor<32xf32>
ml_program.global private @w(#ml_program.extern : tensor<100x16x3xf32>) : tensor<100x16x3xf32>

// Each group is copied, then multiplied: row after row of 16 features, three of them at a time, to two panels.
// CHECK-LABEL: func.func @forward(
// CHECK-NOT:     call @pad_tokens
// CHECK:         scf.for %[[G:.*]] = %c0 to %c2 step %c1 {
// CHECK:           call @pad_tokens_16_k3(
// F32:             memref.subview %{{.*}}[%[[G]], 0, 0, 0] [1, 2, 48, 32] {{.*}} to memref<2x48x32xf32, strided<[1536, 32, 1], offset: ?>>
// PAIRS:           memref.subview %{{.*}}[%[[G]], 0, 0, 0, 0] [1, 2, 24, 32, 2] {{.*}} to memref<2x24x32x2xbf16, strided<[1536, 64, 2, 1], offset: ?>>
// CHECK:           memref.subview %{{.*}}[%[[G]], 0, 0] [1, 2, 32]
// CHECK:           call @dense_{{.*}}n32(
// CHECK-NEXT:    }
// CHECK-NOT:     call @dense
// CHECK-NOT:     call @pad_tokens
// CHECK:         call @unpad_tokens_100_k3(
// CHECK-NOT:     call @unpad_tokens

// CHECK-LABEL: func.func private @pad_tokens_16_k3(
// PAIRS:         arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x100xf32> {
  %t = ml_program.global_load_const @t : tensor<9x32xf32>
  %g = ml_program.global_load_const @g : tensor<32xf32>
  %w = ml_program.global_load_const @w : tensor<100x16x3xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<9x32xf32>,
       tensor<32xf32>, tensor<32xf32>) -> tensor<?x?x32xf32>
  %y = convbert.conv1d %x, %w {groups = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<?x?x32xf32>, tensor<100x16x3xf32>) -> tensor<?x?x100xf32>
  return %y : tensor<?x?x100xf32>
}
