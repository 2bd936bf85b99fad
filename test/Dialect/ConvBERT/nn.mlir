// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --mlir-print-op-generic | convbert-opt | FileCheck %s
// RUN: convbert-opt %s --emit-bytecode | convbert-opt | FileCheck %s

// Embeddings, dense layers, norms and heads: each form parses, prints, and comes back from the generic form and from
// bytecode.

// CHECK-LABEL: func.func @dense(
// CHECK:         convbert.dense %arg0, %arg1, %arg2 {activation = #convbert.activation<gelu>}
func.func @dense(%x: tensor<?x?x768xf32>, %w: tensor<3072x768xf32>, %b: tensor<3072xf32>) -> tensor<?x?x3072xf32> {
  %y = convbert.dense %x, %w, %b {activation = #convbert.activation<gelu>}
      : (tensor<?x?x768xf32>, tensor<3072x768xf32>, tensor<3072xf32>) -> tensor<?x?x3072xf32>
  return %y : tensor<?x?x3072xf32>
}

// CHECK-LABEL: func.func @grouped_dense(
// CHECK:         convbert.grouped_dense %arg0, %arg1, %arg2
func.func @grouped_dense(
    %x: tensor<?x?x384xf32>, %w: tensor<2x192x768xf32>, %b: tensor<1536xf32>)
    -> tensor<?x?x1536xf32> {
  %y = convbert.grouped_dense %x, %w, %b
      : (tensor<?x?x384xf32>, tensor<2x192x768xf32>, tensor<1536xf32>) -> tensor<?x?x1536xf32>
  return %y : tensor<?x?x1536xf32>
}

// CHECK-LABEL: func.func @activation(
// CHECK:         convbert.activation %arg0 {kind = #convbert.activation<gelu>} : tensor<?x?x3072xf32>
func.func @activation(%x: tensor<?x?x3072xf32>) -> tensor<?x?x3072xf32> {
  %y = convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x?x3072xf32>
  return %y : tensor<?x?x3072xf32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK:         convbert.layer_norm %arg0 residual(%arg1), %arg2, %arg3 {eps = {{.*}} : f64}
func.func @layer_norm(
    %x: tensor<?x?x768xf32>, %r: tensor<?x?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
    -> tensor<?x?x768xf32> {
  %y = convbert.layer_norm %x residual(%r), %gamma, %beta {eps = 1.0e-12 : f64}
      : (tensor<?x?x768xf32>, tensor<?x?x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}

// CHECK-LABEL: func.func @pool(
// CHECK:         convbert.pool %arg0 {kind = #convbert.pool<first>}
func.func @pool(%x: tensor<?x?x768xf32>) -> tensor<?x768xf32> {
  %y = convbert.pool %x {kind = #convbert.pool<first>} : (tensor<?x?x768xf32>) -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// CHECK-LABEL: func.func @embeddings(
// CHECK:         convbert.embeddings %arg0, %arg1, %arg2 tables(%arg3, %arg4, %arg5) norm(%arg6, %arg7)
// CHECK-SAME:      {eps = {{.*}} : f64}
func.func @embeddings(
    %ids: tensor<?x?xi64>, %types: tensor<?x?xi64>, %positions: tensor<?x?xi64>, %word: tensor<30522x768xf32>,
    %position: tensor<512x768xf32>, %type: tensor<2x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
    -> tensor<?x?x768xf32> {
  %x = convbert.embeddings %ids, %types, %positions tables(%word, %position, %type) norm(%gamma, %beta)
           {eps = 1.0e-12 : f64}
      : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<30522x768xf32>, tensor<512x768xf32>,
         tensor<2x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<?x?x768xf32>
  return %x : tensor<?x?x768xf32>
}

// CHECK-LABEL: func.func @feed_forward(
// CHECK:         convbert.feed_forward %arg0, %arg1, %arg2, %arg3, %arg4
// CHECK-SAME:      {activation = #convbert.activation<gelu>}
func.func @feed_forward(
    %x: tensor<?x?x768xf32>, %w1: tensor<3072x768xf32>, %b1: tensor<3072xf32>, %w2: tensor<768x3072xf32>,
    %b2: tensor<768xf32>)
    -> tensor<?x?x768xf32> {
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
      : (tensor<?x?x768xf32>, tensor<3072x768xf32>, tensor<3072xf32>, tensor<768x3072xf32>, tensor<768xf32>)
        -> tensor<?x?x768xf32>
  return %y : tensor<?x?x768xf32>
}

// CHECK-LABEL: func.func @lm_head(
// CHECK:         convbert.lm_head %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 {eps = {{.*}} : f64}
func.func @lm_head(
    %x: tensor<?x?x256xf32>, %w: tensor<128x256xf32>, %b: tensor<128xf32>, %gamma: tensor<128xf32>,
    %beta: tensor<128xf32>, %word: tensor<30522x128xf32>, %bias: tensor<30522xf32>)
    -> tensor<?x?x30522xf32> {
  %logits = convbert.lm_head %x, %w, %b, %gamma, %beta, %word, %bias {eps = 1.0e-12 : f64}
      : (tensor<?x?x256xf32>, tensor<128x256xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128xf32>,
         tensor<30522x128xf32>, tensor<30522xf32>) -> tensor<?x?x30522xf32>
  return %logits : tensor<?x?x30522xf32>
}

// CHECK-LABEL: func.func @classifier_head(
// CHECK:         convbert.classifier_head %arg0, %arg1, %arg2, %arg3, %arg4
// CHECK-SAME:      {activation = #convbert.activation<gelu>}
func.func @classifier_head(
    %x: tensor<?x?x128xf32>, %w1: tensor<128x128xf32>, %b1: tensor<128xf32>, %w2: tensor<20x128xf32>,
    %b2: tensor<20xf32>)
    -> tensor<?x20xf32> {
  %logits = convbert.classifier_head %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<gelu>}
      : (tensor<?x?x128xf32>, tensor<128x128xf32>, tensor<128xf32>, tensor<20x128xf32>, tensor<20xf32>)
        -> tensor<?x20xf32>
  return %logits : tensor<?x20xf32>
}

// CHECK-LABEL: func.func @token_head(
// CHECK:         convbert.token_head %arg0, %arg1, %arg2
func.func @token_head(%x: tensor<?x?x768xf32>, %w: tensor<9x768xf32>, %b: tensor<9xf32>) -> tensor<?x?x9xf32> {
  %logits = convbert.token_head %x, %w, %b
      : (tensor<?x?x768xf32>, tensor<9x768xf32>, tensor<9xf32>) -> tensor<?x?x9xf32>
  return %logits : tensor<?x?x9xf32>
}

// CHECK-LABEL: func.func @span_head(
// CHECK:         convbert.span_head %arg0, %arg1, %arg2
func.func @span_head(
    %x: tensor<?x?x768xf32>, %w: tensor<2x768xf32>, %b: tensor<2xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %start, %end = convbert.span_head %x, %w, %b
      : (tensor<?x?x768xf32>, tensor<2x768xf32>, tensor<2xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %start, %end : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @choice_head(
// CHECK:         convbert.choice_head %arg0, %arg1, %arg2 {summary = #convbert.pool<last>}
func.func @choice_head(%x: tensor<?x?x768xf32>, %w: tensor<1x768xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
  %logits = convbert.choice_head %x, %w, %b {summary = #convbert.pool<last>}
      : (tensor<?x?x768xf32>, tensor<1x768xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %logits : tensor<?x1xf32>
}

// Weights as in TensorFlow files, no bias; the default layout and activation are not printed.
// CHECK-LABEL: func.func @dense_in_out(
// CHECK:         convbert.dense %arg0, %arg1 {layout = #convbert.layout<in_out>} :
// CHECK:         convbert.dense %arg2, %arg3 : (tensor<?x8xf64>, tensor<4x8xf64>) -> tensor<?x4xf64>
func.func @dense_in_out(%x: tensor<2x8xf16>, %w: tensor<8x4xf16>, %p: tensor<?x8xf64>, %v: tensor<4x8xf64>) {
  %y = convbert.dense %x, %w {layout = #convbert.layout<in_out>} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
  %q = convbert.dense %p, %v {layout = #convbert.layout<out_in>, activation = #convbert.activation<identity>}
    : (tensor<?x8xf64>, tensor<4x8xf64>) -> tensor<?x4xf64>
  return
}

// CHECK-LABEL: func.func @dense_times(
// CHECK:         convbert.dense %arg0, %arg1 times %arg3 :
// CHECK:         convbert.dense %arg0, %arg1, %arg2 times %arg3 {activation = #convbert.activation<relu>} :
func.func @dense_times(%x: tensor<2x?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %m: tensor<?x3x4xf32>) {
  %y = convbert.dense %x, %w times %m
    : (tensor<2x?x8xf32>, tensor<4x8xf32>, tensor<?x3x4xf32>) -> tensor<2x?x4xf32>
  %z = convbert.dense %x, %w, %b times %m {activation = #convbert.activation<relu>}
    : (tensor<2x?x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<?x3x4xf32>) -> tensor<2x?x4xf32>
  return
}

// CHECK-LABEL: func.func @grouped_dense_no_bias(
// CHECK:         convbert.grouped_dense %arg0, %arg1 {activation = #convbert.activation<silu>} :
func.func @grouped_dense_no_bias(%x: tensor<?x8xbf16>, %w: tensor<4x2x3xbf16>) -> tensor<?x12xbf16> {
  %y = convbert.grouped_dense %x, %w {activation = #convbert.activation<silu>}
    : (tensor<?x8xbf16>, tensor<4x2x3xbf16>) -> tensor<?x12xbf16>
  return %y : tensor<?x12xbf16>
}

// CHECK-LABEL: func.func @activations(
// CHECK:         #convbert.activation<identity>
// CHECK:         #convbert.activation<gelu>
// CHECK:         #convbert.activation<gelu_new>
// CHECK:         #convbert.activation<relu>
// CHECK:         #convbert.activation<silu>
// CHECK:         #convbert.activation<tanh>
// CHECK:         #convbert.activation<selu>
// CHECK:         #convbert.activation<sigmoid>
func.func @activations(%x: tensor<?x4xf32>) {
  %0 = convbert.activation %x {kind = #convbert.activation<identity>} : tensor<?x4xf32>
  %1 = convbert.activation %x {kind = #convbert.activation<gelu>} : tensor<?x4xf32>
  %2 = convbert.activation %x {kind = #convbert.activation<gelu_new>} : tensor<?x4xf32>
  %3 = convbert.activation %x {kind = #convbert.activation<relu>} : tensor<?x4xf32>
  %4 = convbert.activation %x {kind = #convbert.activation<silu>} : tensor<?x4xf32>
  %5 = convbert.activation %x {kind = #convbert.activation<tanh>} : tensor<?x4xf32>
  %6 = convbert.activation %x {kind = #convbert.activation<selu>} : tensor<?x4xf32>
  %7 = convbert.activation %x {kind = #convbert.activation<sigmoid>} : tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm_alone(
// CHECK:         convbert.layer_norm %arg0, %arg1, %arg1 {eps = 0.000000e+00 : f64} :
func.func @layer_norm_alone(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = convbert.layer_norm %x, %g, %g {eps = 0.0 : f64}
    : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @pools(
// CHECK:         #convbert.pool<last>
// CHECK:         #convbert.pool<mean>
func.func @pools(%x: tensor<3x?x8xf32>) {
  %0 = convbert.pool %x {kind = #convbert.pool<last>} : (tensor<3x?x8xf32>) -> tensor<3x8xf32>
  %1 = convbert.pool %x {kind = #convbert.pool<mean>} : (tensor<3x?x8xf32>) -> tensor<3x8xf32>
  return
}

// An embedding that is not as wide as the model; ids of either integer width.
// CHECK-LABEL: func.func @embeddings_project(
// CHECK:         convbert.embeddings {{.*}} norm(%arg6, %arg6) project(%arg7, %arg8) {eps =
// CHECK-SAME:      -> tensor<2x?x8xf32>
func.func @embeddings_project(%ids: tensor<2x?xi32>, %types: tensor<?x?xi64>, %positions: tensor<2x5xi32>,
                              %word: tensor<11x4xf32>, %position: tensor<7x4xf32>, %type: tensor<2x4xf32>,
                              %g: tensor<4xf32>, %wp: tensor<8x4xf32>, %bp: tensor<8xf32>) -> tensor<2x?x8xf32> {
  %x = convbert.embeddings %ids, %types, %positions tables(%word, %position, %type) norm(%g, %g) project(%wp, %bp)
         {eps = 1.0e-12 : f64}
    : (tensor<2x?xi32>, tensor<?x?xi64>, tensor<2x5xi32>, tensor<11x4xf32>, tensor<7x4xf32>, tensor<2x4xf32>,
       tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<2x?x8xf32>
  return %x : tensor<2x?x8xf32>
}

// CHECK-LABEL: func.func @feed_forward_grouped(
// CHECK:         convbert.feed_forward {{.*}} : (tensor<?x?x8xf32>, tensor<2x4x6xf32>,
func.func @feed_forward_grouped(%x: tensor<?x?x8xf32>, %w1: tensor<2x4x6xf32>, %b1: tensor<12xf32>,
                                %w2: tensor<2x6x4xf32>, %b2: tensor<8xf32>) -> tensor<?x?x8xf32> {
  %y = convbert.feed_forward %x, %w1, %b1, %w2, %b2 {activation = #convbert.activation<relu>}
    : (tensor<?x?x8xf32>, tensor<2x4x6xf32>, tensor<12xf32>, tensor<2x6x4xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
