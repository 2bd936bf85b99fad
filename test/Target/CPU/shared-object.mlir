// The shared object exports the C interface alone.  It needs the mathematics library only if it calls it, and the C
// library not at all: memcpy is resolved when it is loaded.
// RUN: rm -rf %t && mkdir -p %t
// RUN: convbert-compile %s --compile-from=memory --target=x86-64-v3 -o %t/model.so && llvm-readelf -d --dyn-syms %t/model.so | FileCheck %s
// CHECK-DAG: (NEEDED) {{.*}}[libomp.so.5]
// CHECK-DAG: (NEEDED) {{.*}}[libm.so.6]
// CHECK-DAG: UND tanhf
// CHECK-DAG: UND memcpy
// CHECK-DAG: DEFAULT {{[0-9]+}} _mlir_ciface_f{{$}}
// CHECK-NOT: libc.so
// CHECK-NOT: hidden

// The folder that it was linked in is gone.
// RUN: ls -A %t | FileCheck %s --check-prefix=FOLDER
// FOLDER-NOT: {{.}}
// FOLDER: {{^}}model.so{{$}}
// FOLDER-NOT: {{.}}

func.func private @hidden(%x: f32) -> f32 attributes {passthrough = ["noinline"]} {
  %y = math.tanh %x : f32
  return %y : f32
}
func.func @f(%a: memref<1000xf32>, %b: memref<1000xf32>, %x: f32) -> f32 attributes {llvm.emit_c_interface} {
  memref.copy %a, %b : memref<1000xf32> to memref<1000xf32>
  %y = func.call @hidden(%x) : (f32) -> f32
  return %y : f32
}
