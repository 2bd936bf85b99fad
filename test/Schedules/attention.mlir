// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/16/g; s/@DP@/64/g; s/@NR_DP@/1024/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/16/g; s/@DP@/64/g; s/@NR_DP@/1024/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=generic},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/16/g; s/@DP@/64/g; s/@NR_DP@/1024/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=neon},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NEON
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/32/g; s/@DP@/64/g; s/@NR_DP@/2048/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/32/g; s/@DP@/48/g; s/@NR_DP@/1536/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NARROW
// RUN: sed -e '/^@?/d; s/^@![A-Z_]*@//; s/@NR@/16/g; s/@DP@/64/g; s/@NR_DP@/1024/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse,func.func(eliminate-empty-tensors),one-shot-bufferize,func.func(fold-memref-alias-ops),canonicalize,cse,canonicalize)' \
// RUN:   | FileCheck %s --check-prefix=BUFFERS

// RUN: sed -e '/^@?SCALE@/d; s/^@!SCALE@//; s/^@?PROBABILITIES@//; s/^@?HEAD_MASK@//; /^@!/d; s/@NR@/16/g; s/@DP@/64/g; s/@NR_DP@/1024/g' %convbert_src_root/lib/Outline/kernels/attention.mlir.in \
// RUN:   | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse,func.func(eliminate-empty-tensors),one-shot-bufferize,func.func(fold-memref-alias-ops),canonicalize,cse,canonicalize)' \
// RUN:   | FileCheck %s --check-prefix=MAPS

// CHECK-LABEL: func.func private @attention
//       CHECK:   scf.forall

// Key panels: squares of 16 x 16 by shuffles.
//       CHECK:     vector.store
// CHECK-COUNT-16:  vector.transfer_read {{.*}} vector<16xf32>
// CHECK-COUNT-64:  vector.shuffle
// CHECK-COUNT-16:  vector.transfer_write {{.*}} vector<16xf32>

// Scores: a panel, then rows; 4 x 2 or 8 x 2 sums, which start from the bias; 4 steps an iteration.
//        AVX2:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<8x?x16xf32>)
//        AVX2:       %[[B0:.*]] = vector.transfer_read {{.*}} tensor<?x16xf32>, vector<8xf32>
//        AVX2:       %[[B1:.*]] = vector.transfer_read {{.*}} tensor<?x16xf32>, vector<8xf32>
//        AVX2:       scf.for %{{.*}} to %c8 step %c4
//        AVX2:         %{{.*}}:8 = scf.for {{.*}} to %c64 step %c4 iter_args(%{{.*}} = %[[B0]], %{{.*}} = %[[B1]], %{{.*}} = %[[B0]]
// AVX2-COUNT-32:         math.fma {{.*}} vector<8xf32>
//      AVX2-NOT:         math.fma
//        AVX2:           scf.yield
//     GENERIC:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<8x?x16xf32>)
//     GENERIC:       scf.for %{{.*}} to %c8 step %c2
//     GENERIC:         %{{.*}}:8 = scf.for {{.*}} to %c64 step %c4
// GENERIC-COUNT-32:      math.fma {{.*}} vector<4xf32>
// GENERIC-NOT:           math.fma
//     GENERIC:           scf.yield
//        NEON:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<8x?x16xf32>)
//        NEON:       scf.for %{{.*}} to %c8 step %c4
//        NEON:         %{{.*}}:16 = scf.for {{.*}} to %c64 step %c4
// NEON-COUNT-64:         math.fma {{.*}} vector<4xf32>
//      NEON-NOT:         math.fma
//        NEON:           scf.yield
//      AVX512:     scf.for {{.*}} iter_args({{.*}}) -> (tensor<8x?x32xf32>)
//  AVX512-NOT:     scf.for
//      AVX512:       %{{.*}}:16 = scf.for {{.*}} to %c64 step %c4
// AVX512-COUNT-64:     math.fma {{.*}} vector<16xf32>
//  AVX512-NOT:         math.fma
//      AVX512:         scf.yield

// Maximum: panel by panel in registers, then across the lanes.
//   CHECK-NOT:     vector.reduction
//        AVX2:     %{{.*}}:8 = scf.for
// AVX2-COUNT-8:      arith.maxnumf {{.*}} vector<8xf32>
//      AVX512:     %{{.*}}:16 = scf.for
// AVX512-COUNT-16:   arith.maxnumf {{.*}} vector<16xf32>
//     GENERIC:     %{{.*}}:8 = scf.for
// GENERIC-COUNT-8:   arith.maxnumf {{.*}} vector<4xf32>
//        NEON:     %{{.*}}:16 = scf.for
// NEON-COUNT-16:     arith.maxnumf {{.*}} vector<4xf32>
//       CHECK:     vector.reduction <maxnumf>
//  The exponential, without a call.
//   CHECK-NOT:     math.exp
//       CHECK:     arith.cmpf olt
//       CHECK:     vector.reduction <add>
//       CHECK:     arith.divf {{.*}} vector<8xf32>

