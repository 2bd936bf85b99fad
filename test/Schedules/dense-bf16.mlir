// RUN: split-file %s %t
// RUN: convbert-opt %t/weights.mlir --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx512},canonicalize,cse)' | FileCheck %t/weights.mlir
// RUN: convbert-opt %t/wide.mlir --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx512},canonicalize,cse)' | FileCheck %t/wide.mlir
// RUN: convbert-opt %t/deep.mlir --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx2},canonicalize,cse)' | FileCheck %t/deep.mlir
// RUN: convbert-opt %t/deep_wide.mlir --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx2},canonicalize,cse)' | FileCheck %t/deep_wide.mlir
// RUN: convbert-opt %t/pairs.mlir --pass-pipeline='builtin.module(func.func(convbert-to-linalg),convbert-schedule{isa=avx512bf16},canonicalize,cse)' | FileCheck %t/pairs.mlir

//--- weights.mlir
// Panels of bf16 are widened a vector at a time, once for all rows of the tile.
// CHECK-LABEL: func.func private @dense
//   CHECK-NOT:   linalg
//       CHECK:   scf.forall
//       CHECK:   %{{.*}}:24 = scf.for %{{.*}} step %c4
//   CHECK-NOT:     vector.transpose
//       CHECK:     %[[W:.*]] = vector.transfer_read {{.*}} : tensor<?x?x48xbf16>, vector<16xbf16>
//  CHECK-NEXT:     arith.extf %[[W]] : vector<16xbf16> to vector<16xf32>
//   CHECK-NOT:     vector.transpose
//   CHECK-NOT:     arith.extf {{.*}} : bf16 to f32
// CHECK-COUNT-96:  vector.fma {{.*}} : vector<16xf32>
//       CHECK:     scf.yield
//   CHECK-NOT:   linalg
//       CHECK:   } {convbert.any_extent}
//       CHECK:   return
!rows = memref<?x8x?xf32, strided<[?, ?, 1], offset: ?>>
!out = memref<?x8x?x48xf32, strided<[?, ?, 48, 1], offset: ?>>
func.func private @dense(%a: !rows, %w: memref<?x?x48xbf16>, %b: memref<?x48xf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?x8x?xf32>
  %panels = bufferization.to_tensor %w restrict : memref<?x?x48xbf16> to tensor<?x?x48xbf16>
  %bias = bufferization.to_tensor %b restrict : memref<?x48xf32> to tensor<?x48xf32>
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>}
    : (tensor<?x8x?xf32>, tensor<?x?x48xbf16>, tensor<?x48xf32>) -> tensor<?x8x?x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x8x?x48xf32>, !out) -> ()
  return
}

//--- wide.mlir
// A panel of bf16 is widened a vector at a time, once for all row tiles of a block; their loop reads f32 alone.
// CHECK-LABEL: func.func private @dense
//   CHECK-NOT:   linalg
//       CHECK:   scf.forall
//       CHECK:     scf.for %{{.*}} step %c16
//       CHECK:       scf.for
//       CHECK:         %[[WIDE:.*]] = scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args({{.*}}) -> (tensor<1x?x48xf32>)
//       CHECK:           %[[W:.*]] = vector.transfer_read {{.*}} : tensor<?x?x48xbf16>, vector<16xbf16>
//  CHECK-NEXT:           arith.extf %[[W]] : vector<16xbf16> to vector<16xf32>
// CHECK-COUNT-2:         arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
//   CHECK-NOT:           arith.extf
//       CHECK:         scf.for
//       CHECK:           %{{.*}}:24 = scf.for %{{.*}} step %c4
//   CHECK-NOT:             bf16
//       CHECK:             vector.transfer_read %{{.*}} : tensor<1x?x48xf32>, vector<16xf32>
//   CHECK-NOT:             bf16
// CHECK-COUNT-96:          vector.fma {{.*}} : vector<16xf32>
//       CHECK:             scf.yield
//   CHECK-NOT:   linalg
//       CHECK:   } {convbert.any_extent}
//       CHECK:   return
!rows = memref<?x8x?xf32, strided<[?, ?, 1], offset: ?>>
!out = memref<?x8x?x48xf32, strided<[?, ?, 48, 1], offset: ?>>
func.func private @dense(%a: !rows, %w: memref<?x?x48xbf16>, %b: memref<?x48xf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?x8x?xf32>
  %panels = bufferization.to_tensor %w restrict : memref<?x?x48xbf16> to tensor<?x?x48xbf16>
  %bias = bufferization.to_tensor %b restrict : memref<?x48xf32> to tensor<?x48xf32>
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>, widen_first}
    : (tensor<?x8x?xf32>, tensor<?x?x48xbf16>, tensor<?x48xf32>) -> tensor<?x8x?x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x8x?x48xf32>, !out) -> ()
  return
}

