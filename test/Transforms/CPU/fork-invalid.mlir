// RUN: convbert-opt %s --convbert-fork --split-input-file --verify-diagnostics

// expected-error @below {{requires exactly one parallel loop (scf.forall) in kernel @none, but found 0}}
func.func private @none(%threads: i32 {convbert.threads}) {
  return
}

// -----

// expected-error @below {{requires exactly one parallel loop (scf.forall) in kernel @two, but found 2}}
func.func private @two(%n: index, %threads: i32 {convbert.threads}) {
  scf.forall (%i) in (%n) {
  }
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

func.func private @inner(%n: index, %some: i1, %threads: i32 {convbert.threads}) {
  scf.if %some {
    // expected-error @below {{requires the parallel loop of kernel @inner at the top level of its single block, but found it in 'scf.if'}}
    scf.forall (%i) in (%n) {
    }
  }
  return
}

// -----

func.func private @square(%n: index, %threads: i32 {convbert.threads}) {
  // expected-error @below {{requires a bufferized parallel loop of one dimension in kernel @square, but found 2 dimensions and 0 results}}
  scf.forall (%i, %j) in (%n, %n) {
  }
  return
}

// -----

func.func private @race(%m: memref<?xf32>, %n: index, %z: f32, %threads: i32 {convbert.threads}) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{requires no write to shared memory outside the parallel loop of a kernel, but found 'memref.store'}}
  memref.store %z, %m[%c0] : memref<?xf32>
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

func.func private @other()
func.func private @unknown(%n: index, %threads: i32 {convbert.threads}) {
  // expected-error @below {{requires known memory effects outside the parallel loop of a kernel, but found 'func.call'}}
  func.call @other() : () -> ()
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

// expected-error @below {{requires an i32 thread count and no result of kernel @wide}}
func.func private @wide(%n: index, %threads: i64 {convbert.threads}) {
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

// expected-error @below {{requires 'convbert.rows' to number memref arguments with a dynamic first dimension and offset, and 'convbert.row_grain' of at least 1, but found array<i64: 0> and 4 : i64 on @packed}}
func.func private @packed(%m: memref<?xf32>, %n: index, %threads: i32 {convbert.threads})
    attributes {convbert.rows = array<i64: 0>, convbert.row_grain = 4 : i64} {
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

// expected-error @below {{but found array<i64: 0> and nothing on @any}}
func.func private @any(%m: memref<?xf32, strided<[1], offset: ?>>, %n: index, %threads: i32 {convbert.threads})
    attributes {convbert.rows = array<i64: 0>} {
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

// expected-error @below {{but found array<i64: 1> and 1 : i64 on @count}}
func.func private @count(%m: memref<?xf32, strided<[1], offset: ?>>, %n: index, %threads: i32 {convbert.threads})
    attributes {convbert.rows = array<i64: 1>, convbert.row_grain = 1 : i64} {
  scf.forall (%i) in (%n) {
  }
  return
}
