// RUN: sed -e 's/@K@/9/g; s/@LOW@/4/g; s/@HIGH@/4/g; s/@IN@/12/g; s/@SPARE@/12/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sed -e 's/@K@/9/g; s/@LOW@/4/g; s/@HIGH@/4/g; s/@IN@/12/g; s/@SPARE@/12/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX512

// Vectors of channels; 4 tokens x 9 taps unrolled, every row and every tap read once, every sum written once.
// CHECK-LABEL: func.func private @depthwise
//       CHECK:   scf.forall
//        AVX2:     scf.for {{.*}} to %c32 step %c8 iter_args({{.*}}) -> (tensor<4x32xf32>)
//      AVX512:     scf.for {{.*}} to %c32 step %c16 iter_args({{.*}}) -> (tensor<4x32xf32>)
//   CHECK-NOT:       scf.for
//        AVX2:       vector.transfer_read %[[X:.*]][%c0, {{.*}} tensor<12x32xf32>, vector<8xf32>
//        AVX2:       vector.transfer_read {{.*}} tensor<9x32xf32>, vector<8xf32>
// AVX2-COUNT-35:     math.fma {{.*}} vector<8xf32>
//        AVX2:       vector.transfer_read %[[X]][%c11, {{.*}} tensor<12x32xf32>, vector<8xf32>
//   AVX2-NEXT:       math.fma {{.*}} vector<8xf32>
// AVX512-COUNT-36:   math.fma {{.*}} vector<16xf32>
//   CHECK-NOT:       math.fma
//   CHECK-NOT:       vector.transfer_read
//       CHECK:     scf.yield
//   CHECK-NOT:   linalg.
