// RUN: convbert-opt %s --convbert-scratch --split-input-file --verify-diagnostics

// Modules that convbert-fuzz-ir has found, made small.

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
// expected-error @below {{requires a thread number of type index, but found 'i64'}}
func.func private @thread(%scratch: memref<?xi8> {convbert.scratch}, %thread: i64 {convbert.thread}) {
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
// expected-error @below {{requires a scratch argument of type memref<?xi8>, but found 'memref<?x?xi8>'}}
func.func private @scratch(%scratch: memref<?x?xi8> {convbert.scratch}) {
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

// A declaration has no temporaries.
func.func private @pack(%m: memref<4xf32>) attributes {convbert.kernel = "pack"}
