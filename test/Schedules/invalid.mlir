// RUN: convbert-opt %s --convbert-schedule --split-input-file --verify-diagnostics
// RUN: not convbert-opt %s --convbert-schedule='isa=sse2' --split-input-file 2>&1 | FileCheck %s --check-prefix=ISA

// ISA: requires an instruction set of avx2, avx512, avx512bf16, generic, neon, but found sse2

// expected-error @below {{requires a schedule for kind "unknown", element type 'f32' and instruction set avx2, but found none; there are @attention.f32, @dense.bf16.avx512bf16, @dense.f32, @dense_deep.f32, @depthwise.f32, }}
func.func private @unknown(%m: memref<?xf32>) attributes {convbert.kernel = "unknown"} {
  return
}

// -----

// The sequences are for f32.
// expected-error @below {{requires a schedule for kind "dense", element type 'f64' and instruction set avx2, but found none; there are @dense.bf16.avx512bf16, @dense.f32}}
func.func private @element(%m: memref<?xf64>) attributes {convbert.kernel = "dense"} {
  return
}
