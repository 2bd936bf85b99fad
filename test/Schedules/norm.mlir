// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx2},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=avx512},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=generic},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,LANES4
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-to-linalg),canonicalize,cse,convbert-schedule{isa=neon},canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,LANES4

// Four loops over 24 slices of 32 lanes: sum, mean, variance, result; partial sums in registers.
// CHECK-LABEL: func.func private @norm
//       CHECK:   scf.forall
//       CHECK:     scf.for
//        AVX2:       vector.transfer_write {{.*}} : vector<8xf32>
//      AVX512:       vector.transfer_write {{.*}} : vector<16xf32>
//      LANES4:       vector.transfer_write {{.*}} : vector<4xf32>
//        AVX2:     %{{.*}}:4 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
//      AVX512:     %{{.*}}:2 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
//      LANES4:     %{{.*}}:8 = scf.for {{.*}} -> (vector<4xf32>, {{.*}}, vector<4xf32>)
//       CHECK:     vector.reduction <add>
//        AVX2:     %{{.*}}:4 = scf.for
//      AVX512:     %{{.*}}:2 = scf.for
//      LANES4:     %{{.*}}:8 = scf.for
//       CHECK:     vector.reduction <add>
//       CHECK:     math.sqrt {{.*}} : f32
//       CHECK:     scf.for
//        AVX2:       math.fma {{.*}} : vector<8xf32>
//      AVX512:       math.fma {{.*}} : vector<16xf32>
//      LANES4:       math.fma {{.*}} : vector<4xf32>
//   CHECK-NOT:   linalg
!rows = memref<?x768xf32, strided<[?, 1], offset: ?>>
!row = memref<768xf32, strided<[1], offset: ?>>
func.func private @norm(%x: !rows, %r: !rows, %params: memref<2x768xf32>, %y: !rows, %threads: i32 {convbert.threads},
                        %scratch: memref<?xi8> {convbert.scratch}) attributes {convbert.kernel = "norm"} {
  %c0 = arith.constant 0 : index
  %count = memref.dim %y, %c0 : !rows
  %p = bufferization.to_tensor %params restrict : memref<2x768xf32> to tensor<2x768xf32>
  scf.forall (%t) in (%count) {
    %xr = memref.subview %x[%t, 0] [1, 768] [1, 1] : !rows to !row
    %rr = memref.subview %r[%t, 0] [1, 768] [1, 1] : !rows to !row
    %yr = memref.subview %y[%t, 0] [1, 768] [1, 1] : !rows to !row
    %xt = bufferization.to_tensor %xr restrict : !row to tensor<768xf32>
    %rt = bufferization.to_tensor %rr restrict : !row to tensor<768xf32>
    %o = convbert.norm_tile %p (%xt, %rt) {eps = 1.0e-12 : f64, width = 768 : i64}
      : (tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<768xf32>
    bufferization.materialize_in_destination %o in restrict writable %yr : (tensor<768xf32>, !row) -> ()
  }
  return
}

// A condition in the loop, three addends, a padded row.
// CHECK-LABEL: func.func private @embed
//       CHECK:   scf.forall
//       CHECK:     scf.if
//        AVX2:       arith.select {{.*}} : vector<8xi1>, vector<8xf32>
//      AVX512:       arith.select {{.*}} : vector<16xi1>, vector<16xf32>
//      LANES4:       arith.select {{.*}} : vector<4xi1>, vector<4xf32>
//       CHECK:       vector.reduction <add>
//       CHECK:       vector.reduction <add>
//   CHECK-NOT:   linalg
!erow = memref<48xf32, strided<[1], offset: ?>>
!erows = memref<?x48xf32, strided<[?, 1], offset: ?>>
func.func private @embed(%a: !erows, %b: !erows, %c: !erows, %params: memref<2x48xf32>, %y: !erows, %n: index,
                         %threads: i32 {convbert.threads}, %scratch: memref<?xi8> {convbert.scratch})
    attributes {convbert.kernel = "embed"} {
  %c0 = arith.constant 0 : index
  %count = memref.dim %y, %c0 : !erows
  %p = bufferization.to_tensor %params restrict : memref<2x48xf32> to tensor<2x48xf32>
  scf.forall (%t) in (%count) {
    %some = arith.cmpi ult, %t, %n : index
    scf.if %some {
      %ar = memref.subview %a[%t, 0] [1, 48] [1, 1] : !erows to !erow
      %br = memref.subview %b[%t, 0] [1, 48] [1, 1] : !erows to !erow
      %cr = memref.subview %c[%t, 0] [1, 48] [1, 1] : !erows to !erow
      %yr = memref.subview %y[%t, 0] [1, 48] [1, 1] : !erows to !erow
      %at = bufferization.to_tensor %ar restrict : !erow to tensor<48xf32>
      %bt = bufferization.to_tensor %br restrict : !erow to tensor<48xf32>
      %ct = bufferization.to_tensor %cr restrict : !erow to tensor<48xf32>
      %o = convbert.norm_tile %p (%at, %bt, %ct) {eps = 1.0e-12 : f64, width = 45 : i64}
        : (tensor<2x48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<48xf32>
      bufferization.materialize_in_destination %o in restrict writable %yr : (tensor<48xf32>, !erow) -> ()
    }
  }
  return
}
