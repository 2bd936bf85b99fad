// Means and selections of depthwise convolutions take their taps: the convolutions are not made.
// RUN: convbert-opt %s --split-input-file --convbert-simplify --convbert-outline-cpu=isa=avx512 | FileCheck %s

ml_program.global private @w3(#ml_program.extern : tensor<64x3xf32>) : tensor<64x3xf32>
ml_program.global private @w5(#ml_program.extern : tensor<64x5xf32>) : tensor<64x5xf32>
ml_program.global private @b(#ml_program.extern : tensor<64xf32>) : tensor<64xf32>
ml_program.global private @wz(#ml_program.extern : tensor<8x64xf32>) : tensor<8x64xf32>
ml_program.global private @a(#ml_program.extern : tensor<2x8x64xf32>) : tensor<2x8x64xf32>

// One window covers both: 5 taps, and a bias for each.  Their sums are the taps of the mean.
// CHECK-LABEL: func.func @forward(
//       CHECK:   call @pool_depthwise_k5_w64_bias(
//       CHECK:   call @dense
//       CHECK:   call @mix_taps_2_6_w64(
//       CHECK:   call @depthwise_k5_w64_bias_sequences(
//   CHECK-NOT:   call @{{pool|depthwise|select|binary}}
//       CHECK: func.func @workspace_bytes(
func.func @forward(%x: tensor<?x?x64xf32> {convbert.name = "x"}) -> (tensor<?x?x64xf32> {convbert.name = "y"}) {
  %w3 = ml_program.global_load_const @w3 : tensor<64x3xf32>
  %w5 = ml_program.global_load_const @w5 : tensor<64x5xf32>
  %b = ml_program.global_load_const @b : tensor<64xf32>
  %wz = ml_program.global_load_const @wz : tensor<8x64xf32>
  %a = ml_program.global_load_const @a : tensor<2x8x64xf32>
  %u = convbert.depthwise_conv1d %x, %w3, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>, tensor<64xf32>) -> tensor<?x?x64xf32>
  %v = convbert.depthwise_conv1d %x, %w5 {pads = array<i64: 2, 2>}
    : (tensor<?x?x64xf32>, tensor<64x5xf32>) -> tensor<?x?x64xf32>
  %y = convbert.selective_kernel %u, %v squeeze(%wz) select(%a)
    : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<8x64xf32>, tensor<2x8x64xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// -----

ml_program.global private @w3(#ml_program.extern : tensor<64x3xf32>) : tensor<64x3xf32>
ml_program.global private @w5(#ml_program.extern : tensor<64x5xf32>) : tensor<64x5xf32>
ml_program.global private @wz(#ml_program.extern : tensor<8x64xf32>) : tensor<8x64xf32>
ml_program.global private @a(#ml_program.extern : tensor<2x8x64xf32>) : tensor<2x8x64xf32>

// An activation is not linear: its branch is made, and so is the other.
// CHECK-LABEL: func.func @forward(
//   CHECK-DAG:   call @depthwise_k3_w64(
//   CHECK-DAG:   call @depthwise_k5_w64(
//       CHECK:   call @select_branches_2_64(
//       CHECK: func.func @workspace_bytes(
func.func @forward(%x: tensor<?x?x64xf32> {convbert.name = "x"}) -> (tensor<?x?x64xf32> {convbert.name = "y"}) {
  %w3 = ml_program.global_load_const @w3 : tensor<64x3xf32>
  %w5 = ml_program.global_load_const @w5 : tensor<64x5xf32>
  %wz = ml_program.global_load_const @wz : tensor<8x64xf32>
  %a = ml_program.global_load_const @a : tensor<2x8x64xf32>
  %u = convbert.depthwise_conv1d %x, %w3 {pads = array<i64: 1, 1>}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>) -> tensor<?x?x64xf32>
  %r = convbert.activation %u {kind = #convbert.activation<relu>} : tensor<?x?x64xf32>
  %v = convbert.depthwise_conv1d %x, %w5 {pads = array<i64: 2, 2>}
    : (tensor<?x?x64xf32>, tensor<64x5xf32>) -> tensor<?x?x64xf32>
  %y = convbert.selective_kernel %r, %v squeeze(%wz) select(%a)
    : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<8x64xf32>, tensor<2x8x64xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<64x3xf32>) : tensor<64x3xf32>
ml_program.global private @wz(#ml_program.extern : tensor<8x64xf32>) : tensor<8x64xf32>
ml_program.global private @a(#ml_program.extern : tensor<2x8x64xf32>) : tensor<2x8x64xf32>

// Taps so far apart that the window of both would be zeros for the most part.
// CHECK-LABEL: func.func @forward(
//   CHECK-DAG:   call @depthwise_k3_w64(
//   CHECK-DAG:   call @depthwise_steps_k3_d16(
//       CHECK:   call @select_branches_2_64(
//       CHECK: func.func @workspace_bytes(
func.func @forward(%x: tensor<?x?x64xf32> {convbert.name = "x"}) -> (tensor<?x?x64xf32> {convbert.name = "y"}) {
  %w = ml_program.global_load_const @w : tensor<64x3xf32>
  %wz = ml_program.global_load_const @wz : tensor<8x64xf32>
  %a = ml_program.global_load_const @a : tensor<2x8x64xf32>
  %u = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>) -> tensor<?x?x64xf32>
  %v = convbert.depthwise_conv1d %x, %w {pads = array<i64: 16, 16>, dilation = 16 : i64}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>) -> tensor<?x?x64xf32>
  %y = convbert.selective_kernel %u, %v squeeze(%wz) select(%a)
    : (tensor<?x?x64xf32>, tensor<?x?x64xf32>, tensor<8x64xf32>, tensor<2x8x64xf32>) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<64x3xf32>) : tensor<64x3xf32>

// A convolution that others read too is made, and its mean is that of its rows.
// CHECK-LABEL: func.func @forward(
//       CHECK:   call @depthwise_k3_w64(
//       CHECK:   call @pool_mean_64(
//       CHECK: func.func @workspace_bytes(
func.func @forward(%x: tensor<?x?x64xf32> {convbert.name = "x"})
    -> (tensor<?x?x64xf32> {convbert.name = "u"}, tensor<?x64xf32> {convbert.name = "m"}) {
  %w = ml_program.global_load_const @w : tensor<64x3xf32>
  %u = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x64xf32>, tensor<64x3xf32>) -> tensor<?x?x64xf32>
  %m = convbert.pool %u {kind = #convbert.pool<mean>} : (tensor<?x?x64xf32>) -> tensor<?x64xf32>
  return %u, %m : tensor<?x?x64xf32>, tensor<?x64xf32>
}
