// Products of great depth are taken in slices, except where pairs of bf16 are multiplied.  Where there are many rows, here
// four tiles of eight, panels of bf16 are widened into scratch, by a kernel that is told the largest if it takes whole ones.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s --check-prefix=F32
// RUN: convbert-opt %s --convbert-outline-cpu='isa=avx512 weights=bf16' | FileCheck %s --check-prefix=BF16
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512bf16 | FileCheck %s --check-prefix=PAIRS --implicit-check-not=dense_deep

// F32:   call @dense(
// F32:   call @dense_deep_n32(
// BF16:  %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %{{c4.*}} : index
// BF16:  scf.if %[[FEW]] {
// BF16:    call @dense(%{{.*}}, %arg{{[0-9]+}}) :
// BF16:  } else {
// BF16:    call @dense_wide(%{{.*}}, %arg{{[0-9]+}}, %{{.*}}) :
// BF16:  }
// BF16:  scf.if
// BF16:    call @dense_deep_n32(
// BF16:  } else {
// BF16:    call @dense_deep_n32_wide(
// BF16:  func.func private @dense({{.*}}, %{{.*}}: i32 {convbert.threads})
// BF16-NOT: widen_first
// BF16:  func.func private @dense_wide(%{{.*}}: memref<?x8x?xf32, {{.*}}> {convbert.most = array<i64: -1, 8, 1024>}, %{{.*}}: memref<?x?x48xbf16, {{.*}}>, {{.*}}, %{{.*}}: memref<?xi8> {convbert.scratch})
// BF16:  func.func private @dense_deep_n32_wide({{.*}}, %{{.*}}: memref<?x?x32xbf16, {{.*}}>, {{.*}}, %{{.*}}: memref<?xi8> {convbert.scratch})
// PAIRS: call @round_32(
// PAIRS: call @dense_pairs(
// PAIRS: call @round_2048(
// PAIRS: call @dense_pairs_n32(
ml_program.global private @t(#ml_program.extern : tensor<9x32xf32>) : tensor<9x32xf32>
ml_program.global private @g(#ml_program.extern : tensor<32xf32>) : tensor<32xf32>
ml_program.global private @w(#ml_program.extern : tensor<2048x32xf32>) : tensor<2048x32xf32>
ml_program.global private @v(#ml_program.extern : tensor<32x2048xf32>) : tensor<32x2048xf32>
func.func @forward(%ids: tensor<?x?xi64>) -> tensor<?x?x32xf32> {
  %t = ml_program.global_load_const @t : tensor<9x32xf32>
  %g = ml_program.global_load_const @g : tensor<32xf32>
  %w = ml_program.global_load_const @w : tensor<2048x32xf32>
  %v = ml_program.global_load_const @v : tensor<32x2048xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<9x32xf32>,
       tensor<32xf32>, tensor<32xf32>) -> tensor<?x?x32xf32>
  %h = convbert.dense %x, %w : (tensor<?x?x32xf32>, tensor<2048x32xf32>) -> tensor<?x?x2048xf32>
  %y = convbert.dense %h, %v : (tensor<?x?x2048xf32>, tensor<32x2048xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
