// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Forms of mixed attention besides the whole one (see attention.mlir): one branch alone, fewer heads, masks, maps.

// CHECK-LABEL: func.func @plain(
// CHECK:         query(%arg1, %arg2) key(%arg1, %arg2) value(%arg1, %arg2) output(%arg1, %arg2) bias(%arg3)
// CHECK-SAME:      {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64}
func.func @plain(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %bias: tensor<?x?xf32>)
    -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) output(%w, %b) bias(%bias)
         {attn_heads = 2 : i64, conv_heads = 0 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @convolution_alone(
// CHECK:         query(%arg1, %arg2) span(%arg3, %arg1, %arg2) kernel(%arg4, %arg5) conv(%arg1, %arg2)
// CHECK-SAME:      output(%arg1, %arg2) conv_mask(%arg6)
// CHECK-SAME:      {attn_heads = 0 : i64, conv_heads = 2 : i64, head_size = 4 : i64}
func.func @convolution_alone(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x8xf32>, %bf: tensor<6xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf) conv(%w, %b) output(%w, %b)
         conv_mask(%mask) {attn_heads = 0 : i64, conv_heads = 2 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>,
       tensor<6x8xf32>, tensor<6xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>,
       tensor<?x?xi1>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// One value for both branches.
// CHECK-LABEL: func.func @shared_value(
// CHECK:         kernel(%arg4, %arg5) output(%arg6, %arg2)
func.func @shared_value(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x8xf32>, %bf: tensor<6xf32>, %wo: tensor<8x16xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         output(%wo, %b) {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 4 : i64}
    : (tensor<?x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<6x8xf32>, tensor<6xf32>,
       tensor<8x16xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// One head of each kind, of two slices of the query.
// CHECK-LABEL: func.func @maps(
// CHECK:         %{{.*}}, %{{.*}}:2 = convbert.mixed_attention
// CHECK-SAME:      head_mask(%arg9)
// CHECK-SAME:      query_heads = array<i64: 1>, span_query_heads = array<i64: 1, 0>, with_kernels, with_probabilities}
// CHECK-SAME:      -> (tensor<2x?x8xf32>, tensor<2x1x?x?xf32>, tensor<2x?x1x3xf32>)
func.func @maps(%x: tensor<2x?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %wk: tensor<4x8xf32>, %bk: tensor<4xf32>,
    %wd: tensor<8x3xf32>, %wf: tensor<3x8xf32>, %bf: tensor<3xf32>, %wo: tensor<8x8xf32>, %hm: tensor<2xf32>)
    -> (tensor<2x?x8xf32>, tensor<2x1x?x?xf32>, tensor<2x?x1x3xf32>) {
  %y:3 = convbert.mixed_attention %x query(%w, %b) key(%wk, %bk) value(%wk, %bk) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%wk, %bk) output(%wo, %b) head_mask(%hm)
         {attn_heads = 1 : i64, conv_heads = 1 : i64, head_size = 4 : i64, query_heads = array<i64: 1>,
          span_query_heads = array<i64: 1, 0>, with_kernels, with_probabilities}
    : (tensor<2x?x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<3x8xf32>, tensor<3xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<2xf32>)
      -> (tensor<2x?x8xf32>, tensor<2x1x?x?xf32>, tensor<2x?x1x3xf32>)
  return %y#0, %y#1, %y#2 : tensor<2x?x8xf32>, tensor<2x1x?x?xf32>, tensor<2x?x1x3xf32>
}
