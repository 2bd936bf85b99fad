// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-flatten-transfers))' | FileCheck %s

// CHECK-LABEL: func.func @pairs(
// CHECK-SAME:    %[[M:[a-z0-9_]+]]: memref<?x?x48x2xbf16>, %[[N:[a-z0-9_]+]]: index, %[[K:[a-z0-9_]+]]: index
// CHECK:         %[[FLAT:.*]] = memref.collapse_shape %[[M]] {{\[\[}}0], [1], [2, 3]] : memref<?x?x48x2xbf16> into memref<?x?x96xbf16>
// CHECK:         %[[R:.*]] = vector.transfer_read %[[FLAT]][%[[N]], %[[K]], %{{.*}}], %{{.*}} {in_bounds = [true]} : memref<?x?x96xbf16>, vector<32xbf16>
// CHECK:         return %[[R]]
func.func @pairs(%m: memref<?x?x48x2xbf16>, %n: index, %k: index) -> vector<32xbf16> {
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %w = vector.transfer_read %m[%n, %k, %c16, %c0], %z {in_bounds = [true, true]} : memref<?x?x48x2xbf16>, vector<16x2xbf16>
  %r = vector.shape_cast %w : vector<16x2xbf16> to vector<32xbf16>
  return %r : vector<32xbf16>
}

// Where there is nothing to flatten, casts of shapes stay too.
// CHECK-LABEL: func.func @rows(
// CHECK:         vector.shape_cast
// CHECK:         vector.shape_cast
func.func @rows(%m: memref<?xf32>, %n: index) -> vector<16xf32> {
  %z = arith.constant 0.0 : f32
  %w = vector.transfer_read %m[%n], %z {in_bounds = [true]} : memref<?xf32>, vector<16xf32>
  %x = vector.shape_cast %w : vector<16xf32> to vector<1x16xf32>
  %r = vector.shape_cast %x : vector<1x16xf32> to vector<16xf32>
  return %r : vector<16xf32>
}
