// Kernels of kind `pack` run once, when weights are packed: their temporaries stay on the heap, and are freed.
// RUN: split-file %s %t
// RUN: convbert-opt %t/free.mlir --convbert-scratch | FileCheck %t/free.mlir
// RUN: convbert-opt %t/nested.mlir --convbert-scratch --verify-diagnostics

//--- free.mlir
// CHECK-LABEL: func.func private @pack(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         memref.store
// CHECK:         memref.dealloc %[[A]]
// CHECK-NEXT:    return
func.func private @pack(%m: memref<f32>) attributes {convbert.kernel = "pack"} {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<8xf32>
  %x = memref.load %m[] : memref<f32>
  memref.store %x, %a[%c0] : memref<8xf32>
  return
}

//--- nested.mlir
func.func private @pack(%n: index) attributes {convbert.kernel = "pack"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{requires a temporary at the top of a pack kernel, but found it inside 'scf.for'}}
    %a = memref.alloc() : memref<8xf32>
  }
  return
}
