// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-lower-copies))' | FileCheck %s

// One block on both sides: left alone, as it becomes a memcpy.
// CHECK-LABEL: func.func @block(
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @block(%a: memref<8xf32, strided<[1], offset: ?>>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32, strided<[1], offset: ?>> to memref<8xf32>
  return
}

// Blocks of 4 x 32 elements, 512 apart.
// CHECK-LABEL: func.func @blocks(
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK:         scf.for %[[I:[a-z0-9_]+]] = %{{.*}} to %[[C8]]
// CHECK-NEXT:      %[[X:.*]] = memref.subview %{{.*}}[%[[I]], 0, 0] [1, 4, 32]
// CHECK-NEXT:      %[[Y:.*]] = memref.subview %{{.*}}[%[[I]], 0, 0] [1, 4, 32]
// CHECK-NEXT:      memref.copy %[[X]], %[[Y]] : memref<4x32xf32, strided<[32, 1], offset: ?>> to memref<4x32xf32, strided<[32, 1], offset: ?>>
func.func @blocks(%a: memref<8x4x32xf32>, %b: memref<8x4x32xf32, strided<[512, 32, 1]>>) {
  memref.copy %a, %b : memref<8x4x32xf32> to memref<8x4x32xf32, strided<[512, 32, 1]>>
  return
}

// Nothing is contiguous: element by element.
// CHECK-LABEL: func.func @elements(
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         scf.for {{.*}} to %[[N]]
// CHECK:           scf.for
// CHECK:             memref.load
// CHECK-NEXT:        memref.store
// CHECK-NOT:     memref.copy
func.func @elements(%a: memref<?x4xf32, strided<[8, 2]>>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<?x4xf32, strided<[8, 2]>> to memref<?x4xf32>
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK:         memref.copy
func.func @scalar(%a: memref<f32>, %b: memref<f32, strided<[], offset: ?>>) {
  memref.copy %a, %b : memref<f32> to memref<f32, strided<[], offset: ?>>
  return
}
