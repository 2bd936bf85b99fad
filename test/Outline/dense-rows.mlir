// Inputs and results of whole rows lie in the caller's arrays in calls whose sequences fill all rows and all row tiles.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s

ml_program.global private @t(#ml_program.extern : tensor<9x32xf32>) : tensor<9x32xf32>
ml_program.global private @s(#ml_program.extern : tensor<9x20xf32>) : tensor<9x20xf32>

// CHECK-LABEL: func.func @forward(
//       CHECK:   %[[EVEN:.*]] = arith.andi
//       CHECK:   %[[X:.*]] = arith.select %[[EVEN]], {{.*}} : memref<?xf32>
//       CHECK:   arith.select %[[EVEN]], %c32, %{{.*}} : index
//       CHECK:   scf.if
//  CHECK-NEXT:     memref.view
//       CHECK:     call @load_tokens_32(
//       CHECK:   %[[Y:.*]] = arith.select {{.*}} : memref<?xf32>
//       CHECK:   memref.reinterpret_cast %[[X]]
//       CHECK:   memref.reinterpret_cast %[[Y]]
//       CHECK:   call @depthwise_k9_w32(
//       CHECK:   scf.if
//       CHECK:     call @store_tokens_32(
// Rows of 20 features are touched behind their end.
//   CHECK-NOT:   arith.select
//       CHECK:   call @store_tokens_20(
func.func @forward(%x: tensor<?x?x32xf32> {convbert.name = "x"}, %z: tensor<?x?x20xf32> {convbert.name = "z"})
    -> (tensor<?x?x32xf32> {convbert.name = "y"}, tensor<?x?x20xf32> {convbert.name = "u"}) {
  %t = ml_program.global_load_const @t : tensor<9x32xf32>
  %s = ml_program.global_load_const @s : tensor<9x20xf32>
  %y = convbert.depthwise_conv1d %x, %t {pads = array<i64: 4, 4>, layout = #convbert.layout<in_out>}
    : (tensor<?x?x32xf32>, tensor<9x32xf32>) -> tensor<?x?x32xf32>
  %u = convbert.depthwise_conv1d %z, %s {pads = array<i64: 4, 4>, layout = #convbert.layout<in_out>}
    : (tensor<?x?x20xf32>, tensor<9x20xf32>) -> tensor<?x?x20xf32>
  return %y, %u : tensor<?x?x32xf32>, tensor<?x?x20xf32>
}
