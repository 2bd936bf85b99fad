// RUN: convbert-opt %s --convbert-scratch --canonicalize --cse --split-input-file | FileCheck %s

// Static temporaries lie at constant offsets, each at a multiple of 64 bytes; the size is the largest kernel's.

// CHECK-LABEL: func.func private @scratch_bytes(%{{.*}}: memref<?xi64>) -> index
// CHECK:         %[[C192:[a-z0-9_]+]] = arith.constant 192 : index
// CHECK-NEXT:    return %[[C192]]
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index

// CHECK-LABEL: func.func private @two_task(
// CHECK-SAME:    %[[SCRATCH:[a-z0-9_]+]]: memref<?xi8> {convbert.scratch}, %[[THREAD:[a-z0-9_]+]]: index {convbert.thread})
// CHECK-NOT:     memref.alloc
// CHECK-DAG:     %[[C192:[a-z0-9_]+]] = arith.constant 192 : index
// CHECK-DAG:     %[[C64:[a-z0-9_]+]] = arith.constant 64 : index
// CHECK:         %[[BASE:[a-z0-9_]+]] = arith.muli %[[THREAD]], %[[C192]]
// CHECK:         %[[SECOND:[a-z0-9_]+]] = arith.addi %[[BASE]], %[[C64]]
// CHECK:         memref.view %[[SCRATCH]][%[[BASE]]][] : memref<?xi8> to memref<5xf32>
// CHECK:         memref.view %[[SCRATCH]][%[[SECOND]]][] : memref<?xi8> to memref<32xf32>
func.func private @two_task(%m: memref<?xf32>, %scratch: memref<?xi8> {convbert.scratch}, %thread: index {convbert.thread}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf32>
  %a = memref.alloc() : memref<5xf32>
  %z = memref.load %m[%c0] : memref<?xf32>
  memref.store %z, %a[%c0] : memref<5xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<32xf32>
    %x = memref.load %a[%c0] : memref<5xf32>
    memref.store %x, %b[%c0] : memref<32xf32>
    %y = memref.load %b[%c0] : memref<32xf32>
    memref.store %y, %m[%i] : memref<?xf32>
    memref.dealloc %b : memref<32xf32>
  }
  return
}

// Without a thread number there is one thread.
// CHECK-LABEL: func.func private @serial(
// CHECK-SAME:    %[[SCRATCH:[a-z0-9_]+]]: memref<?xi8> {convbert.scratch})
// CHECK:         memref.view %[[SCRATCH]][%{{c0.*}}][] : memref<?xi8> to memref<i64>
func.func private @serial(%m: memref<i64>, %scratch: memref<?xi8> {convbert.scratch}) {
  %a = memref.alloc() : memref<i64>
  %x = memref.load %m[] : memref<i64>
  memref.store %x, %a[] : memref<i64>
  %y = memref.load %a[] : memref<i64>
  memref.store %y, %m[] : memref<i64>
  return
}

// -----

// Dynamic temporaries: the caller evaluates the formula that the kernel uses.

// CHECK-LABEL: func.func private @scratch_bytes(
// CHECK-SAME:    %[[SHAPE:[a-z0-9_]+]]: memref<?xi64>) -> index
// CHECK-DAG:     %[[C64:[a-z0-9_]+]] = arith.constant 64 : index
// CHECK-DAG:     %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK:         %[[T64:[a-z0-9_]+]] = memref.load %[[SHAPE]][%[[C1]]]
// CHECK:         %[[T:[a-z0-9_]+]] = arith.index_cast %[[T64]]
// CHECK:         %[[BYTES:[a-z0-9_]+]] = arith.muli %[[T]], %[[C12]]
// CHECK:         %[[LINES:[a-z0-9_]+]] = arith.ceildivui %[[BYTES]], %[[C64]]
// CHECK:         %[[ROUNDED:[a-z0-9_]+]] = arith.muli %[[LINES]], %[[C64]]
// CHECK:         %[[ALL:[a-z0-9_]+]] = arith.addi %[[ROUNDED]], %[[C64]]
// CHECK:         return %[[ALL]]
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index {
  %c0 = arith.constant 0 : index
  return %c0 : index
}

