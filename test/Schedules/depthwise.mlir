// RUN: sed -e ':a' -e '/^@?/d; s/^@![A-Z_]*@//; ta' -e 's/@K@/9/g; s/@ROWS@/9/g; s/@LOW@/4/g; s/@IN@/12/g; s/@W@/64/g; s/@TILE@/32/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sed -e ':a' -e '/^@?/d; s/^@![A-Z_]*@//; ta' -e 's/@K@/9/g; s/@ROWS@/9/g; s/@LOW@/4/g; s/@IN@/12/g; s/@W@/64/g; s/@TILE@/16/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: sed -e ':a' -e 's/^@?BIAS@//; s/^@!\(OUT\|SEQUENCES\)@//; ta' -e '/^@[?!]/d; s/@K@/4/g; s/@ROWS@/5/g; s/@LOW@/3/g; s/@IN@/7/g; s/@W@/64/g; s/@TILE@/16/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=BIAS
// RUN: sed -e ':a' -e '/^@?/d; s/^@![A-Z_]*@//; ta' -e 's/@K@/9/g; s/@ROWS@/9/g; s/@LOW@/4/g; s/@IN@/12/g; s/@W@/64/g; s/@TILE@/32/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=generic},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,LANES4
// RUN: sed -e ':a' -e '/^@?/d; s/^@![A-Z_]*@//; ta' -e 's/@K@/9/g; s/@ROWS@/9/g; s/@LOW@/4/g; s/@IN@/12/g; s/@W@/64/g; s/@TILE@/32/g' %convbert_src_root/lib/Outline/kernels/depthwise.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=neon},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,LANES4

// RUN: sed -e ':a' -e 's/^@?\(OUT\|STEPS\|FILTERS\)@//; s/^@!BIAS@//; ta' -e '/^@[?!]/d; s/@K@/5/g; s/@ROWS@/5/g; s/@LOW@/2/g; s/@HIGH@/2/g; s/@IN@/19/g; s/@SPARE@/19/g; s/@STRIDE@/2/g; s/@DILATION@/3/g; s/@FILTERS@/3/g' %convbert_src_root/lib/Outline/kernels/depthwise_steps.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=STEPS

// Vectors of channels; 4 tokens x 9 taps unrolled, every row and every tap read once, every sum written once.
// CHECK-LABEL: func.func private @depthwise
//       CHECK:   scf.forall
//        AVX2:     scf.for {{.*}} to %c32 step %c8 iter_args({{.*}}) -> (tensor<4x32xf32>)
//      AVX512:     scf.for {{.*}} step %c16 {
//      LANES4:     scf.for {{.*}} to %c32 step %c4 iter_args({{.*}}) -> (tensor<4x32xf32>)
//   CHECK-NOT:       scf.for
//        AVX2:       vector.transfer_read %[[X:.*]][%c0, {{.*}} tensor<12x32xf32>, vector<8xf32>
//        AVX2:       vector.transfer_read {{.*}} tensor<9x32xf32>, vector<8xf32>
// AVX2-COUNT-35:     math.fma {{.*}} vector<8xf32>
//        AVX2:       vector.transfer_read %[[X]][%c11, {{.*}} tensor<12x32xf32>, vector<8xf32>
//   AVX2-NEXT:       math.fma {{.*}} vector<8xf32>
// AVX512-COUNT-36:   math.fma {{.*}} vector<16xf32>
// LANES4-COUNT-36:   math.fma {{.*}} vector<4xf32>
//   CHECK-NOT:       math.fma
//   CHECK-NOT:       vector.transfer_read
//        AVX2:     scf.yield
//      LANES4:     scf.yield
//   CHECK-NOT:   linalg.

// The sums start from the bias, which is read once.
// BIAS-LABEL: func.func private @depthwise
//       BIAS:     scf.for {{.*}} step %c16 {
//       BIAS:       memref.subview %{{.*}}[%{{.*}}, 4, %{{.*}}] [1, 1, 16]
//   BIAS-NOT:       scf.for
//       BIAS:       vector.transfer_read {{.*}} tensor<16xf32>, vector<16xf32>
//   BIAS-NOT:       tensor<16xf32>
// BIAS-COUNT-16:    math.fma {{.*}} vector<16xf32>
//   BIAS-NOT:       math.fma
//   BIAS-NOT:   linalg.

// Steps through the window, and channels read for each of their filters: rows are gathered once, and read as before.
// STEPS-LABEL: func.func private @depthwise_steps
//       STEPS:   vector.gather
//       STEPS:     scf.for {{.*}} to %c32 step %c16 iter_args({{.*}}) -> (tensor<4x32xf32>)
//   STEPS-NOT:       scf.for
//       STEPS:       vector.transfer_read %[[X:.*]][%c0, {{.*}} tensor<19x32xf32>, vector<16xf32>
//  STEPS-COUNT-19:   math.fma {{.*}} vector<16xf32>
//       STEPS:       vector.transfer_read %[[X]][%c18, {{.*}} tensor<19x32xf32>, vector<16xf32>
//  STEPS-NEXT:       math.fma {{.*}} vector<16xf32>
//   STEPS-NOT:       math.fma
//       STEPS:     scf.yield
//   STEPS-NOT:   linalg.
