//===- Passes.td - Passes on bufferized kernels -----------------*- tablegen -*-===//
//
// Kernels are private functions with memref operands.  Attributes mark what these passes need:
//   convbert.kernel = "kind"   on the function
//   convbert.threads           on the i32 argument that holds the number of threads
//   convbert.scratch           on the memref<?xi8> argument that holds the temporaries of all threads
//   convbert.grain             on the function: iterations of its parallel loop that are worth a thread (default 1)
//   convbert.rows              on the function: numbers of memref arguments whose first dimension is the same rows, which
//                              threads may share in place of the iterations of its parallel loop
//   convbert.row_grain         on such a function: rows that are worth a thread
//   convbert.any_extent        on the parallel loop over tiles of a kernel: tiles may have any extent up to the step
//   convbert.most              on a memref argument: for each dimension a size that no caller exceeds, or -1
//   convbert.thread            on the index argument of a task function: the number of the thread (made by fork)
// The shape argument is the last memref<?xi64>: { B, T_max, row_start[B+1], length[B] }.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_TRANSFORMS_CPU_PASSES_TD
#define CONVBERT_LIB_TRANSFORMS_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fork : Pass<"convbert-fork", "::mlir::ModuleOp"> {
  let summary = "Split each kernel into a task function and a dispatcher";
  let description = [{
    A kernel with a thread count has one parallel loop.  Its body becomes a task function that also takes the number
    of the thread and the size of the team and runs a contiguous share of the loop; the kernel itself becomes a
    dispatcher.  It asks for no more threads than the loop has iterations, or grains of `convbert.grain` of them.  One
    thread calls the task directly and never enters the OpenMP runtime; more threads call it inside one
    `omp.parallel`.  Shares are contiguous and each iteration is computed by one thread, so results do not depend
    on the number of threads.  They are whole steps of the loop; a loop over tiles that is marked
    `convbert.any_extent` is shared evenly, whatever its step: six panels by two threads are three each, also in steps
    of four.  Where a kernel is marked `convbert.rows` and shares of its rows are smaller than those of the loop, each
    thread runs all iterations on views of its rows: five panels of 128 rows by two threads are 64 rows each.

    Before:
    ```mlir
    func.func private @k(%m: memref<?xf32>, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "norm"} {
      %n = memref.dim %m, %c0 : memref<?xf32>
      scf.forall (%i) in (%n) { memref.store %z, %m[%i] : memref<?xf32> }
      return
    }
    ```
    After:
    ```mlir
    func.func private @k_task(%m: memref<?xf32>, %threads: i32 {convbert.threads}, %thread: index {convbert.thread}, %team: index) {
      ...
      scf.for %i = %from to %to step %c1 { memref.store %z, %m[%i] : memref<?xf32> }
      return
    }
    func.func private @k(%m: memref<?xf32>, %threads: i32 {convbert.threads}) {
      %n = memref.dim %m, %c0 : memref<?xf32>
      %team = ... // min(%n, %threads)
      scf.if %one {
        func.call @k_task(%m, %threads, %c0, %c1)
      } else {
        omp.parallel num_threads(%team) { func.call @k_task(%m, %threads, %me, %all) ... }
      }
      return
    }
    ```

    What stands outside the loop runs once a thread, so it may write to nothing but the kernel's own temporaries.
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "LLVM::LLVMDialect", "omp::OpenMPDialect",
                           "scf::SCFDialect"];
}

