// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @residual
//  CHECK-SAME:   %[[PARAMS:.*]]: tensor<2x768xf32>, %[[X:.*]]: tensor<768xf32>, %[[R:.*]]: memref<768xf32
//       CHECK:   %[[CUT:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<24x32xf32>
//       CHECK:   %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[CUT]], %{{.*}}) {{.*}} {sum}
//   CHECK-NOT:   linalg.index
//       CHECK:   linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[SUM]] {{.*}} outs({{.*}} tensor<32xf32>) {{.*}} {lane}
//       CHECK:   %[[MEAN:.*]] = arith.mulf
//       CHECK:   linalg.generic {{.*}} ["parallel", "reduction"]} ins(%[[SUM]], %[[MEAN]] {{.*}} {lane}
//       CHECK:   math.sqrt
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} {scale}
// The destination is cut, not the value.
//   CHECK-NOT:   tensor.collapse_shape
//       CHECK:   %[[TO:.*]] = memref.expand_shape %{{.*}} into memref<24x32xf32
//       CHECK:   bufferization.materialize_in_destination %[[Y]] in restrict writable %[[TO]]
func.func @residual(%params: tensor<2x768xf32>, %x: tensor<768xf32>, %m: memref<768xf32, strided<[1], offset: ?>>,
                    %y: memref<768xf32, strided<[1], offset: ?>>) attributes {convbert.kernel = "norm"} {
  %r = bufferization.to_tensor %m restrict : memref<768xf32, strided<[1], offset: ?>> to tensor<768xf32>
  %o = convbert.norm_tile %params (%x, %r) {eps = 1.0e-12 : f64, width = 768 : i64}
    : (tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<768xf32>
  bufferization.materialize_in_destination %o in restrict writable %y
    : (tensor<768xf32>, memref<768xf32, strided<[1], offset: ?>>) -> ()
  return
}

// Elements behind the width count in neither sum; the mean is over the width.
// CHECK-LABEL: func.func @padded
//   CHECK-DAG:   %[[WIDTH:.*]] = arith.constant 45 : index
//   CHECK-DAG:   %[[INVERSE:.*]] = arith.constant 0.0222222228 : f32
//       CHECK:   linalg.generic {{.*}} {sum}
//       CHECK:     %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %[[WIDTH]]
//       CHECK:     arith.select %[[IN]]
//       CHECK:   linalg.generic {{.*}} outs({{.*}} tensor<16xf32>) {{.*}} {lane}
//       CHECK:   arith.mulf %{{.*}}, %[[INVERSE]]
//       CHECK:   linalg.generic {{.*}} {lane}
//       CHECK:     arith.cmpi ult
//       CHECK:   linalg.generic {{.*}} {scale}
//       CHECK:     arith.cmpi ult
//       CHECK:   tensor.collapse_shape
func.func @padded(%params: tensor<2x48xf32>, %x: tensor<48xf32>) -> tensor<48xf32>
    attributes {convbert.kernel = "norm"} {
  %o = convbert.norm_tile %params (%x) {eps = 1.0e-12 : f64, width = 45 : i64}
    : (tensor<2x48xf32>, tensor<48xf32>) -> tensor<48xf32>
  return %o : tensor<48xf32>
}

// One addend that fills its row is the sum.
// CHECK-LABEL: func.func @single
//   CHECK-NOT:   {sum}
//       CHECK:   {scale}
func.func @single(%params: tensor<2x16xf32>, %x: tensor<16xf32>) -> tensor<16xf32>
    attributes {convbert.kernel = "norm"} {
  %o = convbert.norm_tile %params (%x) {eps = 1.0e-5 : f64, width = 16 : i64}
    : (tensor<2x16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %o : tensor<16xf32>
}