// Values: columns, rows, panels, keys; scaled in registers, written once.
//        AVX2:     scf.for {{.*}} to %c64 step %c16 iter_args({{.*}}) -> (tensor<8x64xf32>)
//        AVX2:       scf.for {{.*}} to %c8 step %c4
//        AVX2:         %{{.*}}:8 = scf.for
//        AVX2:           %{{.*}}:8 = scf.for {{.*}} to %c16 step %c4
// AVX2-COUNT-32:           math.fma {{.*}} vector<8xf32>
//      AVX2-NOT:           math.fma
//        AVX2:         arith.mulf {{.*}} vector<8xf32>
//   AVX2-NEXT:         vector.transfer_write
//     GENERIC:     scf.for {{.*}} to %c64 step %c8 iter_args({{.*}}) -> (tensor<8x64xf32>)
//     GENERIC:       scf.for {{.*}} to %c8 step %c2
//     GENERIC:         %{{.*}}:4 = scf.for
//     GENERIC:           %{{.*}}:4 = scf.for {{.*}} to %c16 step %c4
// GENERIC-COUNT-16:        math.fma {{.*}} vector<4xf32>
// GENERIC-NOT:             math.fma
//     GENERIC:         arith.mulf {{.*}} vector<4xf32>
// GENERIC-NEXT:        vector.transfer_write
//        NEON:     scf.for {{.*}} to %c64 step %c16 iter_args({{.*}}) -> (tensor<8x64xf32>)
//        NEON:       scf.for {{.*}} to %c8 step %c4
//        NEON:         %{{.*}}:16 = scf.for
//        NEON:           %{{.*}}:16 = scf.for {{.*}} to %c16 step %c4
// NEON-COUNT-64:           math.fma {{.*}} vector<4xf32>
//      NEON-NOT:           math.fma
//        NEON:         arith.mulf {{.*}} vector<4xf32>
//   NEON-NEXT:         vector.transfer_write
//      AVX512:     scf.for {{.*}} to %c64 step %c32 iter_args({{.*}}) -> (tensor<8x64xf32>)
//      AVX512:       %{{.*}}:16 = scf.for
//      AVX512:         %{{.*}}:16 = scf.for {{.*}} to %c32 step %c4
// AVX512-COUNT-64:       math.fma {{.*}} vector<16xf32>
//  AVX512-NOT:           math.fma
//      AVX512:       arith.mulf {{.*}} vector<16xf32>
// AVX512-NEXT:       vector.transfer_write
//   CHECK-NOT:     linalg.

// A head that 32 does not divide: blocks of 16 columns.
// NARROW-LABEL: func.func private @attention
//       NARROW:   scf.for {{.*}} to %c48 step %c16 iter_args({{.*}}) -> (tensor<8x48xf32>)
//       NARROW:     %{{.*}}:8 = scf.for
//       NARROW:       %{{.*}}:8 = scf.for {{.*}} to %c32 step %c4
//   NARROW-NOT:   linalg.

// The scores stay in the one buffer: no dynamic allocation in the loops, no copy.
// BUFFERS-LABEL: func.func private @attention
//       BUFFERS:   memref.alloc(%{{.*}}) {{.*}} memref<8x?x16xf32>
//       BUFFERS:   scf.forall
//   BUFFERS-NOT:   memref.alloc({{.+}})
//   BUFFERS-NOT:   memref.copy
//   BUFFERS-NOT:   tensor<
//       BUFFERS:   return

// With a head mask, that is what the sum divides; with probabilities, the scores are scaled where they lie, and copied
// from there.
//  MAPS-LABEL: func.func private @attention
//        MAPS:   scf.forall
//        MAPS:     %[[F:.*]] = memref.load {{.*}} : memref<?xf32, strided<[1], offset: ?>>
//        MAPS:     %[[N:.*]] = vector.broadcast %[[F]]
//        MAPS:     arith.divf %[[N]],
//        MAPS:     vector.transfer_write {{.*}} memref<8x64xf32
//        MAPS:     vector.transfer_read {{.*}} memref<8x?x16xf32, {{.*}} vector<8xf32>
//   MAPS-NEXT:     arith.mulf {{.*}} vector<8xf32>
//   MAPS-NEXT:     vector.transfer_write {{.*}} memref<8x?x16xf32
//        MAPS:     vector.load {{.*}} vector<16xf32>
//        MAPS:     vector.store {{.*}} memref<?x?x?x?xf32
//    MAPS-NOT:   memref.copy
//    MAPS-NOT:   linalg.
//    MAPS-NOT:   tensor<
//        MAPS:   return
