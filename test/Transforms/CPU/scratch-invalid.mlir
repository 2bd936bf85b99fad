// RUN: convbert-opt %s --convbert-scratch --split-input-file --verify-diagnostics

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @no_argument() {
  // expected-error @below {{requires a scratch argument marked 'convbert.scratch' in @no_argument for this temporary of type 'memref<8xf32>', but found none}}
  %a = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @in_loop(%shape: memref<?xi64>, %n: index, %scratch: memref<?xi8> {convbert.scratch}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{requires a dynamic temporary at the entry of the kernel, but found 'memref<?xf32>' inside 'scf.for'}}
    %a = memref.alloc(%n) : memref<?xf32>
  }
  return
}

// -----

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @argument(%shape: memref<?xi64>, %n: index, %scratch: memref<?xi8> {convbert.scratch}) {
  // expected-error @below {{requires sizes computed from constants and loads of the shape argument (memref<?xi64>) alone, but found a block argument of type 'index'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @other_load(%ids: memref<4xi64>, %shape: memref<?xi64>, %scratch: memref<?xi8> {convbert.scratch}) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{computed here}}
  %n64 = memref.load %ids[%c0] : memref<4xi64>
  %n = arith.index_cast %n64 : i64 to index
  // expected-error @below {{requires sizes computed from constants and loads of the shape argument (memref<?xi64>) alone, but found 'memref.load'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @layout(%scratch: memref<?xi8> {convbert.scratch}) {
  // expected-error @below {{requires a temporary of plain elements and identity layout, but found 'memref<8xf32, strided<[2]>>'}}
  %a = memref.alloc() : memref<8xf32, strided<[2]>>
  return
}

// -----

// expected-error @below {{requires a scratch argument of type memref<?xi8>, but found 'memref<?xf32>'}}
func.func private @floats(%scratch: memref<?xf32> {convbert.scratch}) {
  %a = memref.alloc() : memref<8xf32>
  return
}

// -----

// expected-error @below {{requires a function @scratch_bytes of type '(memref<?xi64>) -> index' to tell the size of the kernels' temporaries, but found none}}
module {
  func.func private @k(%scratch: memref<?xi8> {convbert.scratch}) {
    %a = memref.alloc() : memref<8xf32>
    return
  }
}

// -----

// expected-error @below {{requires a function @scratch_bytes of type '(memref<?xi64>) -> index' to tell the size of the kernels' temporaries, but found '() -> index'}}
func.func private @scratch_bytes() -> index

// -----

// A dimension without a bound among bounded ones.
func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
func.func private @unbounded(%panels: memref<?x?xbf16> {convbert.most = array<i64: -1, 100>}, %n: index,
                             %scratch: memref<?xi8> {convbert.scratch}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = memref.dim %panels, %c0 : memref<?x?xbf16>
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{requires a dynamic temporary at the entry of the kernel, but found 'memref<?xf32>' inside 'scf.for'}}
    %a = memref.alloc(%count) : memref<?xf32>
  }
  return
}
