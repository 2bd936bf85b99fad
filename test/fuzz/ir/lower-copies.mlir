// RUN: convbert-opt %s --convbert-lower-copies | FileCheck %s

// Modules that convbert-fuzz-ir has found, made small.

// There is nothing to copy, and no slice of it either.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
func.func @empty(%a: memref<4x?x0xf32, strided<[?, 1, 1]>>, %b: memref<4x?x0xf32>) {
  memref.copy %a, %b : memref<4x?x0xf32, strided<[?, 1, 1]>> to memref<4x?x0xf32>
  return
}
