// RUN: sed 's/xMR/x4/g; s/NR/8/g' %s | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=generic},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: sed 's/xMR/x4/g; s/NR/24/g' %s | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx2},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sed 's/xMR/x8/g; s/NR/48/g' %s | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx512},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: sed 's/xMR/x8/g; s/NR/32/g' %s | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx512},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,NARROW
// RUN: sed 's/xMR/x4/g; s/NR/16/g' %s | convbert-opt --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=neon},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,NEON

// Tasks of some panels; blocks of row tiles; panels outside, row tiles inside; then k by four with all
// accumulators in registers.  No linalg, no scalar arithmetic and no wide vector is left.
// CHECK-LABEL: func.func private @dense
//   CHECK-NOT:   linalg
//   CHECK-NOT:   arith.mulf {{.*}} : f32
//     GENERIC:   scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (12)
//        AVX2:   scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (4)
//      AVX512:   scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (4)
//      NARROW:   scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (4)
//        NEON:   scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (6)
//     GENERIC:     scf.for %{{.*}} step %c12
//        AVX2:     scf.for %{{.*}} step %c12
//      AVX512:     scf.for %{{.*}} step %c16
//      NARROW:     scf.for %{{.*}} step %c16
//        NEON:     scf.for %{{.*}} step %c12
//       CHECK:       scf.for
//       CHECK:         scf.for
//     GENERIC:           %{{.*}}:8 = scf.for %{{.*}} step %c4
//  GENERIC-COUNT-32:       vector.fma {{.*}} : vector<4xf32>
//  GENERIC-NOT:             vector.fma
//        AVX2:           %{{.*}}:12 = scf.for %{{.*}} step %c4
//   AVX2-COUNT-48:         vector.fma {{.*}} : vector<8xf32>
//     AVX2-NOT:             vector.fma
//      AVX512:           %{{.*}}:24 = scf.for %{{.*}} step %c4
//      NARROW:           %{{.*}}:16 = scf.for %{{.*}} step %c4
//  AVX512-COUNT-96:        vector.fma {{.*}} : vector<16xf32>
//  NARROW-COUNT-64:        vector.fma {{.*}} : vector<16xf32>
//   AVX512-NOT:             vector.fma
//   NARROW-NOT:             vector.fma
//        NEON:           %{{.*}}:16 = scf.for %{{.*}} step %c4
//    NEON-COUNT-64:        vector.fma {{.*}} : vector<4xf32>
//     NEON-NOT:             vector.fma
//       CHECK:             scf.yield
// The rest of k.
//     GENERIC:           %{{.*}}:8 = scf.for %{{.*}} step %c1
//  GENERIC-COUNT-8:        vector.fma {{.*}} : vector<4xf32>
//        AVX2:           %{{.*}}:12 = scf.for %{{.*}} step %c1
//   AVX2-COUNT-12:         vector.fma {{.*}} : vector<8xf32>
//      AVX512:           %{{.*}}:24 = scf.for %{{.*}} step %c1
//      NARROW:           %{{.*}}:16 = scf.for %{{.*}} step %c1
//  AVX512-COUNT-24:        vector.fma {{.*}} : vector<16xf32>
//  NARROW-COUNT-16:        vector.fma {{.*}} : vector<16xf32>
//        NEON:           %{{.*}}:16 = scf.for %{{.*}} step %c1
//    NEON-COUNT-16:        vector.fma {{.*}} : vector<4xf32>
//       CHECK:             scf.yield
//     GENERIC:           arith.divf {{.*}} : vector<4xf32>
//        AVX2:           arith.divf {{.*}} : vector<8xf32>
//      AVX512:           arith.divf {{.*}} : vector<16xf32>
//      NARROW:           arith.divf {{.*}} : vector<16xf32>
//        NEON:           arith.divf {{.*}} : vector<4xf32>
//   CHECK-NOT:   linalg
//   CHECK-NOT:   arith.divf {{.*}} : f32
//       CHECK:   } {convbert.any_extent}
//       CHECK:   return
!rows = memref<?xMRx?xf32, strided<[?, ?, 1], offset: ?>>
!out = memref<?xMRx?xNRxf32, strided<[?, ?, NR, 1], offset: ?>>
func.func private @dense(%a: !rows, %w: memref<?x?xNRxf32>, %b: memref<?xNRxf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?xMRx?xf32>
  %panels = bufferization.to_tensor %w restrict : memref<?x?xNRxf32> to tensor<?x?xNRxf32>
  %bias = bufferization.to_tensor %b restrict : memref<?xNRxf32> to tensor<?xNRxf32>
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>}
    : (tensor<?xMRx?xf32>, tensor<?x?xNRxf32>, tensor<?xNRxf32>) -> tensor<?xMRx?xNRxf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?xMRx?xNRxf32>, !out) -> ()
  return
}
