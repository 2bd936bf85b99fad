// Attention over kernels mixes packed panels for one sequence after the other, into memory for one, and multiplies each
// sequence's windows by its own.  No kernel is convolved by itself.
// RUN: convbert-opt %s --convbert-simplify --convbert-outline-cpu=isa=avx512 | FileCheck %s --check-prefixes=CHECK,F32
// RUN: convbert-opt %s --convbert-simplify --convbert-outline-cpu="isa=avx512 weights=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: convbert-opt %s --convbert-simplify --convbert-outline-cpu=isa=avx512bf16 | FileCheck %s --check-prefixes=CHECK,PAIRS

ml_program.global private @f1(#ml_program.extern : tensor<2x16xf32>) : tensor<2x16xf32>
ml_program.global private @f2(#ml_program.extern : tensor<4x2xf32>) : tensor<4x2xf32>
ml_program.global private @w(#ml_program.extern : tensor<4x100x16x3xf32>) : tensor<4x100x16x3xf32>
ml_program.global private @b(#ml_program.extern : tensor<4x100xf32>) : tensor<4x100xf32>

// 100 features are four panels of 32, 3 x 16 deep.
// CHECK-LABEL: func.func @forward(
// CHECK:         call @softmax_4(
// CHECK:         call @pad_tokens_16_k3(
// F32-DAG:       memref<4x4x48x32xf32>
// BF16-DAG:      memref<4x4x48x32xbf16>
// PAIRS-DAG:     memref<4x4x24x32x2xbf16>
// CHECK-NOT:     call @
// CHECK:         scf.for
// F32:             call @mix_kernels_4(%{{.*}}) : (memref<4x?xf32>, memref<1x4xf32, strided<[?, 1], offset: ?>>, memref<?xf32>, i32)
// BF16:            call @mix_kernels_4_bf16(%{{.*}}) : (memref<4x?xbf16>, memref<1x4xf32, strided<[?, 1], offset: ?>>, memref<?xf32>, i32)
// PAIRS:           call @mix_kernels_4_bf16_round(%{{.*}}) : (memref<4x?xbf16>, memref<1x4xf32, strided<[?, 1], offset: ?>>, memref<?xbf16>, i32)
// CHECK:           call @mix_kernels_4(
// F32:             call @dense_n32(%{{.*}}) : (memref<?x8x?xf32, strided<[?, ?, 1], offset: ?>>, memref<?x?x32xf32, strided<[?, 32, 1], offset: ?>>,
// BF16:            call @dense_n32_1(%{{.*}}) : (memref<?x8x?xf32, strided<[?, ?, 1], offset: ?>>, memref<?x?x32xf32, strided<[?, 32, 1], offset: ?>>,
// PAIRS:           call @dense_pairs_n32(
// CHECK-NEXT:    }
// CHECK-NOT:     call @dense
// CHECK:         call @unpad_tokens_100_k3(
// CHECK-NOT:     call @weighted_sum

// Memory for one mix, however many sequences there are.
// CHECK-LABEL: func.func @workspace_bytes(
// F32:           arith.constant 25088 : index
// BF16:          arith.constant 25088 : index
// PAIRS:         arith.constant 12800 : index
func.func @forward(%x: tensor<?x?x16xf32>) -> tensor<?x?x100xf32> {
  %f1 = ml_program.global_load_const @f1 : tensor<2x16xf32>
  %f2 = ml_program.global_load_const @f2 : tensor<4x2xf32>
  %w = ml_program.global_load_const @w : tensor<4x100x16x3xf32>
  %b = ml_program.global_load_const @b : tensor<4x100xf32>
  %y = convbert.kernel_attention_conv %x squeeze(%f1) excite(%f2) kernels(%w, %b) {pads = array<i64: 1, 1>}
    : (tensor<?x?x16xf32>, tensor<2x16xf32>, tensor<4x2xf32>, tensor<4x100x16x3xf32>, tensor<4x100xf32>)
      -> tensor<?x?x100xf32>
  return %y : tensor<?x?x100xf32>
}
