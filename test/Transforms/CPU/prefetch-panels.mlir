// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-prefetch-panels))' --split-input-file | FileCheck %s

// The main loop of a register tile (shrunk to one row and eight columns): half of 4 x 24 numbers are three lines.

// CHECK-LABEL: func.func private @dense(
// CHECK-SAME:    %[[PANELS:[a-z0-9_]+]]: memref<?x?x24xf32>, %[[N:[a-z0-9_]+]]: index, %[[TILES:[a-z0-9_]+]]: index, %[[K:[a-z0-9_]+]]: index
// CHECK:         %[[COUNT:[a-z0-9_]+]] = memref.dim %[[PANELS]], %{{c0.*}}
// CHECK:         %[[DEPTH:[a-z0-9_]+]] = memref.dim %[[PANELS]], %{{c1.*}}
// CHECK:         %[[FLAT:[a-z0-9_]+]] = memref.collapse_shape %[[PANELS]] {{\[\[}}0, 1, 2]]
// CHECK:         %[[FOLLOWING:[a-z0-9_]+]] = arith.addi %[[N]], %{{c1.*}}
// CHECK:         %[[LAST:[a-z0-9_]+]] = arith.cmpi eq, %[[FOLLOWING]], %[[COUNT]]
// CHECK:         %[[NEXT:[a-z0-9_]+]] = arith.select %[[LAST]], %{{c0.*}}, %[[FOLLOWING]]
// CHECK:         %[[STEP:[a-z0-9_]+]] = arith.ceildivui %{{c24.*}}, %[[TILES]]
// CHECK:         scf.for %[[T:[a-z0-9_]+]] =
// CHECK:           scf.for %[[KI:[a-z0-9_]+]] =
// CHECK-COUNT-3:     memref.prefetch %[[FLAT]][%{{.*}}], read, locality<2>, data
// CHECK-NEXT:        vector.transfer_read %[[PANELS]][%[[N]], %[[KI]], %{{.*}}]
// CHECK-NOT:     memref.prefetch
func.func private @dense(%panels: memref<?x?x24xf32>, %n: index, %tiles: index, %k: index, %a: vector<8xf32>,
                         %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c4 iter_args(%s = %zero) -> vector<8xf32> {
      %w = vector.transfer_read %panels[%n, %ki, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    // The remainder loop of the unroller.
    %all = scf.for %ki = %c4 to %k step %c1 iter_args(%s = %sum) -> vector<8xf32> {
      %w = vector.transfer_read %panels[%n, %ki, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    vector.transfer_write %all, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// -----

// No panel is followed here: the first index is the loop over tiles itself.

// CHECK-LABEL: func.func private @other(
// CHECK-NOT:     memref.prefetch
func.func private @other(%m: memref<?x?x24xf32>, %tiles: index, %k: index, %a: vector<8xf32>, %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c1 iter_args(%s = %zero) -> vector<8xf32> {
      %w = vector.transfer_read %m[%t, %ki, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// -----

// Panels of one group among those of all: a view that begins anywhere.

// CHECK-LABEL: func.func private @view(
// CHECK:         memref.prefetch {{.*}} : memref<?xf32, strided<[1], offset: ?>>
func.func private @view(%m: memref<?x?x24xf32, strided<[?, 24, 1], offset: ?>>, %n: index, %tiles: index, %k: index, %a: vector<8xf32>,
    %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c1 iter_args(%s = %zero) -> vector<8xf32> {
      %w = vector.transfer_read %m[%n, %ki, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32, strided<[?, 24, 1], offset: ?>>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// -----

// Rows with space between them are no panels.

// CHECK-LABEL: func.func private @apart(
// CHECK-NOT:     memref.prefetch
func.func private @apart(%m: memref<?x?x24xf32, strided<[?, 32, 1], offset: ?>>, %n: index, %tiles: index, %k: index, %a: vector<8xf32>,
    %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c1 iter_args(%s = %zero) -> vector<8xf32> {
      %w = vector.transfer_read %m[%n, %ki, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32, strided<[?, 32, 1], offset: ?>>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// -----

// Slices of the depth: the same slice of the next panel, and after the task's last panel the next slice of its first.

// CHECK-LABEL: func.func private @dense_deep(
// CHECK-SAME:    %[[PANELS:[a-z0-9_]+]]: memref<?x?x24xf32>, %[[FIRST:[a-z0-9_]+]]: index, %[[N:[a-z0-9_]+]]: index
// CHECK:         scf.for %[[S:[a-z0-9_]+]] = %{{.*}} to %[[ALL:[a-z0-9_]+]] step %[[SLICE:c768.*]] {
// CHECK:           scf.for %[[P:[a-z0-9_]+]] = %{{.*}} to %[[N]]
// CHECK:             %[[PANEL:[a-z0-9_]+]] = affine.apply
// CHECK:             %[[DEPTH:[a-z0-9_]+]] = memref.dim %[[PANELS]], %{{c1.*}}
// CHECK:             %[[FROM:[a-z0-9_]+]] = arith.muli %{{.*}}, %[[DEPTH]]
// CHECK:             %[[NEXT:[a-z0-9_]+]] = arith.addi %[[S]], %[[SLICE]]
// CHECK:             %[[LAST:[a-z0-9_]+]] = arith.cmpi sge, %{{.*}}, %[[N]]
// CHECK:             %[[MORE:[a-z0-9_]+]] = arith.cmpi slt, %[[NEXT]], %[[ALL]]
// CHECK:             arith.subi %[[PANEL]], %[[P]]
// CHECK:             %[[WRAPPED:[a-z0-9_]+]] = arith.select %[[MORE]], %{{.*}}, %[[FROM]]
// CHECK:             arith.select %[[LAST]], %[[WRAPPED]], %{{.*}}
// CHECK:             scf.for
// CHECK:               scf.for
// CHECK-COUNT-3:         memref.prefetch
// CHECK-NOT:     memref.prefetch
#sum = affine_map<()[s0, s1] -> (s0 + s1)>
func.func private @dense_deep(%panels: memref<?x?x24xf32>, %first: index, %count: index, %tiles: index, %k: index,
                              %a: vector<8xf32>, %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c768 = arith.constant 768 : index
  %z = arith.constant 0.0 : f32
  scf.for %s = %c0 to %k step %c768 {
    scf.for %p = %c0 to %count step %c1 {
      %n = affine.apply #sum()[%first, %p]
      scf.for %t = %c0 to %tiles step %c1 {
        %start = vector.transfer_read %out[%t, %c0], %z {in_bounds = [true]} : memref<?x8xf32>, vector<8xf32>
        %sum = scf.for %ki = %c0 to %c768 step %c4 iter_args(%acc = %start) -> vector<8xf32> {
          %at = affine.apply #sum()[%s, %ki]
          %w = vector.transfer_read %panels[%n, %at, %c0], %z {in_bounds = [true]} : memref<?x?x24xf32>, vector<8xf32>
          %x = vector.fma %a, %w, %acc : vector<8xf32>
          scf.yield %x : vector<8xf32>
        }
        vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
      }
    }
  }
  return
}

// -----

// Pairs of bf16: a line holds 32 numbers, a step in k 2 * NR of them: six lines.

// CHECK-LABEL: func.func private @pairs(
// CHECK-SAME:    %[[PANELS:[a-z0-9_]+]]: memref<?x?x48x2xbf16>, %[[N:[a-z0-9_]+]]: index, %[[TILES:[a-z0-9_]+]]: index
// CHECK:         %[[FLAT:[a-z0-9_]+]] = memref.collapse_shape %[[PANELS]] {{\[\[}}0, 1, 2, 3]]
// CHECK:         arith.ceildivui %{{c96.*}}, %[[TILES]]
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.prefetch %[[FLAT]][%{{.*}}], read, locality<2>, data : memref<?xbf16>
// CHECK:             %[[LINE:[a-z0-9_]+]] = arith.addi %{{.*}}, %{{c32.*}} : index
// CHECK:             memref.prefetch %[[FLAT]][%[[LINE]]], read, locality<2>, data : memref<?xbf16>
// CHECK-COUNT-4:     memref.prefetch
// CHECK-NEXT:        vector.transfer_read %[[PANELS]]
func.func private @pairs(%panels: memref<?x?x48x2xbf16>, %n: index, %tiles: index, %k: index, %a: vector<32xbf16>,
                         %out: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : bf16
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c4 iter_args(%s = %zero) -> vector<16xf32> {
      %w = vector.transfer_read %panels[%n, %ki, %c0, %c0], %z {in_bounds = [true, true]} : memref<?x?x48x2xbf16>, vector<16x2xbf16>
      %pairs = vector.shape_cast %w : vector<16x2xbf16> to vector<32xbf16>
      %x = x86vector.avx512.dot %s, %a, %pairs : vector<32xbf16> -> vector<16xf32>
      scf.yield %x : vector<16xf32>
    }
    vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
  }
  return
}

// -----

// A panel that was widened before the row tiles: they prefetch the next one of what it was widened from.

// CHECK-LABEL: func.func private @widened(
// CHECK-SAME:    %[[PANELS:[a-z0-9_]+]]: memref<?x?x24xbf16>, %[[N:[a-z0-9_]+]]: index
// CHECK:         scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:         %[[FLAT:[a-z0-9_]+]] = memref.collapse_shape %[[PANELS]] {{\[\[}}0, 1, 2]]
// CHECK:         arith.addi %[[N]], %{{c1.*}}
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.prefetch %[[FLAT]][%{{.*}}], read, locality<2>, data : memref<?xbf16>
// CHECK:             memref.prefetch %[[FLAT]][%{{.*}}], read, locality<2>, data : memref<?xbf16>
// CHECK:             vector.transfer_read %{{.*}} : memref<1x?x24xf32>, vector<8xf32>
// CHECK-NOT:     memref.prefetch
func.func private @widened(%panels: memref<?x?x24xbf16>, %n: index, %tiles: index, %k: index, %a: vector<8xf32>,
                           %scratch: memref<?xi8>, %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z16 = arith.constant 0.0 : bf16
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %wide = memref.view %scratch[%c0][%k] : memref<?xi8> to memref<1x?x24xf32>
  scf.for %ki = %c0 to %k step %c1 {
    %w = vector.transfer_read %panels[%n, %ki, %c0], %z16 {in_bounds = [true]} : memref<?x?x24xbf16>, vector<8xbf16>
    %x = arith.extf %w : vector<8xbf16> to vector<8xf32>
    vector.transfer_write %x, %wide[%c0, %ki, %c0] {in_bounds = [true]} : vector<8xf32>, memref<1x?x24xf32>
  }
  scf.for %t = %c0 to %tiles step %c1 {
    %sum = scf.for %ki = %c0 to %k step %c4 iter_args(%s = %zero) -> vector<8xf32> {
      %w = vector.transfer_read %wide[%c0, %ki, %c0], %z {in_bounds = [true]} : memref<1x?x24xf32>, vector<8xf32>
      %x = vector.fma %a, %w, %s : vector<8xf32>
      scf.yield %x : vector<8xf32>
    }
    vector.transfer_write %sum, %out[%t, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}
