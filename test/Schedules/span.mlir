// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/6/g; s/@HP@/8/g; s/@DP@/64/g; s/@W@/384/g; s/@KHP@/72/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/6/g; s/@HP@/8/g; s/@DP@/64/g; s/@W@/384/g; s/@KHP@/72/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/6/g; s/@HP@/8/g; s/@DP@/64/g; s/@W@/384/g; s/@KHP@/72/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=generic},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/6/g; s/@HP@/8/g; s/@DP@/64/g; s/@W@/384/g; s/@KHP@/72/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=neon},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NEON
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/9/g; s/@HP@/16/g; s/@DP@/48/g; s/@W@/432/g; s/@KHP@/144/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NARROW
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@K@/9/g; s/@HALO@/4/g; s/@IN@/12/g; s/@H@/16/g; s/@HP@/16/g; s/@DP@/32/g; s/@W@/512/g; s/@KHP@/144/g' %convbert_src_root/lib/Outline/kernels/span.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=WHOLE

// CHECK-LABEL: func.func private @span
//       CHECK:   scf.forall

// The softmax of a token, 9 taps of 8 heads, in registers.
//       CHECK:     scf.for {{.*}} to %c4 step %c1 iter_args({{.*}}) -> (tensor<4x9x8xf32>)
//   CHECK-NOT:       scf.for
// CHECK-COUNT-9:     arith.maxnumf {{.*}} vector<8xf32>
//   CHECK-NOT:       math.exp
// CHECK-COUNT-9:     arith.cmpf olt, {{.*}} vector<8xf32>
//       CHECK:       arith.divf {{.*}} vector<8xf32>
// CHECK-COUNT-9:     vector.transfer_write {{.*}} vector<8xf32>
//       CHECK:       scf.yield

// The convolution: heads, blocks of columns; 4 tokens x 9 taps x 2 vectors unrolled, every sum written once.
//       CHECK:     scf.for {{.*}} to %c6 step %c1 iter_args({{.*}}) -> (tensor<4x6x64xf32>)
//        AVX2:       scf.for {{.*}} to %c64 step %c16
//      AVX512:       scf.for {{.*}} to %c64 step %c32
//     GENERIC:       scf.for {{.*}} to %c64 step %c8
//        NEON:       scf.for {{.*}} to %c64 step %c16
//   CHECK-NOT:         scf.for
//        AVX2:         vector.transfer_read {{.*}} tensor<12x6x64xf32>, vector<8xf32>
//        AVX2:         vector.broadcast {{.*}} vector<f32> to vector<8xf32>
// AVX2-COUNT-72:       math.fma {{.*}} vector<8xf32>
//      AVX512:         vector.transfer_read {{.*}} tensor<12x6x64xf32>, vector<16xf32>
//      AVX512:         vector.broadcast {{.*}} vector<f32> to vector<16xf32>
// AVX512-COUNT-72:     math.fma {{.*}} vector<16xf32>
//     GENERIC:         vector.broadcast {{.*}} vector<f32> to vector<4xf32>
// GENERIC-COUNT-72:    math.fma {{.*}} vector<4xf32>
//        NEON:         vector.broadcast {{.*}} vector<f32> to vector<4xf32>
// NEON-COUNT-144:      math.fma {{.*}} vector<4xf32>
//   CHECK-NOT:         math.fma
//       CHECK:       scf.yield
//   CHECK-NOT:   linalg.

// More than 8 heads: two vectors of them.  A head that 32 does not divide: blocks of 16 columns.
// NARROW-LABEL: func.func private @span
//       NARROW:   scf.for {{.*}} to %c4 step %c1 iter_args({{.*}}) -> (tensor<4x9x16xf32>)
//       NARROW:     scf.for {{.*}} to %c16 step %c8
//       NARROW:   scf.for {{.*}} to %c9 step %c1
//       NARROW:     scf.for {{.*}} to %c48 step %c16
//   NARROW-NOT:   linalg.

// As many heads as whole vectors hold: the softmax is not taken again for each block of the convolution.
// WHOLE-LABEL: func.func private @span
//       WHOLE:   scf.for {{.*}} to %c4 step %c1 iter_args({{.*}}) -> (tensor<4x9x16xf32>)
//       WHOLE:     scf.for {{.*}} to %c16 step %c8
// WHOLE-COUNT-9:     arith.cmpf olt, {{.*}} vector<8xf32>
//   WHOLE-NOT:   arith.cmpf olt
//       WHOLE:   scf.for {{.*}} to %c16 step %c1 iter_args({{.*}}) -> (tensor<4x16x32xf32>)
// WHOLE-COUNT-72:  math.fma {{.*}} vector<16xf32>
//   WHOLE-NOT:   math.fma
//   WHOLE-NOT:   arith.cmpf olt
//   WHOLE-NOT:   linalg.
