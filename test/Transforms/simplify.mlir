// The phase as a whole: the order of its passes, and what it refuses.
// RUN: convbert-opt %s --convbert-simplify --split-input-file --verify-diagnostics | FileCheck %s

// Layers of one input of which one takes an activation: it stays by itself, the plain ones are fused.
// CHECK-LABEL: func.func @heads(
// CHECK-DAG:     convbert.dense {{.*}} {activation = #convbert.activation<gelu>} {{.*}} -> tensor<?x?x4xf32>
// CHECK-DAG:     convbert.dense {{.*}} -> tensor<?x?x5xf32>
// CHECK-NOT:     convbert.activation
func.func @heads(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4xf32>, %word: tensor<9x4xf32>,
    %bw: tensor<9xf32>, %w3: tensor<3x4xf32>, %v3: tensor<3xf32>, %w2: tensor<2x4xf32>, %v2: tensor<2xf32>)
    -> (tensor<?x?x9xf32>, tensor<?x?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %a = convbert.lm_head %x, %w, %v, %v, %v, %word, %bw {eps = 0.5 : f64}
    : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<9x4xf32>, tensor<9xf32>)
      -> tensor<?x?x9xf32>
  %b = convbert.token_head %x, %w3, %v3 : (tensor<?x?x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<?x?x3xf32>
  %c, %d = convbert.span_head %x, %w2, %v2
    : (tensor<?x?x4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %a, %b, %c, %d : tensor<?x?x9xf32>, tensor<?x?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// A layer of a model: four projections are one, the scale sits in the key, the span key is multiplied by the query in
// the epilogue, and what remains of the parameters' algebra stands where the globals are loaded.
ml_program.global private @w(#ml_program.extern : tensor<4x8xf32>) : tensor<4x8xf32>
ml_program.global private @b(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>
ml_program.global private @wd(#ml_program.extern : tensor<8x3xf32>) : tensor<8x3xf32>
ml_program.global private @wf(#ml_program.extern : tensor<6x4xf32>) : tensor<6x4xf32>
ml_program.global private @bf(#ml_program.extern : tensor<6xf32>) : tensor<6xf32>
ml_program.global private @wo(#ml_program.extern : tensor<8x8xf32>) : tensor<8x8xf32>
ml_program.global private @bo(#ml_program.extern : tensor<8xf32>) : tensor<8xf32>

// CHECK-LABEL: func.func private @layer(
// CHECK-NOT:     arith.mulf
// CHECK:         %[[P:.*]] = convbert.dense {{.*}} -> tensor<?x?x16xf32>
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[P]][0, 0, 0]
// CHECK:         convbert.dense %{{.*}} times %[[Q]]
// CHECK:         convbert.dynamic_kernel {{.*}} normalize = #convbert.norm<none>
// CHECK:         convbert.self_attention %[[Q]], {{.*}} scale = 1.000000e+00
func.func private @layer(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %wd: tensor<8x3xf32>,
    %wf: tensor<6x4xf32>, %bf: tensor<6xf32>, %wo: tensor<8x8xf32>, %bo: tensor<8xf32>, %bias: tensor<?x?xf32>)
    -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo) bias(%bias) {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 2 : i64}
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>,
       tensor<4xf32>, tensor<8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<4x8xf32>, tensor<4xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         %[[KEY:.*]] = arith.mulf %{{.*}} : tensor<4x8xf32>
// CHECK:         tensor.concat dim(0) %{{[a-z0-9]*}}, %[[KEY]],
// CHECK:         call @layer
func.func @forward(%x: tensor<?x?x8xf32>, %bias: tensor<?x?xf32>) -> tensor<?x?x8xf32> {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %b = ml_program.global_load_const @b : tensor<4xf32>
  %wd = ml_program.global_load_const @wd : tensor<8x3xf32>
  %wf = ml_program.global_load_const @wf : tensor<6x4xf32>
  %bf = ml_program.global_load_const @bf : tensor<6xf32>
  %wo = ml_program.global_load_const @wo : tensor<8x8xf32>
  %bo = ml_program.global_load_const @bo : tensor<8xf32>
  %y = call @layer(%x, %w, %b, %wd, %wf, %bf, %wo, %bo, %bias)
    : (tensor<?x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8x3xf32>, tensor<6x4xf32>, tensor<6xf32>,
       tensor<8x8xf32>, tensor<8xf32>, tensor<?x?xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// An empty module and functions without a body are fine.
// CHECK: func.func private @declared(tensor<?x?x8xf32>)
func.func private @declared(tensor<?x?x8xf32>)

// -----

// What is no function of the model is not decomposed.
ml_program.subgraph private @elsewhere(%x: tensor<?x?x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>)
    -> tensor<?x?x3xf32> {
  // expected-error @below {{phase 'simplify' requires no block operation at its exit, but found 'convbert.token_head'}}
  %y = convbert.token_head %x, %w, %b : (tensor<?x?x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<?x?x3xf32>
  ml_program.output %y : tensor<?x?x3xf32>
}
