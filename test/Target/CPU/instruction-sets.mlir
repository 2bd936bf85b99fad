// Full vectors of the target: 512 bits are not split, whatever the tuning of the CPU prefers.
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=x86-64-v3 -o %t.v3.o && llvm-objdump -d %t.v3.o | FileCheck %s --check-prefix=V3
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=x86-64-v4 -o %t.v4.o && llvm-objdump -d %t.v4.o | FileCheck %s --check-prefix=V4
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=x86-64-v2 -o %t.v2.o && llvm-objdump -dr %t.v2.o | FileCheck %s --check-prefix=V2
// RUN: convbert-compile %s --compile-from=memory --compile-to=object --target=aarch64 -o %t.neon.o && llvm-objdump -dr %t.neon.o | FileCheck %s --check-prefix=NEON
// V3: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// V3: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// V4: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// Where one instruction cannot multiply and add, a product and a sum, also for math.fma; never a call of fmaf().
// V2-LABEL: <_mlir_ciface_f>:
// V2-NOT:   fma
// V2:       mulps
// V2:       addps
// V2-NOT:   fma
// NEON-LABEL: <_mlir_ciface_f>:
// NEON:       fmla {{.*}}.4s
// NEON-NOT:   fmaf
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %x = vector.transfer_read %a[%c0], %z {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
  %y = vector.transfer_read %b[%c0], %z {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
  %s = vector.fma %x, %y, %x : vector<16xf32>
  %t = math.fma %s, %y, %x : vector<16xf32>
  %e = vector.extract %t[0] : f32 from vector<16xf32>
  %u = math.fma %e, %e, %e : f32
  memref.store %u, %a[%c0] : memref<16xf32>
  vector.transfer_write %t, %b[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}
