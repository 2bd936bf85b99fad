// The mean over all tokens is taken right behind what it is the mean of, and behind its mask.
// RUN: convbert-opt %s --convbert-outline-cpu=isa=avx512 | FileCheck %s

ml_program.global private @t(#ml_program.extern : tensor<3x32xf32>) : tensor<3x32xf32>

// CHECK-LABEL: func.func @forward(
//       CHECK:   call @depthwise_k3_w32(
//  CHECK-NOT:    call @
//       CHECK:   call @pool_mean_32(
//       CHECK:   call @activation_gelu
//       CHECK:   call @binary_mulf_32(
func.func @forward(%x: tensor<?x?x32xf32> {convbert.name = "x"})
    -> (tensor<?x32xf32> {convbert.name = "m"}, tensor<?x?x32xf32> {convbert.name = "y"}) {
  %t = ml_program.global_load_const @t : tensor<3x32xf32>
  %d = convbert.depthwise_conv1d %x, %t {pads = array<i64: 1, 1>, layout = #convbert.layout<in_out>}
    : (tensor<?x?x32xf32>, tensor<3x32xf32>) -> tensor<?x?x32xf32>
  %a = convbert.activation %d {kind = #convbert.activation<gelu>} : tensor<?x?x32xf32>
  %y = arith.mulf %a, %d : tensor<?x?x32xf32>
  %m = convbert.pool %d {kind = #convbert.pool<mean>} : (tensor<?x?x32xf32>) -> tensor<?x32xf32>
  return %m, %y : tensor<?x32xf32>, tensor<?x?x32xf32>
}
