// A feed-forward layer, 96 -> 200 with GELU -> 96, residual and layer normalisation, as phase `outline` leaves a model:
// host functions are lists of calls on views of one workspace, kernels have memref operands and tensor bodies.  Written
// by hand, so that the phases behind can be tested on something small.  Register tile 4 x 24; 200 is no multiple of 24.
//
// packed: panels of layer 0 [9][96][24], bias [9][24], panels of layer 1 [4][200][24], bias [4][24], gamma, beta [2][96].
// workspace: x [rows][128], h [rows][240], y [rows][128], scratch.
!rows   = memref<?x4x?xf32, strided<[?, ?, 1], offset: ?>>
!panels = memref<?x?x24xf32>
!bias   = memref<?x24xf32>
!out    = memref<?x4x?x24xf32, strided<[?, ?, 24, 1], offset: ?>>
!row    = memref<96xf32, strided<[1], offset: ?>>
!mat    = memref<?x96xf32, strided<[?, 1], offset: ?>>
!weight = memref<?x?xf32, strided<[?, 1], offset: ?>>
!bytes  = memref<?xi8>
!table  = memref<?x!bytes>
!shape  = memref<?xi64>

module attributes {convbert.manifest = {
  vocab_size = 1, max_positions = 4096, type_vocab_size = 1, min_row_pitch = 8,
  inputs = [{name = "x", dtype = "float32", shape = ["B", "T", 96]}],
  outputs = [{name = "y", dtype = "float32", shape = ["B", "T", 96]}],
  parameters = [{name = "w0", dtype = "float32", shape = [200, 96]}, {name = "b0", dtype = "float32", shape = [200]},
                {name = "w1", dtype = "float32", shape = [96, 200]}, {name = "b1", dtype = "float32", shape = [96]},
                {name = "norm", dtype = "float32", shape = [2, 96]}]}} {

//===--- sizes ---===//

// Rows in use, rounded up to the register tile, as a number of tiles.
func.func private @row_tiles(%shape: !shape) -> index {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %mr = arith.constant 4 : index
  %b64 = memref.load %shape[%c0] : !shape
  %b = arith.index_cast %b64 : i64 to index
  %last = arith.addi %b, %c2 : index
  %r64 = memref.load %shape[%last] : !shape
  %r = arith.index_cast %r64 : i64 to index
  %tiles = arith.ceildivui %r, %mr : index
  return %tiles : index
}

func.func private @scratch_bytes(%shape: !shape) -> index

func.func @packed_bytes() -> i64 attributes {llvm.emit_c_interface} {
  %bytes = arith.constant 161760 : i64
  return %bytes : i64
}

func.func @prepack_steps() -> i64 attributes {llvm.emit_c_interface} {
  %steps = arith.constant 1 : i64
  return %steps : i64
}

func.func @workspace_bytes(%shape: !shape, %threads: i32) -> i64 attributes {llvm.emit_c_interface} {
  %row = arith.constant 7936 : index   // 4 rows of 128 + 240 + 128 floats
  %tiles = func.call @row_tiles(%shape) : (!shape) -> index
  %rows = arith.muli %tiles, %row : index
  %one = func.call @scratch_bytes(%shape) : (!shape) -> index
  %n = arith.index_cast %threads : i32 to index
  %scratch = arith.muli %one, %n : index
  %sum = arith.addi %rows, %scratch : index
  %bytes = arith.index_cast %sum : index to i64
  return %bytes : i64
}

//===--- prepack ---===//

func.func @prepack(%raw: !table, %packed: !bytes, %step: i64, %threads: i32) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %d = arith.constant 96 : index
  %f = arith.constant 200 : index
  %p0 = arith.constant 9 : index
  %p1 = arith.constant 4 : index
  %o1 = arith.constant 82944 : index    // 9 * 96 * 24 * 4
  %o2 = arith.constant 83808 : index    // + 9 * 24 * 4
  %o3 = arith.constant 160608 : index   // + 4 * 200 * 24 * 4
  %o4 = arith.constant 160992 : index   // + 4 * 24 * 4
  %w0b = memref.load %raw[%c0] : !table
  %w0v = memref.view %w0b[%c0][%f, %d] : !bytes to memref<?x?xf32>
  %w0 = memref.cast %w0v : memref<?x?xf32> to !weight
  %w0p = memref.view %packed[%c0][%p0, %d] : !bytes to !panels
  func.call @pack_panels(%w0, %w0p, %threads) : (!weight, !panels, i32) -> ()
  %b0b = memref.load %raw[%c1] : !table
  %b0v = memref.view %b0b[%c0][%c1, %f] : !bytes to memref<?x?xf32>
  %b0 = memref.cast %b0v : memref<?x?xf32> to !weight
  %b0p = memref.view %packed[%o1][%c1, %p0] : !bytes to memref<?x?x24xf32>
  func.call @pack_vector(%b0, %b0p, %threads) : (!weight, memref<?x?x24xf32>, i32) -> ()
  %w1b = memref.load %raw[%c2] : !table
  %w1v = memref.view %w1b[%c0][%d, %f] : !bytes to memref<?x?xf32>
  %w1 = memref.cast %w1v : memref<?x?xf32> to !weight
  %w1p = memref.view %packed[%o2][%p1, %f] : !bytes to !panels
  func.call @pack_panels(%w1, %w1p, %threads) : (!weight, !panels, i32) -> ()
  %b1b = memref.load %raw[%c3] : !table
  %b1v = memref.view %b1b[%c0][%c1, %d] : !bytes to memref<?x?xf32>
  %b1 = memref.cast %b1v : memref<?x?xf32> to !weight
  %b1p = memref.view %packed[%o3][%c1, %p1] : !bytes to memref<?x?x24xf32>
  func.call @pack_vector(%b1, %b1p, %threads) : (!weight, memref<?x?x24xf32>, i32) -> ()
  // gamma and beta, one behind the other, are four panels' worth of numbers each.
  %gb = memref.load %raw[%c4] : !table
  %gv = memref.view %gb[%c0][%c2, %d] : !bytes to memref<?x?xf32>
  %g = memref.cast %gv : memref<?x?xf32> to !weight
  %gp = memref.view %packed[%o4][%c2, %p1] : !bytes to memref<?x?x24xf32>
  func.call @pack_vector(%g, %gp, %threads) : (!weight, memref<?x?x24xf32>, i32) -> ()
  return
}

