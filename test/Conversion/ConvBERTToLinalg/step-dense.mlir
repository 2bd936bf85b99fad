// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[M_X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[M_OUTIN:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-DAG: #[[M_Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[M_ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[M_INOUT:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[M_GX:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[M_GW:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>

// The product starts from the bias; the epilogue is one operation.
// CHECK-LABEL: func.func @epilogue
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<?x?x6xf32>, %[[W:[a-z0-9]+]]: tensor<5x6xf32>, %[[B:[a-z0-9]+]]: tensor<5xf32>
//  CHECK-SAME:   %[[M:[a-z0-9]+]]: tensor<?x?x5xf32>
//       CHECK:   %[[START:.*]] = linalg.generic {{.*}} ins(%[[B]] :
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[M_X]], #[[M_OUTIN]], #[[M_Y]]]
//  CHECK-SAME:     "parallel", "parallel", "parallel", "reduction"
//  CHECK-SAME:     ins(%[[X]], %[[W]] : {{.*}} outs(%[[START]]
//       CHECK:     arith.mulf
//  CHECK-NEXT:     arith.addf
//       CHECK:   %[[R:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[M]] :
//       CHECK:     arith.cmpf ugt
//  CHECK-NEXT:     %[[RELU:.*]] = arith.select
//  CHECK-NEXT:     arith.mulf %[[RELU]]
//       CHECK:   return %[[R]]
func.func @epilogue(%x: tensor<?x?x6xf32>, %w: tensor<5x6xf32>, %b: tensor<5xf32>, %m: tensor<?x?x5xf32>)
    -> tensor<?x?x5xf32> {
  %r = convbert.dense %x, %w, %b times %m {activation = #convbert.activation<relu>}
    : (tensor<?x?x6xf32>, tensor<5x6xf32>, tensor<5xf32>, tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  return %r : tensor<?x?x5xf32>
}

// Without bias, activation or multiplier there is the product alone.
// CHECK-LABEL: func.func @plain
//       CHECK:   %[[ZERO:.*]] = linalg.fill
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[M_ROW]], #[[M_INOUT]]
//  CHECK-SAME:     outs(%[[ZERO]] : tensor<?x5xf64>)
//       CHECK:   return %[[SUM]]
func.func @plain(%x: tensor<?x6xf64>, %w: tensor<6x5xf64>) -> tensor<?x5xf64> {
  %r = convbert.dense %x, %w {layout = #convbert.layout<in_out>} : (tensor<?x6xf64>, tensor<6x5xf64>) -> tensor<?x5xf64>
  return %r : tensor<?x5xf64>
}

// Half precision is storage: the accumulators are f32 and are rounded once.
// CHECK-LABEL: func.func @half
//       CHECK:   linalg.generic {{.*}} ins({{.*}} tensor<?x?x6xf16>, tensor<5x6xf16>) outs({{.*}} tensor<?x?x5xf32>)
//       CHECK:     arith.extf {{.*}} f16 to f32
//       CHECK:   linalg.generic {{.*}} ins({{.*}} tensor<?x?x5xf32>) outs({{.*}} tensor<?x?x5xf16>)
//       CHECK:     arith.truncf {{.*}} f32 to f16
func.func @half(%x: tensor<?x?x6xf16>, %w: tensor<5x6xf16>) -> tensor<?x?x5xf16> {
  %r = convbert.dense %x, %w : (tensor<?x?x6xf16>, tensor<5x6xf16>) -> tensor<?x?x5xf16>
  return %r : tensor<?x?x5xf16>
}

// Groups are a dimension of the product.
// CHECK-LABEL: func.func @grouped
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<?x?x6xf32>, %[[W:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
//       CHECK:   %[[XG:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<?x?x2x3xf32>
//       CHECK:   %[[BG:.*]] = tensor.expand_shape %[[B]] {{.*}} into tensor<2x4xf32>
//       CHECK:   %[[START:.*]] = linalg.generic {indexing_maps = [#[[M_OUTIN]], {{.*}} ins(%[[BG]] :
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[M_GX]], #[[M_GW]], {{.*}} ins(%[[XG]], %[[W]] : {{.*}} outs(%[[START]]
//       CHECK:   tensor.collapse_shape %[[SUM]] {{.*}} into tensor<?x?x8xf32>
//   CHECK-NOT:   linalg
//       CHECK:   return
func.func @grouped(%x: tensor<?x?x6xf32>, %w: tensor<2x3x4xf32>, %b: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %r = convbert.grouped_dense %x, %w, %b : (tensor<?x?x6xf32>, tensor<2x3x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @nothing
//  CHECK-NEXT:   return %arg0
func.func @nothing(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = convbert.activation %x {kind = #convbert.activation<identity>} : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
