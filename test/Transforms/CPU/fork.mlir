// RUN: convbert-opt %s --convbert-fork --canonicalize --cse --split-input-file | FileCheck %s

// The task takes a contiguous share; the dispatcher enters OpenMP only for more than one thread, and asks for no more
// of them than there are iterations.

// CHECK-LABEL: func.func private @fill_task(
// CHECK-SAME:    %[[M:[a-z0-9_]+]]: memref<?xf32>, %{{.*}}: i32 {convbert.threads}, %[[THREAD:[a-z0-9_]+]]: index {convbert.thread}, %[[TEAM:[a-z0-9_]+]]: index)
// CHECK-SAME:    attributes {convbert.kernel = "norm", passthrough = ["noinline"]}
// CHECK:         %[[N:[a-z0-9_]+]] = memref.dim %[[M]]
// CHECK:         %[[SHARE:[a-z0-9_]+]] = arith.ceildivui %[[N]], %[[TEAM]]
// CHECK:         %[[FROM:[a-z0-9_]+]] = arith.muli %[[THREAD]], %[[SHARE]]
// CHECK:         %[[END:[a-z0-9_]+]] = arith.addi %[[FROM]], %[[SHARE]]
// CHECK:         %[[TO:[a-z0-9_]+]] = arith.minui %[[END]], %[[N]]
// CHECK:         scf.for %[[I:[a-z0-9_]+]] = %[[FROM]] to %[[TO]] step %{{.*}} {
// CHECK-NEXT:      memref.store %{{.*}}, %[[M]][%[[I]]]