// Panel p holds rows 24 p .. 24 p + 23 of the weight, transposed; rows beyond the end are zero.
func.func private @pack_panels(%w: !weight, %p: !panels, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "copy"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nr = arith.constant 24 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %w, %c0 : !weight
  %k = memref.dim %w, %c1 : !weight
  %panels = memref.dim %p, %c0 : !panels
  scf.forall (%i) in (%panels) {
    %first = arith.muli %i, %nr : index
    scf.for %kk = %c0 to %k step %c1 {
      scf.for %j = %c0 to %nr step %c1 {
        %o = arith.addi %first, %j : index
        %there = arith.cmpi ult, %o, %n : index
        %v = scf.if %there -> f32 {
          %x = memref.load %w[%o, %kk] : !weight
          scf.yield %x : f32
        } else {
          scf.yield %z : f32
        }
        memref.store %v, %p[%i, %kk, %j] : !panels
      }
    }
  }
  return
}

// Rows of numbers to whole panels; what is beyond the end is zero.
func.func private @pack_vector(%v: !weight, %p: memref<?x?x24xf32>, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "copy"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nr = arith.constant 24 : index
  %z = arith.constant 0.0 : f32
  %rows = memref.dim %v, %c0 : !weight
  %n = memref.dim %v, %c1 : !weight
  %panels = memref.dim %p, %c1 : memref<?x?x24xf32>
  scf.forall (%r) in (%rows) {
    scf.for %i = %c0 to %panels step %c1 {
      %first = arith.muli %i, %nr : index
      scf.for %j = %c0 to %nr step %c1 {
        %o = arith.addi %first, %j : index
        %there = arith.cmpi ult, %o, %n : index
        %x = scf.if %there -> f32 {
          %y = memref.load %v[%r, %o] : !weight
          scf.yield %y : f32
        } else {
          scf.yield %z : f32
        }
        memref.store %x, %p[%r, %i, %j] : memref<?x?x24xf32>
      }
    }
  }
  return
}

//===--- forward ---===//

