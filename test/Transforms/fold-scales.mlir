// The scale of attention goes into weight and bias of the key, and nowhere else.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-fold-scales))' | FileCheck %s


!x = tensor<?x?x8xf32>
!w = tensor<8x8xf32>
!b = tensor<8xf32>

// CHECK-LABEL: func.func @fold(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8x8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>, %[[BIAS:[a-z0-9]*]]: tensor<?x?xf32>)
// CHECK-DAG:     %[[S:.*]] = arith.constant dense<1.250000e-01> : tensor<8x8xf32>
// CHECK-DAG:     %[[SB:.*]] = arith.constant dense<1.250000e-01> : tensor<8xf32>
// CHECK:         %[[Q:.*]] = convbert.dense %[[X]], %[[W]], %[[B]]
// CHECK:         %[[WS:.*]] = arith.mulf %[[W]], %[[S]]
// CHECK:         %[[BS:.*]] = arith.mulf %[[B]], %[[SB]]
// CHECK:         %[[K:.*]] = convbert.dense %[[X]], %[[WS]], %[[BS]]
// CHECK:         %[[V:.*]] = convbert.dense %[[X]], %[[W]], %[[B]]
// CHECK:         convbert.self_attention %[[Q]], %[[K]], %[[V]] bias(%[[BIAS]]) {heads = 2 : i64, scale = 1.000000e+00 : f64}
func.func @fold(%x: !x, %w: !w, %b: !b, %bias: tensor<?x?xf32>) -> !x {
  %q = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %k = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %v = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %c = convbert.self_attention %q, %k, %v bias(%bias) {heads = 2 : i64, scale = 0.125 : f64}
    : (!x, !x, !x, tensor<?x?xf32>) -> !x
  return %c : !x
}

// Neither bias nor mask; weights of the other orientation.
// CHECK-LABEL: func.func @no_bias(
// CHECK:         %[[S:.*]] = arith.constant dense<5.000000e-01> : tensor<8x8xf32>
// CHECK:         %[[WS:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK:         convbert.dense %{{.*}}, %[[WS]] {layout = #convbert.layout<in_out>}
// CHECK-NOT:     arith.mulf
// CHECK:         scale = 1.000000e+00
func.func @no_bias(%x: !x, %w: !w) -> !x {
  %k = convbert.dense %x, %w {layout = #convbert.layout<in_out>} : (!x, !w) -> !x
  %c = convbert.self_attention %x, %k, %x {heads = 2 : i64, scale = 0.5 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}

// The number is rounded to the weight's type.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.constant dense<3.000490e-01> : tensor<8x8xf16>
func.func @half(%x: tensor<?x?x8xf16>, %w: tensor<8x8xf16>) -> tensor<?x?x8xf16> {
  %k = convbert.dense %x, %w : (tensor<?x?x8xf16>, tensor<8x8xf16>) -> tensor<?x?x8xf16>
  %c = convbert.self_attention %x, %k, %x {heads = 2 : i64, scale = 0.3 : f64}
    : (tensor<?x?x8xf16>, tensor<?x?x8xf16>, tensor<?x?x8xf16>) -> tensor<?x?x8xf16>
  return %c : tensor<?x?x8xf16>
}

// No scale, no work.
// CHECK-LABEL: func.func @one(
// CHECK-NOT:     arith.mulf
func.func @one(%x: !x, %w: !w) -> !x {
  %k = convbert.dense %x, %w : (!x, !w) -> !x
  %c = convbert.self_attention %x, %k, %x {heads = 2 : i64, scale = 1.0 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}

// The key must be a dense layer, nobody else's, and without an epilogue.
// CHECK-LABEL: func.func @no_dense(
// CHECK-NOT:     arith.mulf
// CHECK:         scale = 5.000000e-01
func.func @no_dense(%x: !x) -> !x {
  %c = convbert.self_attention %x, %x, %x {heads = 2 : i64, scale = 0.5 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}

// CHECK-LABEL: func.func @shared(
// CHECK-NOT:     arith.mulf
// CHECK:         scale = 5.000000e-01
func.func @shared(%x: !x, %w: !w) -> !x {
  %k = convbert.dense %x, %w : (!x, !w) -> !x
  %c = convbert.self_attention %k, %k, %x {heads = 2 : i64, scale = 0.5 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}

// CHECK-LABEL: func.func @activation(
// CHECK-NOT:     arith.mulf
// CHECK:         scale = 5.000000e-01
func.func @activation(%x: !x, %w: !w) -> !x {
  %k = convbert.dense %x, %w {activation = #convbert.activation<gelu>} : (!x, !w) -> !x
  %c = convbert.self_attention %x, %k, %x {heads = 2 : i64, scale = 0.5 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}

// CHECK-LABEL: func.func @multiplier(
// CHECK-NOT:     arith.mulf
// CHECK:         scale = 5.000000e-01
func.func @multiplier(%x: !x, %w: !w) -> !x {
  %k = convbert.dense %x, %w times %x : (!x, !w, !x) -> !x
  %c = convbert.self_attention %x, %k, %x {heads = 2 : i64, scale = 0.5 : f64} : (!x, !x, !x) -> !x
  return %c : !x
}