// CHECK-LABEL: func.func private @fill(
// CHECK-SAME:    %[[M:[a-z0-9_]+]]: memref<?xf32>, %[[THREADS:[a-z0-9_]+]]: i32 {convbert.threads}) {
// CHECK-DAG:     %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK:         %[[N:[a-z0-9_]+]] = memref.dim %[[M]]
// CHECK:         %[[ALL:[a-z0-9_]+]] = arith.index_cast %[[THREADS]]
// CHECK:         %[[MOST:[a-z0-9_]+]] = arith.minsi %[[N]], %[[ALL]]
// CHECK:         %[[TEAM:[a-z0-9_]+]] = arith.index_cast %[[MOST]]
// CHECK:         %[[ONE:[a-z0-9_]+]] = arith.cmpi sle, %[[TEAM]]
// CHECK:         scf.if %[[ONE]] {
// CHECK-NEXT:      func.call @fill_task(%[[M]], %[[THREADS]], %[[C0]], %[[C1]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      omp.parallel num_threads(%[[TEAM]] : i32) {
// CHECK:             func.call @__kmpc_bound_thread_num
// CHECK:             func.call @__kmpc_bound_num_threads
// CHECK:             func.call @fill_task(
// CHECK-NEXT:        omp.terminator
func.func private @fill(%m: memref<?xf32>, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "norm"} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) in (%n) {
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Steps are kept: a share is a number of whole steps.

// CHECK-LABEL: func.func private @chunks_task(
// CHECK-DAG:     %[[C4:[a-z0-9_]+]] = arith.constant 4 : index
// CHECK:         %[[CHUNKS:[a-z0-9_]+]] = arith.ceildivui %{{.*}}, %[[C4]]
// CHECK:         %[[EACH:[a-z0-9_]+]] = arith.ceildivui %[[CHUNKS]], %{{.*}}
// CHECK:         arith.muli %[[EACH]], %[[C4]]
// CHECK:         scf.for {{.*}} step %[[C4]]
func.func private @chunks(%m: memref<?xf32>, %threads: i32 {convbert.threads}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) = (0) to (%n) step (4) {
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// A thread may fill its own temporary outside the loop.

// CHECK-LABEL: func.func private @own_task(
// CHECK:         memref.store
// CHECK:         scf.for
func.func private @own(%m: memref<?xf32>, %threads: i32 {convbert.threads}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  %a = memref.alloc() : memref<4xf32>
  %v = memref.subview %a[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  memref.store %z, %v[%c0] : memref<2xf32, strided<[1], offset: 2>>
  scf.forall (%i) in (%n) {
    %x = memref.load %a[%c0] : memref<4xf32>
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Without a thread count a function is no kernel for this pass.

// CHECK-LABEL: func.func private @serial(
// CHECK:         scf.forall
func.func private @serial(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) in (%n) {
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// A thread should have a grain of iterations.

// CHECK-LABEL: func.func private @cheap(
// CHECK-DAG:     %[[C16:[a-z0-9_]+]] = arith.constant 16 : index
// CHECK:         %[[N:[a-z0-9_]+]] = memref.dim
// CHECK:         %[[GRAINS:[a-z0-9_]+]] = arith.ceildivui %[[N]], %[[C16]]
// CHECK:         arith.minsi %[[GRAINS]],
func.func private @cheap(%m: memref<?xf32>, %threads: i32 {convbert.threads}) attributes {convbert.grain = 16 : i64} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) in (%n) {
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Bounds that are read from the shape are read by the dispatcher too.

// CHECK-LABEL: func.func private @sequences(
// CHECK:         %[[B:[a-z0-9_]+]] = memref.load %{{.*}}[%{{.*}}] : memref<?xi64>
// CHECK:         %[[BATCH:[a-z0-9_]+]] = arith.index_cast %[[B]] : i64 to index
// CHECK:         arith.minsi %[[BATCH]],
func.func private @sequences(%m: memref<?xf32>, %shape: memref<?xi64>, %threads: i32 {convbert.threads}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %b = memref.load %shape[%c0] : memref<?xi64>
  %batch = arith.index_cast %b : i64 to index
  scf.forall (%i) in (%batch) {
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// -----

// Tiles of any extent are shared evenly: a share may end within a step, and its last tile with it.

// CHECK-LABEL: func.func private @tiles_task(
// CHECK-SAME:    %[[THREAD:[a-z0-9_]+]]: index {convbert.thread}, %[[TEAM:[a-z0-9_]+]]: index)
// CHECK:         %[[N:[a-z0-9_]+]] = memref.dim
// CHECK:         %[[SHARE:[a-z0-9_]+]] = arith.ceildivui %[[N]], %[[TEAM]]
// CHECK-NEXT:    %[[FROM:[a-z0-9_]+]] = arith.muli %[[THREAD]], %[[SHARE]]
// CHECK-NEXT:    %[[END:[a-z0-9_]+]] = arith.addi %[[FROM]], %[[SHARE]]
// CHECK-NEXT:    %[[TO:[a-z0-9_]+]] = arith.minui %[[END]], %[[N]]
// CHECK-NEXT:    scf.for %[[I:[a-z0-9_]+]] = %[[FROM]] to %[[TO]] step %{{.*}} {
// CHECK-NEXT:      %[[EXTENT:[a-z0-9_]+]] = affine.min #{{.*}}(%[[I]])[%[[TO]]]
// CHECK-NEXT:      memref.subview %{{.*}}[%[[I]]] [%[[EXTENT]]]
func.func private @tiles(%m: memref<?xf32>, %threads: i32 {convbert.threads}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) = (0) to (%n) step (4) {
    %extent = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 4)>(%i)[%n]
    %tile = memref.subview %m[%i] [%extent] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.fill ins(%z : f32) outs(%tile : memref<?xf32, strided<[1], offset: ?>>)
  } {convbert.any_extent}
  return
}

// -----

// The extents of a loop of known length are folded into its body: its shares stay whole steps.

// CHECK-LABEL: func.func private @eight_task(
// CHECK-DAG:     %[[C4:[a-z0-9_]+]] = arith.constant 4 : index
// CHECK:         arith.muli %{{.*}}, %[[C4]]
// CHECK:         scf.for {{.*}} step %[[C4]]
func.func private @eight(%m: memref<8xf32>, %threads: i32 {convbert.threads}) {
  %z = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (8) step (4) {
    %tile = memref.subview %m[%i] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.fill ins(%z : f32) outs(%tile : memref<4xf32, strided<[1], offset: ?>>)
  } {convbert.any_extent}
  return
}

// -----

// Threads share the rows where that is faster: each runs the whole loop, as a team of one, on views of its rows.  They
// are asked for where the loop alone, of one iteration say, is not worth them.

// CHECK-LABEL: func.func private @rows_task(
// CHECK-SAME:    %[[THREAD:[a-z0-9_]+]]: index {convbert.thread}, %[[TEAM:[a-z0-9_]+]]: index)
// CHECK-DAG:     %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK:         %[[ALONE:[a-z0-9_]+]] = arith.cmpi eq, %[[TEAM]], %[[C1]]
// CHECK:         %[[NUMBER:[a-z0-9_]+]] = arith.select %[[ALONE]], %[[C0]], %[[THREAD]]
// CHECK:         arith.muli %[[NUMBER]],

// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:    %[[A:[a-z0-9_]+]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[W:[a-z0-9_]+]]: memref<?xf32>, %[[THREADS:[a-z0-9_]+]]: i32 {convbert.threads}) {
// CHECK-DAG:     %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:[a-z0-9_]+]] = arith.constant 4 : index
// CHECK:         %[[N:[a-z0-9_]+]] = memref.dim %[[W]]
// CHECK:         %[[ROWS:[a-z0-9_]+]] = memref.dim %[[A]]
// CHECK:         %[[WORTH:[a-z0-9_]+]] = arith.divui %[[ROWS]], %[[C4]]
// CHECK:         %[[MOST:[a-z0-9_]+]] = arith.maxui %[[N]], %[[WORTH]]
// CHECK:         %[[ALL:[a-z0-9_]+]] = arith.index_cast %[[THREADS]]
// CHECK:         %[[ASKED:[a-z0-9_]+]] = arith.minsi %[[MOST]], %[[ALL]]
// CHECK:         } else {
// CHECK:           %[[PANELS:[a-z0-9_]+]] = arith.ceildivui %[[N]], %[[ASKED]]
// CHECK:           %[[BY_PANELS:[a-z0-9_]+]] = arith.muli %[[PANELS]], %[[ROWS]]
// CHECK:           %[[SHARE:[a-z0-9_]+]] = arith.ceildivui %[[ROWS]], %[[ASKED]]
// CHECK:           %[[BY_ROWS:[a-z0-9_]+]] = arith.muli %[[SHARE]], %[[N]]
// CHECK:           %[[LESS:[a-z0-9_]+]] = arith.cmpi ult, %[[BY_ROWS]], %[[BY_PANELS]]
// CHECK:           %[[ENOUGH:[a-z0-9_]+]] = arith.cmpi uge, %{{.*}}, %[[ASKED]]
// CHECK:           %[[FASTER:[a-z0-9_]+]] = arith.andi %[[LESS]], %[[ENOUGH]]
// CHECK:           omp.parallel
// CHECK:             %[[ME:[a-z0-9_]+]] = arith.index_cast
// CHECK:             %[[TEAM:[a-z0-9_]+]] = arith.index_cast
// CHECK:             scf.if %[[FASTER]] {
// CHECK:               %[[OWN:[a-z0-9_]+]] = arith.ceildivui %[[ROWS]], %[[TEAM]]
// CHECK:               %[[FIRST:[a-z0-9_]+]] = arith.muli %[[ME]], %[[OWN]]
// CHECK:               %[[FROM:[a-z0-9_]+]] = arith.minui %[[FIRST]], %[[ROWS]]
// CHECK:               %[[END:[a-z0-9_]+]] = arith.addi %[[FROM]], %[[OWN]]
// CHECK:               %[[TO:[a-z0-9_]+]] = arith.minui %[[END]], %[[ROWS]]
// CHECK:               %[[SIZE:[a-z0-9_]+]] = arith.subi %[[TO]], %[[FROM]]
// CHECK:               %[[VIEW:[a-z0-9_]+]] = memref.subview %[[A]][%[[FROM]], 0] [%[[SIZE]], 8]
// CHECK:               func.call @rows_task(%[[VIEW]], %[[W]], %[[THREADS]], %[[ME]], %[[C1]])
// CHECK:             } else {
// CHECK:               func.call @rows_task(%[[A]], %[[W]], %[[THREADS]], %[[ME]], %[[TEAM]])
func.func private @rows(%a: memref<?x8xf32, strided<[?, 1], offset: ?>>, %w: memref<?xf32>,
                        %threads: i32 {convbert.threads})
    attributes {convbert.rows = array<i64: 0>, convbert.row_grain = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  %n = memref.dim %w, %c0 : memref<?xf32>
  scf.forall (%p) in (%n) {
    scf.for %i = %c0 to %m step %c1 {
      memref.store %z, %a[%i, %p] : memref<?x8xf32, strided<[?, 1], offset: ?>>
    }
  }
  return
}