// inputs: x [B][T_max][96]; outputs: y [B][T_max][96].
func.func @forward(%packed: !bytes, %inputs: !table, %outputs: !table, %workspace: !bytes, %shape: !shape, %threads: i32)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mr = arith.constant 4 : index
  %d = arith.constant 96 : index
  %f = arith.constant 200 : index
  %p0 = arith.constant 9 : index
  %p1 = arith.constant 4 : index
  %o1 = arith.constant 82944 : index
  %o2 = arith.constant 83808 : index
  %o3 = arith.constant 160608 : index
  %o4 = arith.constant 160992 : index
  %xp = arith.constant 128 : index
  %hp = arith.constant 240 : index
  %xt = arith.constant 512 : index
  %ht = arith.constant 960 : index
  %b64 = memref.load %shape[%c0] : !shape
  %t64 = memref.load %shape[%c1] : !shape
  %bt64 = arith.muli %b64, %t64 : i64
  %bt = arith.index_cast %bt64 : i64 to index
  %tiles = func.call @row_tiles(%shape) : (!shape) -> index
  %rows = arith.muli %tiles, %mr : index

  %w0 = memref.view %packed[%c0][%p0, %d] : !bytes to !panels
  %b0 = memref.view %packed[%o1][%p0] : !bytes to !bias
  %w1 = memref.view %packed[%o2][%p1, %f] : !bytes to !panels
  %b1 = memref.view %packed[%o3][%p1] : !bytes to !bias
  %gb = memref.view %packed[%o4][] : !bytes to memref<2x96xf32>

  %xrow = arith.constant 512 : index    // bytes
  %hrow = arith.constant 960 : index
  %xbytes = arith.muli %rows, %xrow : index
  %hbytes = arith.muli %rows, %hrow : index
  %oy = arith.addi %xbytes, %hbytes : index
  %os = arith.addi %oy, %xbytes : index
  %x0 = memref.view %workspace[%c0][%rows] : !bytes to memref<?x128xf32>
  %h0 = memref.view %workspace[%xbytes][%rows] : !bytes to memref<?x240xf32>
  %y0 = memref.view %workspace[%oy][%rows] : !bytes to memref<?x128xf32>
  %one = func.call @scratch_bytes(%shape) : (!shape) -> index
  %tn = arith.index_cast %threads : i32 to index
  %sn = arith.muli %one, %tn : index
  %scratch = memref.view %workspace[%os][%sn] : !bytes to !bytes
  %x = memref.reinterpret_cast %x0 to offset: [%c0], sizes: [%rows, 96], strides: [%xp, 1] : memref<?x128xf32> to !mat
  %y = memref.reinterpret_cast %y0 to offset: [%c0], sizes: [%rows, 96], strides: [%xp, 1] : memref<?x128xf32> to !mat
  %xa = memref.reinterpret_cast %x0 to offset: [%c0], sizes: [%tiles, 4, %d], strides: [%xt, %xp, 1] : memref<?x128xf32> to !rows
  %hc = memref.reinterpret_cast %h0 to offset: [%c0], sizes: [%tiles, 4, %p0, 24], strides: [%ht, %hp, 24, 1] : memref<?x240xf32> to !out
  %ha = memref.reinterpret_cast %h0 to offset: [%c0], sizes: [%tiles, 4, %f], strides: [%ht, %hp, 1] : memref<?x240xf32> to !rows
  %yc = memref.reinterpret_cast %y0 to offset: [%c0], sizes: [%tiles, 4, %p1, 24], strides: [%xt, %xp, 24, 1] : memref<?x128xf32> to !out

  %inb = memref.load %inputs[%c0] : !table
  %in = memref.view %inb[%c0][%bt] : !bytes to memref<?x96xf32>
  %outb = memref.load %outputs[%c0] : !table
  %out = memref.view %outb[%c0][%bt] : !bytes to memref<?x96xf32>

  func.call @gather_rows(%in, %x, %shape, %threads) : (memref<?x96xf32>, !mat, !shape, i32) -> ()
  func.call @dense_gelu(%xa, %w0, %b0, %hc, %threads) : (!rows, !panels, !bias, !out, i32) -> ()
  func.call @dense(%ha, %w1, %b1, %yc, %threads) : (!rows, !panels, !bias, !out, i32) -> ()
  func.call @norm(%x, %y, %gb, %y, %threads, %scratch) : (!mat, !mat, memref<2x96xf32>, !mat, i32, !bytes) -> ()
  func.call @scatter_rows(%y, %out, %shape, %threads, %scratch) : (!mat, memref<?x96xf32>, !shape, i32, !bytes) -> ()
  return
}

//===--- kernels ---===//

func.func private @dense_gelu(%a: !rows, %w: !panels, %b: !bias, %c: !out, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "dense"} {
  %at = bufferization.to_tensor %a restrict : !rows to tensor<?x4x?xf32>
  %wt = bufferization.to_tensor %w restrict : !panels to tensor<?x?x24xf32>
  %bt = bufferization.to_tensor %b restrict : !bias to tensor<?x24xf32>
  %r = convbert.packed_dense %at, %wt, %bt {activation = #convbert.activation<gelu>}
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x4x?x24xf32>, !out) -> ()
  return
}

func.func private @dense(%a: !rows, %w: !panels, %b: !bias, %c: !out, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "dense"} {
  %at = bufferization.to_tensor %a restrict : !rows to tensor<?x4x?xf32>
  %wt = bufferization.to_tensor %w restrict : !panels to tensor<?x?x24xf32>
  %bt = bufferization.to_tensor %b restrict : !bias to tensor<?x24xf32>
  %r = convbert.packed_dense %at, %wt, %bt
    : (tensor<?x4x?xf32>, tensor<?x?x24xf32>, tensor<?x24xf32>) -> tensor<?x4x?x24xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<?x4x?x24xf32>, !out) -> ()
  return
}

