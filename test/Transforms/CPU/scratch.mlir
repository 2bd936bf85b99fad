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
