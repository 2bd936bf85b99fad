// RUN: convbert-opt %s --convbert-scratch | FileCheck %s

// Modules that convbert-fuzz-ir has found, made small.

// Each sum uses the one before twice: 2^32 ways from the last to the first, and one look at each.
// CHECK-LABEL: func.func private @scratch_bytes(
// CHECK-COUNT-33: arith.addi
// CHECK-LABEL: func.func private @doubled(
// CHECK:         memref.view
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @doubled(%shape: memref<?xi64>, %scratch: memref<?xi8> {convbert.scratch}) {
  %c1 = arith.constant 1 : index
  %t = memref.load %shape[%c1] : memref<?xi64>
  %0 = arith.index_cast %t : i64 to index
  %1 = arith.addi %0, %0 : index
  %2 = arith.addi %1, %1 : index
  %3 = arith.addi %2, %2 : index
  %4 = arith.addi %3, %3 : index
  %5 = arith.addi %4, %4 : index
  %6 = arith.addi %5, %5 : index
  %7 = arith.addi %6, %6 : index
  %8 = arith.addi %7, %7 : index
  %9 = arith.addi %8, %8 : index
  %10 = arith.addi %9, %9 : index
  %11 = arith.addi %10, %10 : index
  %12 = arith.addi %11, %11 : index
  %13 = arith.addi %12, %12 : index
  %14 = arith.addi %13, %13 : index
  %15 = arith.addi %14, %14 : index
  %16 = arith.addi %15, %15 : index
  %17 = arith.addi %16, %16 : index
  %18 = arith.addi %17, %17 : index
  %19 = arith.addi %18, %18 : index
  %20 = arith.addi %19, %19 : index
  %21 = arith.addi %20, %20 : index
  %22 = arith.addi %21, %21 : index
  %23 = arith.addi %22, %22 : index
  %24 = arith.addi %23, %23 : index
  %25 = arith.addi %24, %24 : index
  %26 = arith.addi %25, %25 : index
  %27 = arith.addi %26, %26 : index
  %28 = arith.addi %27, %27 : index
  %29 = arith.addi %28, %28 : index
  %30 = arith.addi %29, %29 : index
  %31 = arith.addi %30, %30 : index
  %32 = arith.addi %31, %31 : index
  %a = memref.alloc(%32) : memref<?xf32>
  return
}
