// A model in miniature: what becomes of its functions, parameters, activations and results.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx2 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 --verify-roundtrip | FileCheck %s --check-prefix=ONCE

// Equal kernels are one function: the second dense layer of both calls and the one behind the pool.
// ONCE-COUNT-1:  func.func private @dense_n32(
// ONCE-NOT:      func.func private @dense_n32{{(_[0-9]+)?}}(
// ONCE-COUNT-1:  func.func private @norm_residual_16(
// ONCE-NOT:      func.func private @norm_residual_16

// A private function takes views of its arguments, its parameters as they are packed, its result, the workspace behind
// its caller's, the kernels' scratch, the shape and the number of threads.
// CHECK-LABEL: func.func private @layer(
// AVX2-SAME:     %[[X:[a-z0-9]*]]: memref<?x48xf32>, %[[W:[a-z0-9]*]]: memref<2x16x24xf32>, %[[ZEROS:[a-z0-9]*]]: memref<2x24xf32>, %[[V:[a-z0-9]*]]: memref<1x40x24xf32>, %{{[a-z0-9]*}}: memref<1x24xf32>, %[[NORM:[a-z0-9]*]]: memref<2x16xf32>, %[[Y:[a-z0-9]*]]: memref<?x48xf32>,
// AVX512-SAME:   memref<?x64xf32>, %{{[a-z0-9]*}}: memref<1x16x48xf32>, %{{[a-z0-9]*}}: memref<1x48xf32>, %{{[a-z0-9]*}}: memref<1x40x32xf32>,
// CHECK-SAME:    %[[WORKSPACE:[a-z0-9]*]]: memref<?xi8>, %[[SCRATCH:[a-z0-9]*]]: memref<?xi8>, %[[SHAPE:[a-z0-9]*]]: memref<?xi64>, %[[THREADS:[a-z0-9]*]]: i32) {
// Rows in use, from row_start[B], rounded up to the row tile.
// AVX2-DAG:      %[[MR:.*]] = arith.constant 4 : index
// AVX512-DAG:    %[[MR:.*]] = arith.constant 8 : index
// CHECK:         %[[B:.*]] = memref.load %[[SHAPE]]
// CHECK:         %[[R:.*]] = memref.load %[[SHAPE]]
// CHECK:         arith.ceildivui %{{.*}}, %[[MR]]
// Row tiles of a view; a row is as long as its panels, and one vector more.
// AVX2:          %[[XT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%{{.*}}, 4, 16], strides: [192, 48, 1]
// AVX2:          %[[H:.*]] = memref.view %[[WORKSPACE]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x80xf32>
// AVX2:          memref.reinterpret_cast %[[H]] to offset: [0], sizes: [%{{.*}}, 4, 2, 24], strides: [320, 80, 24, 1]
// CHECK:         call @dense_gelu(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[THREADS]])
// AVX2:          call @dense(
// AVX512:        call @dense_n32(
// The result is written where the caller wants it.
// AVX2:          memref.reinterpret_cast %[[Y]]
// CHECK:         call @norm_residual_16(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[THREADS]], %[[SCRATCH]])
// CHECK-NEXT:    return
ml_program.global private @t(#ml_program.extern : tensor<9x16xf32>) : tensor<9x16xf32>
ml_program.global private @g(#ml_program.extern : tensor<16xf32>) : tensor<16xf32>
ml_program.global private @a(#ml_program.extern : tensor<16xf32>) : tensor<16xf32>
ml_program.global private @w(#ml_program.extern : tensor<40x16xf32>) : tensor<40x16xf32>
ml_program.global private @v(#ml_program.extern : tensor<16x40xf32>) : tensor<16x40xf32>
ml_program.global private @u(#ml_program.extern : tensor<40x16xf32>) : tensor<40x16xf32>
ml_program.global private @c(#ml_program.extern : tensor<3x16xf32>) : tensor<3x16xf32>

func.func private @layer(%x: tensor<?x?x16xf32>, %w: tensor<40x16xf32>, %v: tensor<16x40xf32>, %g: tensor<16xf32>, %a: tensor<16xf32>) -> tensor<?x?x16xf32> {
  %h = convbert.dense %x, %w {activation = #convbert.activation<gelu>} : (tensor<?x?x16xf32>, tensor<40x16xf32>) -> tensor<?x?x40xf32>
  %y = convbert.dense %h, %v : (tensor<?x?x40xf32>, tensor<16x40xf32>) -> tensor<?x?x16xf32>
  %n = convbert.layer_norm %y residual(%x), %g, %a {eps = 0.5 : f64} : (tensor<?x?x16xf32>, tensor<?x?x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  return %n : tensor<?x?x16xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[PACKED:[a-z0-9]*]]: memref<?xi8>, %[[IN:[a-z0-9]*]]: memref<?xmemref<?xi8>>, %[[OUT:[a-z0-9]*]]: memref<?xmemref<?xi8>>, %[[WORKSPACE:[a-z0-9]*]]: memref<?xi8>, %[[SHAPE:[a-z0-9]*]]: memref<?xi64>, %[[THREADS:[a-z0-9]*]]: i32) attributes {llvm.emit_c_interface} {
// The scratch lies behind all arenas, a share for each thread.
// CHECK:         %[[ONE:.*]] = call @scratch_bytes(%[[SHAPE]])
// CHECK:         %[[N:.*]] = arith.index_cast %[[THREADS]]
// CHECK:         %[[ALL:.*]] = arith.muli %[[ONE]], %[[N]]
// CHECK:         %[[SCRATCH:.*]] = memref.view %[[WORKSPACE]][%{{.*}}][%[[ALL]]]
// CHECK:         %[[I0:.*]] = memref.load %[[IN]]
// CHECK:         %[[IDS:.*]] = memref.view %[[I0]][%{{.*}}][%{{.*}}, %{{.*}}] : memref<?xi8> to memref<?x?xi64>
// CHECK:         memref.view %[[PACKED]][%c0][] : memref<?xi8> to memref<9x16xf32>
// CHECK:         call @embed_16(%[[IDS]], %[[IDS]], %[[IDS]],
// The second call of the layer writes into the rows that the first one has read, and takes the tables the other way
// round; what both share is one view.
// AVX2:          call @layer(%[[A:[a-z0-9_]*]], %{{.*}}, %[[Z:[a-z0-9_]*]], %[[PV:[a-z0-9_]*]], %{{[a-z0-9_]*}}, %[[GA:[a-z0-9_]*]], %[[C:[a-z0-9_]*]], %[[BEHIND:[a-z0-9_]*]], %[[SCRATCH]], %[[SHAPE]], %[[THREADS]])
// AVX2:          call @layer(%[[C]], %{{[a-z0-9_]*}}, %[[Z]], %[[PV]], %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}}, %[[A]], %[[BEHIND]], %[[SCRATCH]], %[[SHAPE]], %[[THREADS]])
// CHECK:         call @pool_16(
// AVX2:          call @dense(
// AVX512:        call @dense_n32(
// CHECK:         memref.load %[[OUT]][%c0]
// CHECK:         call @store_tokens_16(
// CHECK:         memref.load %[[OUT]][%c1]
// CHECK:         call @store_sequences_3(
// CHECK-NEXT:    return
func.func @forward(%ids: tensor<?x?xi64>) -> (tensor<?x?x16xf32>, tensor<?x3xf32>) {
  %t = ml_program.global_load_const @t : tensor<9x16xf32>
  %g = ml_program.global_load_const @g : tensor<16xf32>
  %a = ml_program.global_load_const @a : tensor<16xf32>
  %w = ml_program.global_load_const @w : tensor<40x16xf32>
  %v = ml_program.global_load_const @v : tensor<16x40xf32>
  %u = ml_program.global_load_const @u : tensor<40x16xf32>
  %c = ml_program.global_load_const @c : tensor<3x16xf32>
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %a) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %y = call @layer(%x, %w, %v, %g, %a) : (tensor<?x?x16xf32>, tensor<40x16xf32>, tensor<16x40xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %z = call @layer(%y, %u, %v, %a, %g) : (tensor<?x?x16xf32>, tensor<40x16xf32>, tensor<16x40xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %p = convbert.pool %z {kind = #convbert.pool<last>} : (tensor<?x?x16xf32>) -> tensor<?x16xf32>
  %q = convbert.dense %p, %c : (tensor<?x16xf32>, tensor<3x16xf32>) -> tensor<?x3xf32>
  return %z, %q : tensor<?x?x16xf32>, tensor<?x3xf32>
}

// The same formula as at the head of @forward: bytes of the token arena a row tile, of the sequence arena a tile of
// sequences, and the scratch.
// CHECK-LABEL: func.func @workspace_bytes(
// CHECK-SAME:    %[[SHAPE:.*]]: memref<?xi64>, %[[THREADS:.*]]: i32) -> i64 attributes {llvm.emit_c_interface} {
// Two rows of 48 floats live across the calls of the layer (768 bytes a tile each), in it one of 80 and one of 48.
// AVX2-DAG:      %[[TOKENS:.*]] = arith.constant 3584 : index
// AVX2-DAG:      %[[SEQUENCES:.*]] = arith.constant 1536 : index
// AVX512-DAG:    %[[TOKENS:.*]] = arith.constant 8704 : index
// AVX512-DAG:    %[[SEQUENCES:.*]] = arith.constant 4096 : index
// CHECK:         %[[T:.*]] = arith.muli %{{.*}}, %[[TOKENS]]
// CHECK:         %[[S:.*]] = arith.muli %{{.*}}, %[[SEQUENCES]]
// CHECK:         %[[TS:.*]] = arith.addi %[[T]], %[[S]]
// CHECK:         %[[ONE:.*]] = call @scratch_bytes(%[[SHAPE]])
// CHECK:         %[[N:.*]] = arith.index_cast %[[THREADS]]
// CHECK:         %[[ALL:.*]] = arith.muli %[[ONE]], %[[N]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[TS]], %[[ALL]]
// CHECK:         %[[I:.*]] = arith.index_cast %[[SUM]] : index to i64
// CHECK:         return %[[I]]

// CHECK-LABEL: func.func private @dense_gelu(
// CHECK-SAME:    i32 {convbert.threads}) attributes {convbert.kernel = "dense", convbert.row_grain = {{[48]}} : i64, convbert.rows = array<i64: 0, 3>}
// CHECK:         bufferization.to_tensor %{{.*}} restrict
// CHECK:         convbert.packed_dense {{.*}} {activation = #convbert.activation<gelu>}
// CHECK:         bufferization.materialize_in_destination %{{.*}} in restrict writable

// Its body is written by phase `memory`.
// CHECK-LABEL: func.func private @scratch_bytes(
// CHECK:         return %c0

// One kernel for both first layers of the two calls, one for the two norms.
// AVX2-LABEL: func.func private @pack_0(
// AVX2-SAME:    memref<9x16xf32>) attributes {convbert.kernel = "pack"}
// AVX2-LABEL: func.func private @pack_6(
// AVX2-NOT:   func.func private @pack_7(

// Nine parameters are packed by seven kernels, each at a multiple of 64 bytes.
// AVX2-LABEL: func.func @packed_bytes(
// AVX2:          arith.constant 12672 : i64
// AVX2-LABEL: func.func @prepack_steps(
// AVX2:         arith.constant 9 : i64
// AVX2-LABEL: func.func @prepack(
// AVX2-SAME:    %[[RAW:[a-z0-9]*]]: memref<?xmemref<?xi8>>, %[[PACKED:[a-z0-9]*]]: memref<?xi8>, %[[STEP:[a-z0-9]*]]: i64, %{{[a-z0-9]*}}: i32) attributes {llvm.emit_c_interface} {
// AVX2:         %[[I:.*]] = arith.index_cast %[[STEP]]
// AVX2:         scf.index_switch %[[I]]
// AVX2:         case 0 {
// AVX2:           memref.load %[[RAW]][%c0]
// AVX2:           call @pack_0(
// AVX2:         case 2 {
// AVX2:           memref.load %[[RAW]][%c3]
// AVX2:           call @pack_2(
// AVX2:         case 3 {
// AVX2-NOT:       memref.load
// AVX2:           call @pack_3(
// AVX2:         case 6 {
// AVX2:           memref.load %[[RAW]][%c5]
// AVX2:           call @pack_2(
// The tables the other way round.
// AVX2:         case 7 {
// AVX2:           memref.load %[[RAW]][%c2]
// AVX2:           memref.load %[[RAW]][%c1]
// AVX2:           call @pack_1(
// AVX2:         default {
// AVX2-NOT:     ml_program