// CHECK-LABEL: func.func private @rows_task(
// CHECK-SAME:    %[[SHAPE:[a-z0-9_]+]]: memref<?xi64>, %[[SCRATCH:[a-z0-9_]+]]: memref<?xi8> {convbert.scratch}, %[[THREAD:[a-z0-9_]+]]: index {convbert.thread})
// CHECK:         %[[T:[a-z0-9_]+]] = arith.index_cast
// CHECK:         %[[ALL:[a-z0-9_]+]] = arith.addi %{{.*}}, %{{c64.*}} : index
// CHECK:         %[[BASE:[a-z0-9_]+]] = arith.muli %[[THREAD]], %[[ALL]]
// CHECK:         %[[AFTER:[a-z0-9_]+]] = arith.addi %[[BASE]], %{{c64.*}} : index
// CHECK:         memref.view %[[SCRATCH]][%[[AFTER]]][%[[T]]] : memref<?xi8> to memref<?x3xf32>
// CHECK:         memref.view %[[SCRATCH]][%[[BASE]]][] : memref<?xi8> to memref<8xf32>
func.func private @rows_task(%m: memref<?xf32>, %shape: memref<?xi64>, %scratch: memref<?xi8> {convbert.scratch},
                             %thread: index {convbert.thread}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t64 = memref.load %shape[%c1] : memref<?xi64>
  %t = arith.index_cast %t64 : i64 to index
  %a = memref.alloc(%t) : memref<?x3xf32>
  %b = memref.alloc() : memref<8xf32>
  %x = memref.load %m[%c0] : memref<?xf32>
  memref.store %x, %a[%c0, %c0] : memref<?x3xf32>
  memref.store %x, %b[%c0] : memref<8xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x3xf32>
  %z = memref.load %b[%c0] : memref<8xf32>
  memref.store %y, %m[%c0] : memref<?xf32>
  memref.store %z, %m[%c1] : memref<?xf32>
  return
}

// -----

// Nothing to do is no error, and needs no @scratch_bytes.

// CHECK-LABEL: func.func private @plain()
func.func private @plain() {
  return
}

// -----

// Sizes with constant bounds: by an argument's mark, and by their own arithmetic.  Room is made for the bounds, views
// have the sizes; they may stand anywhere.

// CHECK-LABEL: func.func private @scratch_bytes(%{{.*}}: memref<?xi64>) -> index
// CHECK:         %[[ALL:[a-z0-9_]+]] = arith.constant 2112 : index
// CHECK-NEXT:    return %[[ALL]]
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index

// CHECK-LABEL: func.func private @bounded_task(
// CHECK-SAME:    %[[PANELS:[a-z0-9_]+]]: memref<?x?x3xbf16> {convbert.most = array<i64: -1, 100, 3>}, %[[N:[a-z0-9_]+]]: index, %[[SCRATCH:[a-z0-9_]+]]: memref<?xi8> {convbert.scratch}, %{{.*}}: memref<?xf32>)
// CHECK-NOT:     memref.alloc
// CHECK:         %[[DEPTH:[a-z0-9_]+]] = memref.dim %[[PANELS]], %{{c1.*}}
// CHECK:         scf.for
// CHECK:           memref.view %[[SCRATCH]][%{{c0.*}}][%[[DEPTH]]] : memref<?xi8> to memref<?x3xf32>
// CHECK:           %[[LEFT:[a-z0-9_]+]] = affine.min
// CHECK:           memref.view %[[SCRATCH]][%{{c1216.*}}][%[[LEFT]]] : memref<?xi8> to memref<?x7xf32>
func.func private @bounded_task(%panels: memref<?x?x3xbf16> {convbert.most = array<i64: -1, 100, 3>}, %n: index,
                                %scratch: memref<?xi8> {convbert.scratch}, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 0.0 : f32
  %depth = memref.dim %panels, %c1 : memref<?x?x3xbf16>
  scf.for %i = %c0 to %n step %c32 {
    %wide = memref.alloc(%depth) : memref<?x3xf32>
    memref.store %z, %wide[%c0, %c0] : memref<?x3xf32>
    %left = affine.min affine_map<(d0)[s0] -> (32, s0 - d0)>(%i)[%n]
    %slice = memref.alloc(%left) : memref<?x7xf32>
    memref.store %z, %slice[%c0, %c0] : memref<?x7xf32>
    %x = memref.load %wide[%c0, %c0] : memref<?x3xf32>
    %y = memref.load %slice[%c0, %c0] : memref<?x7xf32>
    %xy = arith.addf %x, %y : f32
    memref.store %xy, %out[%c0] : memref<?xf32>
  }
  return
}
