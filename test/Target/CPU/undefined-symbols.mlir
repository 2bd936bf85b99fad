// Compiled code calls OpenMP, the C library's memory functions and scalar mathematics; anything else is refused before linking.
// RUN: not convbert-compile %s --compile-from=memory --target=x86-64-v3 -o %t.so 2>&1 | FileCheck %s
// CHECK: requires compiled code that calls only OpenMP, scalar mathematics, memcpy and its like, but found a reference to 'print_number'
func.func private @print_number(f32)
func.func @forward(%x: f32) attributes {llvm.emit_c_interface} {
  func.call @print_number(%x) : (f32) -> ()
  return
}
