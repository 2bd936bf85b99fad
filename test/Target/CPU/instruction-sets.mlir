// Full vectors of the target: 512 bits are not split, whatever the tuning of the CPU prefers.
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=x86-64-v3 -o %t.v3.o && llvm-objdump -d %t.v3.o | FileCheck %s --check-prefix=V3
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=x86-64-v4 -o %t.v4.o && llvm-objdump -d %t.v4.o | FileCheck %s --check-prefix=V4
// V3: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// V3: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// V4: vfmadd{{[0-9]+}}ps {{.*}}%zmm
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %x = vector.transfer_read %a[%c0], %z {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
  %y = vector.transfer_read %b[%c0], %z {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
  %s = vector.fma %x, %y, %x : vector<16xf32>
  vector.transfer_write %s, %b[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}