func.func private @norm(%xm: !mat, %rm: !mat, %params: memref<2x96xf32>, %ym: !mat, %threads: i32 {convbert.threads},
                        %scratch: !bytes {convbert.scratch}) attributes {convbert.kernel = "norm"} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %ym, %c0 : !mat
  %p = bufferization.to_tensor %params restrict : memref<2x96xf32> to tensor<2x96xf32>
  scf.forall (%t) in (%n) {
    %xs = memref.subview %xm[%t, 0] [1, 96] [1, 1] : !mat to !row
    %rs = memref.subview %rm[%t, 0] [1, 96] [1, 1] : !mat to !row
    %ys = memref.subview %ym[%t, 0] [1, 96] [1, 1] : !mat to !row
    %x = bufferization.to_tensor %xs restrict : !row to tensor<96xf32>
    %r = bufferization.to_tensor %rs restrict : !row to tensor<96xf32>
    %y = convbert.norm_tile %p (%x, %r) {eps = 1.0e-12 : f64, width = 96 : i64}
      : (tensor<2x96xf32>, tensor<96xf32>, tensor<96xf32>) -> tensor<96xf32>
    bufferization.materialize_in_destination %y in restrict writable %ys : (tensor<96xf32>, !row) -> ()
  }
  return
}

// Rows of the sequences, back to back: dense [B][T_max] -> row_start.
func.func private @gather_rows(%in: memref<?x96xf32>, %x: !mat, %shape: !shape, %threads: i32 {convbert.threads}) attributes {convbert.kernel = "copy"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %b64 = memref.load %shape[%c0] : !shape
  %t64 = memref.load %shape[%c1] : !shape
  %nb = arith.index_cast %b64 : i64 to index
  %nt = arith.index_cast %t64 : i64 to index
  %l0 = arith.addi %nb, %c3 : index
  scf.forall (%b) in (%nb) {
    %is = arith.addi %b, %c2 : index
    %il = arith.addi %b, %l0 : index
    %s64 = memref.load %shape[%is] : !shape
    %n64 = memref.load %shape[%il] : !shape
    %s = arith.index_cast %s64 : i64 to index
    %n = arith.index_cast %n64 : i64 to index
    %first = arith.muli %b, %nt : index
    scf.for %t = %c0 to %n step %c1 {
      %from = arith.addi %first, %t : index
      %to = arith.addi %s, %t : index
      %src = memref.subview %in[%from, 0] [1, 96] [1, 1] : memref<?x96xf32> to !row
      %dst = memref.subview %x[%to, 0] [1, 96] [1, 1] : !mat to !row
      memref.copy %src, %dst : !row to !row
    }
  }
  return
}

// The way back, by way of a temporary of T_max rows a thread, so that there is one of dynamic size.
func.func private @scatter_rows(%y: !mat, %out: memref<?x96xf32>, %shape: !shape, %threads: i32 {convbert.threads},
                                %scratch: !bytes {convbert.scratch}) attributes {convbert.kernel = "copy"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %b64 = memref.load %shape[%c0] : !shape
  %t64 = memref.load %shape[%c1] : !shape
  %nb = arith.index_cast %b64 : i64 to index
  %nt = arith.index_cast %t64 : i64 to index
  %l0 = arith.addi %nb, %c3 : index
  %stage = memref.alloc(%nt) : memref<?x96xf32>
  scf.forall (%b) in (%nb) {
    %is = arith.addi %b, %c2 : index
    %il = arith.addi %b, %l0 : index
    %s64 = memref.load %shape[%is] : !shape
    %n64 = memref.load %shape[%il] : !shape
    %s = arith.index_cast %s64 : i64 to index
    %n = arith.index_cast %n64 : i64 to index
    %first = arith.muli %b, %nt : index
    scf.for %t = %c0 to %n step %c1 {
      %from = arith.addi %s, %t : index
      %src = memref.subview %y[%from, 0] [1, 96] [1, 1] : !mat to !row
      %dst = memref.subview %stage[%t, 0] [1, 96] [1, 1] : memref<?x96xf32> to !row
      memref.copy %src, %dst : !row to !row
    }
    scf.for %t = %c0 to %n step %c1 {
      %to = arith.addi %first, %t : index
      %src = memref.subview %stage[%t, 0] [1, 96] [1, 1] : memref<?x96xf32> to !row
      %dst = memref.subview %out[%to, 0] [1, 96] [1, 1] : memref<?x96xf32> to !row
      memref.copy %src, %dst : !row to !row
    }
  }
  return
}
}