//--- deep.mlir
// Widened as it is multiplied, in slices of the depth.
// CHECK-LABEL: func.func private @dense_deep
//   CHECK-NOT:   linalg
//       CHECK:     scf.for %{{.*}} step %c768
//       CHECK:             %{{.*}}:12 = scf.for %{{.*}} step %c4
//       CHECK:               %[[W:.*]] = vector.transfer_read {{.*}} : tensor<?x?x24xbf16>, vector<8xbf16>
//  CHECK-NEXT:               arith.extf %[[W]] : vector<8xbf16> to vector<8xf32>
//   CHECK-NOT:               arith.extf {{.*}} : bf16 to f32
// CHECK-COUNT-48:            vector.fma {{.*}} : vector<8xf32>
//       CHECK:               scf.yield
//   CHECK-NOT:   linalg
//       CHECK:   return
!rows = memref<?x4x?xf32, strided<[?, ?, 1], offset: ?>>
!out = memref<?x4x?x24xf32, strided<[?, ?, 24, 1], offset: ?>>
func.func private @dense_deep(%a: !rows, %w: memref<?x?x24xbf16>, %b: memref<?x24xf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense_deep"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?x4x?xf32>
  %panels = bufferization.to_tensor %w restrict : memref<?x?x24xbf16> to tensor<?x?x24xbf16>
  %bias = bufferization.to_tensor %b restrict : memref<?x24xf32> to tensor<?x24xf32>
  %r = convbert.packed_dense %rows, %panels, %bias {bias_first}
    : (tensor<?x4x?xf32>, tensor<?x?x24xbf16>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x4x?x24xf32>, !out) -> ()
  return
}

//--- deep_wide.mlir
// In slices of the depth: a slice of a panel at a time.
// CHECK-LABEL: func.func private @dense_deep
//   CHECK-NOT:   linalg
//       CHECK:   scf.forall
//       CHECK:     scf.for %{{.*}} step %c12
//       CHECK:       scf.for %{{.*}} step %c768
//       CHECK:         scf.for
//       CHECK:           scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args({{.*}}) -> (tensor<1x?x24xf32>)
// CHECK-COUNT-3:           arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
//   CHECK-NOT:             arith.extf
//       CHECK:           scf.for
//       CHECK:             %{{.*}}:12 = scf.for %{{.*}} step %c4
//   CHECK-NOT:               bf16
// CHECK-COUNT-48:            vector.fma {{.*}} : vector<8xf32>
//       CHECK:               scf.yield
//   CHECK-NOT:   linalg
//       CHECK:   return
!rows = memref<?x4x?xf32, strided<[?, ?, 1], offset: ?>>
!out = memref<?x4x?x24xf32, strided<[?, ?, 24, 1], offset: ?>>
func.func private @dense_deep(%a: !rows, %w: memref<?x?x24xbf16>, %b: memref<?x24xf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense_deep"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?x4x?xf32>
  %panels = bufferization.to_tensor %w restrict : memref<?x?x24xbf16> to tensor<?x?x24xbf16>
  %bias = bufferization.to_tensor %b restrict : memref<?x24xf32> to tensor<?x24xf32>
  %r = convbert.packed_dense %rows, %panels, %bias {bias_first, widen_first}
    : (tensor<?x4x?xf32>, tensor<?x?x24xbf16>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x4x?x24xf32>, !out) -> ()
  return
}

//--- pairs.mlir
// One instruction for sixteen pairs; a pair of a row is one 32-bit number for all lanes.
// CHECK-LABEL: func.func private @dense
//   CHECK-NOT:   linalg
//       CHECK:   scf.forall
//       CHECK:   %{{.*}}:24 = scf.for %{{.*}} step %c4
//   CHECK-NOT:     arith.mulf
//       CHECK:     vector.broadcast {{.*}} : vector<1xi32> to vector<16xi32>
// CHECK-COUNT-96:  x86vector.avx512.dot {{.*}} : vector<32xbf16> -> vector<16xf32>
//   CHECK-NOT:     x86vector.avx512.dot
//       CHECK:     scf.yield
// The rest of k.
//       CHECK:   %{{.*}}:24 = scf.for %{{.*}} step %c1
// CHECK-COUNT-24:  x86vector.avx512.dot
//       CHECK:     scf.yield
//       CHECK:   arith.divf {{.*}} : vector<16xf32>
//   CHECK-NOT:   linalg
//       CHECK:   } {convbert.any_extent}
//       CHECK:   return
!rows = memref<?x8x?x2xbf16, strided<[?, ?, 2, 1], offset: ?>>
!out = memref<?x8x?x48xf32, strided<[?, ?, 48, 1], offset: ?>>
func.func private @dense(%a: !rows, %w: memref<?x?x48x2xbf16>, %b: memref<?x48xf32>, %c: !out, %threads: i32 {convbert.threads})
    attributes {convbert.kernel = "dense"} {
  %rows = bufferization.to_tensor %a restrict : !rows to tensor<?x8x?x2xbf16>
  %panels = bufferization.to_tensor %w restrict : memref<?x?x48x2xbf16> to tensor<?x?x48x2xbf16>
  %bias = bufferization.to_tensor %b restrict : memref<?x48xf32> to tensor<?x48xf32>
  %r = convbert.packed_dense %rows, %panels, %bias {activation = #convbert.activation<gelu>}
    : (tensor<?x8x?x2xbf16>, tensor<?x?x48x2xbf16>, tensor<?x48xf32>) -> tensor<?x8x?x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x8x?x48xf32>, !out) -> ()
  return
}
