// RUN: not convbert-opt %s --convbert-schedule 2>&1 | FileCheck %s

// The match that failed is reported with its place in the sequence's file, then the kernel.
// CHECK: lib/Schedules/cpu/dense.mlir:{{[0-9]+}}:{{[0-9]+}}: error: requires 1 of: epilogue tagged `epi`, but found 0
// CHECK: failed-match.mlir:[[#@LINE+1]]:1: error: schedule @dense.f32 failed for instruction set avx2
func.func private @nothing(%m: memref<?xf32>) attributes {convbert.kernel = "dense"} {
  return
}