def Scratch : Pass<"convbert-scratch", "::mlir::ModuleOp"> {
  let summary = "Turn the temporaries of kernels into views of the per-thread scratch argument";
  let description = [{
    Every `memref.alloc` becomes a view of the argument marked `convbert.scratch`, 64-byte aligned.  Static
    temporaries may stand anywhere, and so may those whose sizes have constant bounds: by their own arithmetic, or as a
    dimension of an argument that `convbert.most` bounds.  Other dynamic ones stand in the entry block, with sizes
    computed from constants and loads of the shape argument; the same computation, cloned into `@scratch_bytes`, tells
    the caller how many bytes a thread needs: the maximum over all kernels.  Within a kernel, threads lie as close as its own sum allows.
    Kernels of kind `pack` run once a model and have no scratch: their temporaries stay on the heap and are freed.

    Before:
    ```mlir
    func.func private @scratch_bytes(%shape: memref<?xi64>) -> index
    func.func private @k_task(%shape: memref<?xi64>, %scratch: memref<?xi8> {convbert.scratch}, %thread: index {convbert.thread}) {
      %t64 = memref.load %shape[%c1] : memref<?xi64>
      %t = arith.index_cast %t64 : i64 to index
      %a = memref.alloc(%t) : memref<?x16xf32>
      ...
    ```
    After:
    ```mlir
    func.func private @scratch_bytes(%shape: memref<?xi64>) -> index { ... }     // round_up(64 * T_max, 64)
    func.func private @k_task(...) {
      %offset = arith.muli %thread, %bytes : index
      %a = memref.view %scratch[%offset][%t] : memref<?xi8> to memref<?x16xf32>
      ...
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "memref::MemRefDialect"];
}

def LowerCopies : Pass<"convbert-lower-copies", "::mlir::func::FuncOp"> {
  let summary = "Split copies until each is one block of memory";
  let description = [{
    A copy of contiguous memory becomes a `memcpy`; any other would become a call of a support library that compiled
    models do without.  Outer dimensions become loops until the rest is contiguous on both sides, or a single element.

    Before:
    ```mlir
    memref.copy %a, %b : memref<8x4x32xf32> to memref<8x4x32xf32, strided<[512, 32, 1]>>
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      %x = memref.subview %a[%i, 0, 0] [1, 4, 32] [1, 1, 1] : ... to memref<4x32xf32, strided<[32, 1], offset: ?>>
      %y = memref.subview %b[%i, 0, 0] [1, 4, 32] [1, 1, 1] : ... to memref<4x32xf32, strided<[32, 1], offset: ?>>
      memref.copy %x, %y : ...
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect", "scf::SCFDialect"];
}

def PrefetchPanels : Pass<"convbert-prefetch-panels", "::mlir::func::FuncOp"> {
  let summary = "Prefetch the next weight panel while the current one is used";
  let description = [{
    Looks for the register-tiled product: a loop over `k` with fused multiply-adds (or products of pairs) that reads
    row `k` of a weight panel `panels[n, k, :]` (an argument of identity layout, `memref<?x?xNRxf32>`, `...xNRxbf16` or
    `...xNRx2xbf16`), or a temporary that a loop before has filled from one, inside a loop over row tiles.  Each row tile
    prefetches its share of panel `n + 1` into the L2 cache, in an iteration half of what it reads: two row tiles fetch
    all of it.  Where the depth is taken in slices, it is the same slice of panel `n + 1`, or the next slice of the
    task's first panel.  Reads alone change: results do not.

    Before:
    ```mlir
    scf.for %t = %c0 to %tiles step %c1 {
      scf.for %k = %c0 to %K step %c4 iter_args(...) {
        %w = vector.transfer_read %panels[%n, %k, %c0], %z : memref<?x?x24xf32>, vector<8xf32>
    ```
    After:
    ```mlir
        memref.prefetch %flat[%next], read, locality<2>, data : memref<?xf32>
        memref.prefetch %flat[%next_line], read, locality<2>, data : memref<?xf32>
        memref.prefetch %flat[%third_line], read, locality<2>, data : memref<?xf32>
        %w = vector.transfer_read %panels[%n, %k, %c0], %z : memref<?x?x24xf32>, vector<8xf32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

def FlattenTransfers : Pass<"convbert-flatten-transfers", "::mlir::func::FuncOp"> {
  let summary = "Read several contiguous rows of a vector as one";
  let description = [{
    Upstream's patterns, which it has in C++ alone.  Without them a read of pairs would become a loop over rows.

    Before:
    ```mlir
    %w = vector.transfer_read %panels[%n, %k, %c0, %c0], %z : memref<?x?x48x2xbf16>, vector<16x2xbf16>
    %pairs = vector.shape_cast %w : vector<16x2xbf16> to vector<32xbf16>
    ```
    After:
    ```mlir
    %flat = memref.collapse_shape %panels [[0], [1], [2, 3]] : memref<?x?x48x2xbf16> into memref<?x?x96xbf16>
    %pairs = vector.transfer_read %flat[%n, %k, %c0], %z : memref<?x?x96xbf16>, vector<32xbf16>
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "memref::MemRefDialect", "vector::VectorDialect"];
}

def DropMarks : Pass<"convbert-drop-marks", "::mlir::ModuleOp"> {
  let summary = "Remove the attributes that mark kernels and their arguments";
  let description = [{
    Behind phase `memory` nothing reads them, and the translation to LLVM IR warns about attributes of arguments that
    it does not know.

    Before:
    ```mlir
    func.func private @k(%threads: i32 {convbert.threads}) attributes {convbert.kernel = "norm"}
    ```
    After:
    ```mlir
    func.func private @k(%threads: i32)
    ```
  }];
}

#endif // CONVBERT_LIB_TRANSFORMS_CPU_PASSES_TD
