// RUN: convbert-opt %s --convbert-to-linalg --canonicalize --cse | FileCheck %s

// Two passes: the mean first, then the squares of what differs from it.
// CHECK-LABEL: func.func @norm
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: tensor<?x?x6xf32>, %[[R:[a-z0-9]+]]: tensor<?x?x6xf32>
//   CHECK-DAG:   %[[WIDTH:.*]] = arith.constant 6.000000e+00
//   CHECK-DAG:   %[[EPS:.*]] = arith.constant 9.99999996E-13
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[R]] :
//       CHECK:     arith.addf
//       CHECK:   %[[TOTAL:.*]] = linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%[[S]] :
//       CHECK:   %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[TOTAL]] :
//       CHECK:     arith.divf {{.*}}, %[[WIDTH]]
//       CHECK:   %[[SQUARES:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[S]], %[[MEAN]] :
//       CHECK:     %[[D:.*]] = arith.subf
//  CHECK-NEXT:     arith.mulf %[[D]], %[[D]]
//       CHECK:   %[[SCALE:.*]] = linalg.generic {{.*}} ins(%[[SQUARES]] :
//       CHECK:     arith.addf {{.*}}, %[[EPS]]
//  CHECK-NEXT:     math.sqrt
//       CHECK:   %[[Y:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[MEAN]], %[[SCALE]], %{{.*}}, %{{.*}} :
//       CHECK:   return %[[Y]]
func.func @norm(%x: tensor<?x?x6xf32>, %r: tensor<?x?x6xf32>, %g: tensor<6xf32>, %b: tensor<6xf32>)
    -> tensor<?x?x6xf32> {
  %y = convbert.layer_norm %x residual(%r), %g, %b {eps = 1.0e-12 : f64}
    : (tensor<?x?x6xf32>, tensor<?x?x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}

// The sum with the residual is not rounded to half precision.
// CHECK-LABEL: func.func @half
//       CHECK:   linalg.generic {{.*}} ins({{.*}} tensor<?x6xf16>, tensor<?x6xf16>) outs({{.*}} tensor<?x6xf32>)
//       CHECK:   linalg.generic {{.*}} outs({{.*}} : tensor<?x6xf16>)
func.func @half(%x: tensor<?x6xf16>, %r: tensor<?x6xf16>, %g: tensor<6xf16>, %b: tensor<6xf16>) -> tensor<?x6xf16> {
  %y = convbert.layer_norm %x residual(%r), %g, %b {eps = 1.0e-5 : f64}
    : (tensor<?x6xf16>, tensor<?x6xf16>, tensor<6xf16>, tensor<6xf16>) -> tensor<?x6xf16>
  return %y : tensor<?x6xf16>
}

// Rows are read where they lie in the tables.
// CHECK-LABEL: func.func @embeddings
//  CHECK-SAME:   %[[WORD:[a-z0-9]+]]: tensor<9x4xf32>, %[[POSITION:[a-z0-9]+]]: tensor<8x4xf32>, %[[TYPE:[a-z0-9]+]]: tensor<2x4xf32>
//       CHECK:   linalg.generic
//       CHECK:     %[[E:.*]] = linalg.index 2
//       CHECK:     tensor.extract %[[WORD]][%{{.*}}, %[[E]]]
//       CHECK:     tensor.extract %[[POSITION]][%{{.*}}, %[[E]]]
//       CHECK:     tensor.extract %[[TYPE]][%{{.*}}, %[[E]]]
//       CHECK:   math.sqrt
//   CHECK-NOT:   convbert
//       CHECK:   return
func.func @embeddings(%ids: tensor<?x?xi64>, %types: tensor<?x?xi32>, %word: tensor<9x4xf32>, %position: tensor<8x4xf32>,
                      %type: tensor<2x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %r = convbert.embeddings %ids, %types, %ids tables(%word, %position, %type) norm(%g, %b) {eps = 1.0e-12 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi32>, tensor<?x?xi64>, tensor<9x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @pool
//       CHECK:   %[[FIRST:.*]] = tensor.extract_slice %arg0[0, 0, 0] [%{{.*}}, 1, 4]
//       CHECK:   %[[LAST:.*]] = tensor.extract_slice %arg0[0, %{{.*}}, 0] [%{{.*}}, 1, 4]
//       CHECK:   %[[TOTAL:.*]] = linalg.generic {{.*}}["parallel", "reduction", "parallel"]} ins(%arg0 :
//       CHECK:   %[[COUNT:.*]] = arith.sitofp
//       CHECK:   %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[TOTAL]] :
//       CHECK:     arith.divf %{{.*}}, %[[COUNT]]
//       CHECK:   return %[[FIRST]], %[[LAST]], %[[MEAN]]
func.func @pool(%x: tensor<?x?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %first = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  %last = convbert.pool %x {kind = #convbert.pool<last>} : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  %mean = convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<?x?x4xf32>) -> tensor<?x4xf32>
  return %first, %last, %mean : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
