// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Attention: each form parses, prints, and comes back from the generic form and from bytecode.

// CHECK-LABEL: func.func @attention_bias(
// CHECK:         convbert.attention_bias %arg0
func.func @attention_bias(%mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %bias = convbert.attention_bias %mask : (tensor<?x?xi1>) -> tensor<?x?xf32>
  return %bias : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @self_attention(
// CHECK:         convbert.self_attention %arg0, %arg1, %arg2 bias(%arg3)
// CHECK-SAME:      {heads = 6 : i64, scale = 1.250000e-01 : f64}
func.func @self_attention(
    %q: tensor<?x?x384xf32>, %k: tensor<?x?x384xf32>, %v: tensor<?x?x384xf32>, %bias: tensor<?x?xf32>)
    -> tensor<?x?x384xf32> {
  %c = convbert.self_attention %q, %k, %v bias(%bias) {heads = 6 : i64, scale = 0.125 : f64}
      : (tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?x384xf32>, tensor<?x?xf32>) -> tensor<?x?x384xf32>
  return %c : tensor<?x?x384xf32>
}

// CHECK-LABEL: func.func @mixed_attention(
// CHECK:         convbert.mixed_attention %arg0 query(%arg1, %arg2) key(%arg3, %arg4) value(%arg5, %arg6)
// CHECK-SAME:      span(%arg7, %arg8, %arg9) kernel(%arg10, %arg11) conv(%arg12, %arg13)
// CHECK-SAME:      output(%arg14, %arg15) bias(%arg16)
// CHECK-SAME:      {attn_heads = 6 : i64, conv_heads = 6 : i64, head_size = 64 : i64}
func.func @mixed_attention(
    %x: tensor<?x?x768xf32>, %wq: tensor<384x768xf32>, %bq: tensor<384xf32>, %wk: tensor<384x768xf32>,
    %bk: tensor<384xf32>, %wv: tensor<384x768xf32>, %bv: tensor<384xf32>, %wd: tensor<768x9xf32>,
    %wp: tensor<384x768xf32>, %bp: tensor<384xf32>, %wf: tensor<54x384xf32>, %bf: tensor<54xf32>,
    %wc: tensor<384x768xf32>, %bc: tensor<384xf32>, %wo: tensor<768x768xf32>, %bo: tensor<768xf32>,
    %bias: tensor<?x?xf32>)
    -> tensor<?x?x768xf32> {
  %y = convbert.mixed_attention %x query(%wq, %bq) key(%wk, %bk) value(%wv, %bv) span(%wd, %wp, %bp)
           kernel(%wf, %bf) conv(%wc, %bc) output(%wo, %bo) bias(%bias)
           {attn_heads = 6 : i64, conv_heads = 6 : i64, head_size = 64 : i64}
      : (tensor<?x?x768xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<384x768xf32>, tensor<384xf32>,
         tensor<384x768xf32>, tensor<384xf32>, tensor<768x9xf32>, tensor<384x768xf32>, tensor<384xf32>,
         tensor<54x384xf32>, tensor<54xf32>, tensor<384x768xf32>, tensor<384xf32>, tensor<768x768xf32>,
         tensor<768xf32>, tensor<?x?xf32>) -> tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}

// No key bias; values of another width; the scale folded away.
// CHECK-LABEL: func.func @self_attention_no_bias(
// CHECK:         convbert.self_attention %arg0, %arg1, %arg2 {heads = 2 : i64, scale = 1.000000e+00 : f64} :
func.func @self_attention_no_bias(%q: tensor<2x?x4xf32>, %k: tensor<?x3x4xf32>, %v: tensor<2x3x6xf32>)
    -> tensor<2x?x6xf32> {
  %c = convbert.self_attention %q, %k, %v {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x?x4xf32>, tensor<?x3x4xf32>, tensor<2x3x6xf32>) -> tensor<2x?x6xf32>
  return %c : tensor<2x?x6xf32>
}

// The key bias stays f32 beside narrower activations.
// CHECK-LABEL: func.func @self_attention_f16(
// CHECK:         convbert.self_attention {{.*}} bias(%0) {{.*}} tensor<1x4xf32>) -> tensor<1x4x4xf16>
func.func @self_attention_f16(%x: tensor<1x4x4xf16>, %mask: tensor<1x4xi1>) -> tensor<1x4x4xf16> {
  %bias = convbert.attention_bias %mask : (tensor<1x4xi1>) -> tensor<1x4xf32>
  %c = convbert.self_attention %x, %x, %x bias(%bias) {heads = 1 : i64, scale = 0.5 : f64}
    : (tensor<1x4x4xf16>, tensor<1x4x4xf16>, tensor<1x4x4xf16>, tensor<1x4xf32>) -> tensor<1x4x4xf16>
  return %c : tensor<1x4x4xf16>
}

// No key bias, TensorFlow's orientation, an output that is not twice as wide as a branch.
// CHECK-LABEL: func.func @mixed_attention_in_out(
// CHECK:         output(%arg6, %arg7)
// CHECK-SAME:      {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64,
// CHECK-SAME:       layout = #convbert.layout<in_out>} :
func.func @mixed_attention_in_out(
    %x: tensor<?x?x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %wd: tensor<5x8xf32>, %wf: tensor<6x10xf32>,
    %bf: tensor<10xf32>, %wo: tensor<12x8xf32>, %bo: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.mixed_attention %x query(%w, %b) key(%w, %b) value(%w, %b) span(%wd, %w, %b) kernel(%wf, %bf)
         conv(%w, %b) output(%wo, %bo)
         {attn_heads = 2 : i64, conv_heads = 2 : i64, head_size = 3 : i64, layout = #convbert.layout<in_out>}
    : (tensor<?x?x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<8x6xf32>,
       tensor<6xf32>, tensor<5x8xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6x10xf32>, tensor<10xf32>,
       tensor<8x6xf32>, tensor<6xf32>, tensor<12x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @scale_heads(
// CHECK:         convbert.scale_heads %arg0, %arg2
// CHECK:         convbert.scale_heads %arg1, %arg2 : (tensor<?x384xf32>, tensor<6xf32>) -> tensor<?x384xf32>
func.func @scale_heads(%x: tensor<?x?x384xf32>, %p: tensor<?x384xf32>, %s: tensor<6xf32>) {
  %y = convbert.scale_heads %x, %s : (tensor<?x?x384xf32>, tensor<6xf32>) -> tensor<?x?x384xf32>
  %z = convbert.scale_heads %p, %s : (tensor<?x384xf32>, tensor<6xf32>) -> tensor<?x384xf32>
  return
}

// Keys of another length, a wider query, a head mask, probabilities: each alone and all together.
// CHECK-LABEL: func.func @self_attention_parts(
// CHECK:         convbert.self_attention %arg0, %arg1, %arg1 head_mask(%arg3) {heads = 2 : i64, scale
// CHECK:         convbert.self_attention %arg2, %arg1, %arg1 {heads = 2 : i64, query_heads = array<i64: 2, 0>, scale
// CHECK:         %{{.*}}, %{{.*}} = convbert.self_attention %arg0, %arg1, %arg1
// CHECK-SAME:      scale = 1.000000e+00 : f64, with_probabilities}
// CHECK-SAME:      -> (tensor<2x5x8xf32>, tensor<2x2x5x?xf32>)
// CHECK:         convbert.self_attention %arg2, %arg1, %arg1 bias(%arg4) head_mask(%arg3)
func.func @self_attention_parts(%q: tensor<2x5x8xf32>, %k: tensor<2x?x8xf32>, %wide: tensor<2x5x12xf32>,
                                %m: tensor<2xf32>, %bias: tensor<?x7xf32>) {
  %0 = convbert.self_attention %q, %k, %k head_mask(%m) {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<2x5x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2xf32>) -> tensor<2x5x8xf32>
  %1 = convbert.self_attention %wide, %k, %k {heads = 2 : i64, query_heads = array<i64: 2, 0>, scale = 1.0 : f64}
    : (tensor<2x5x12xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x5x8xf32>
  %2, %p = convbert.self_attention %q, %k, %k {heads = 2 : i64, scale = 1.0 : f64, with_probabilities}
    : (tensor<2x5x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x2x5x?xf32>)
  %3, %r = convbert.self_attention %wide, %k, %k bias(%bias) head_mask(%m)
      {heads = 2 : i64, query_heads = array<i64: 1, 1>, scale = 1.0 : f64, with_probabilities}
    : (tensor<2x5x12xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<?x7xf32>, tensor<2xf32>)
      -> (tensor<2x5x8xf32>, tensor<2x2x5x?xf32>)
  return
}
