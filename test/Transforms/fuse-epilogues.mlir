// Activations and products join the dense layer before them; the softmax of taps joins the convolution behind it.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-fuse-epilogues))' | FileCheck %s


!x = tensor<?x?x8xf32>
!w = tensor<8x8xf32>
!b = tensor<8xf32>

// CHECK-LABEL: func.func @activation(
// CHECK:         %[[Y:.*]] = convbert.dense %{{.*}} {activation = #convbert.activation<gelu>}
// CHECK-NEXT:    return %[[Y]]
func.func @activation(%x: !x, %w: !w, %b: !b) -> !x {
  %h = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %y = convbert.activation %h {kind = #convbert.activation<gelu>} : !x
  return %y : !x
}

// CHECK-LABEL: func.func @grouped_activation(
// CHECK:         %[[Y:.*]] = convbert.grouped_dense %{{.*}} {activation = #convbert.activation<silu>}
// CHECK-NEXT:    return %[[Y]]
func.func @grouped_activation(%x: !x, %w: tensor<2x4x4xf32>) -> !x {
  %h = convbert.grouped_dense %x, %w : (!x, tensor<2x4x4xf32>) -> !x
  %y = convbert.activation %h {kind = #convbert.activation<silu>} : !x
  return %y : !x
}

// CHECK-LABEL: func.func @pooled_activation(
// CHECK:         %[[Y:.*]] = convbert.dense %{{.*}} {activation = #convbert.activation<tanh>, layout = #convbert.layout<in_out>}
// CHECK-NEXT:    return %[[Y]]
func.func @pooled_activation(%x: tensor<?x8xf16>, %w: tensor<8x8xf16>) -> tensor<?x8xf16> {
  %h = convbert.dense %x, %w {layout = #convbert.layout<in_out>} : (tensor<?x8xf16>, tensor<8x8xf16>) -> tensor<?x8xf16>
  %y = convbert.activation %h {kind = #convbert.activation<tanh>} : tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}

// An activation of an activation keeps the second; an identity folds away.
// CHECK-LABEL: func.func @twice(
// CHECK:         %[[H:.*]] = convbert.dense %{{.*}} {activation = #convbert.activation<relu>}
// CHECK-NEXT:    %[[Y:.*]] = convbert.activation %[[H]] {kind = #convbert.activation<tanh>}
// CHECK-NEXT:    return %[[Y]]
func.func @twice(%x: !x, %w: !w) -> !x {
  %h = convbert.dense %x, %w : (!x, !w) -> !x
  %i = convbert.activation %h {kind = #convbert.activation<identity>} : !x
  %a = convbert.activation %i {kind = #convbert.activation<relu>} : !x
  %y = convbert.activation %a {kind = #convbert.activation<tanh>} : !x
  return %y : !x
}

// A producer with other users, and one that is no matrix product.
// CHECK-LABEL: func.func @no_activation(
// CHECK:         convbert.dense
// CHECK-NOT:     activation =
// CHECK:         convbert.activation
// CHECK:         convbert.activation
func.func @no_activation(%x: !x, %w: !w) -> (!x, !x, !x) {
  %h = convbert.dense %x, %w : (!x, !w) -> !x
  %y = convbert.activation %h {kind = #convbert.activation<gelu>} : !x
  %z = convbert.activation %x {kind = #convbert.activation<gelu>} : !x
  return %h, %y, %z : !x, !x, !x
}

// The layer moves to where the second factor exists.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8x8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>)
// CHECK:         %[[N:.*]] = convbert.layer_norm
// CHECK-NEXT:    %[[Y:.*]] = convbert.dense %[[X]], %[[W]], %[[B]] times %[[N]]
// CHECK-NEXT:    return %[[Y]]
func.func @product(%x: !x, %w: !w, %b: !b) -> !x {
  %s = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %n = convbert.layer_norm %x, %b, %b {eps = 1.0e-12 : f64} : (!x, !b, !b) -> !x
  %y = arith.mulf %n, %s : !x
  return %y : !x
}

// An activation comes before the product, not after it.
// CHECK-LABEL: func.func @activation_and_product(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>
// CHECK:         %[[Y:.*]] = convbert.dense %[[X]], %{{.*}} times %[[X]] {activation = #convbert.activation<sigmoid>}
// CHECK-NEXT:    %[[Z:.*]] = convbert.activation %[[Y]]
// CHECK-NEXT:    return %[[Z]]
func.func @activation_and_product(%x: !x, %w: !w) -> !x {
  %h = convbert.dense %x, %w : (!x, !w) -> !x
  %s = convbert.activation %h {kind = #convbert.activation<sigmoid>} : !x
  %y = arith.mulf %s, %x : !x
  %z = convbert.activation %y {kind = #convbert.activation<gelu>} : !x
  return %z : !x
}

// Not a square, not a second multiplier, and not where the factor has other users.
// CHECK-LABEL: func.func @no_product(
// CHECK-COUNT-3: arith.mulf
func.func @no_product(%x: !x, %w: !w) -> (!x, !x, !x, !x) {
  %a = convbert.dense %x, %w : (!x, !w) -> !x
  %square = arith.mulf %a, %a : !x
  %b = convbert.dense %x, %w times %x : (!x, !w, !x) -> !x
  %second = arith.mulf %b, %x : !x
  %c = convbert.dense %x, %w : (!x, !w) -> !x
  %shared = arith.mulf %c, %x : !x
  return %square, %second, %shared, %c : !x, !x, !x, !x
}

// The product of query and span-aware key is the epilogue of the layer that makes the key.
// CHECK-LABEL: func.func @span_key(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>
// CHECK:         %[[Q:.*]] = convbert.dense
// CHECK:         %[[P:.*]] = convbert.dense %{{.*}} times %[[Q]]
// CHECK-NEXT:    convbert.dynamic_kernel %[[P]], %{{[a-z0-9]*}} {heads
func.func @span_key(%x: !x, %w: !w, %b: !b, %wf: tensor<6x8xf32>) -> (!x, tensor<?x?x2x3xf32>) {
  %key = convbert.dense %x, %w, %b : (!x, !w, !b) -> !x
  %q = convbert.dense %x, %w : (!x, !w) -> !x
  %t = convbert.dynamic_kernel %q, %wf span(%key) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (!x, tensor<6x8xf32>, !x) -> tensor<?x?x2x3xf32>
  return %q, %t : !x, tensor<?x?x2x3xf32>
}

// Where the key has other users, the query's layer takes it; where neither can, the product stands by itself; in f16 it
// stays.
// CHECK-LABEL: func.func @span_key_shared(
// CHECK:         %[[KEY:.*]] = convbert.dense
// CHECK:         %[[P:.*]] = convbert.dense %{{.*}} times %[[KEY]]
// CHECK:         convbert.dynamic_kernel %[[P]], %{{[a-z0-9]*}} {heads
// CHECK:         %[[M:.*]] = arith.mulf %[[KEY]], %
// CHECK:         convbert.dynamic_kernel %[[M]], %{{[a-z0-9]*}} {heads
func.func @span_key_shared(%x: !x, %w: !w, %wf: tensor<6x8xf32>)
    -> (tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>) {
  %key = convbert.dense %x, %w : (!x, !w) -> !x
  %q = convbert.dense %x, %w : (!x, !w) -> !x
  %t = convbert.dynamic_kernel %q, %wf span(%key) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (!x, tensor<6x8xf32>, !x) -> tensor<?x?x2x3xf32>
  %u = convbert.dynamic_kernel %x, %wf span(%key) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (!x, tensor<6x8xf32>, !x) -> tensor<?x?x2x3xf32>
  return %t, %u : tensor<?x?x2x3xf32>, tensor<?x?x2x3xf32>
}

// CHECK-LABEL: func.func @span_key_f16(
// CHECK:         %[[KEY:.*]] = convbert.dense
// CHECK:         convbert.dynamic_kernel {{.*}} span(%[[KEY]])
func.func @span_key_f16(%x: tensor<?x?x8xf16>, %w: tensor<8x8xf16>, %wf: tensor<6x8xf16>) -> tensor<?x?x2x3xf16> {
  %key = convbert.dense %x, %w : (tensor<?x?x8xf16>, tensor<8x8xf16>) -> tensor<?x?x8xf16>
  %t = convbert.dynamic_kernel %x, %wf span(%key) {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (tensor<?x?x8xf16>, tensor<6x8xf16>, tensor<?x?x8xf16>) -> tensor<?x?x2x3xf16>
  return %t : tensor<?x?x2x3xf16>
}

// CHECK-LABEL: func.func @taps(
// CHECK:         %[[T:.*]] = convbert.dynamic_kernel {{.*}} {heads = 2 : i64, normalize = #convbert.norm<none>}
// CHECK:         convbert.apply_kernel %{{.*}}, %[[T]] {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>}
func.func @taps(%x: !x, %w: tensor<6x8xf32>) -> !x {
  %t = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %y : !x
}

// Taps that the function returns come out of the convolution, too.
// CHECK-LABEL: func.func @returned_taps(
// CHECK:         %[[T:.*]] = convbert.dynamic_kernel {{.*}} normalize = #convbert.norm<none>
// CHECK:         %[[Y:.*]], %[[K:.*]] = convbert.apply_kernel %{{.*}}, %[[T]]
// CHECK-SAME:      {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>, with_taps}
// CHECK:         return %[[Y]], %[[K]]
func.func @returned_taps(%x: !x, %w: tensor<6x8xf32>) -> (!x, tensor<?x?x2x3xf32>) {
  %t = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %y, %t : !x, tensor<?x?x2x3xf32>
}

// Taps that are used twice, that no softmax made, or that go through two softmaxes, stay.
// CHECK-LABEL: func.func @shared_taps(
// CHECK:         normalize = #convbert.norm<softmax>
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<none>
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<none>
func.func @shared_taps(%x: !x, %w: tensor<6x8xf32>) -> !x {
  %t = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  %z = convbert.apply_kernel %y, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %z : !x
}

// CHECK-LABEL: func.func @other_taps(
// CHECK:         convbert.dynamic_kernel {{.*}} normalize = #convbert.norm<none>
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<none>
// CHECK:         convbert.dynamic_kernel {{.*}} normalize = #convbert.norm<softmax>
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<softmax>
func.func @other_taps(%x: !x, %w: tensor<6x8xf32>) -> (!x, !x) {
  %t = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<none>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  %s = convbert.dynamic_kernel %x, %w {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %z = convbert.apply_kernel %x, %s {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %y, %z : !x, !x
}

// A norm adds two activations itself; a sum with another user, or a second one beside a residual, stays.
// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x8xf32>, %[[Y:[^:]*]]: tensor<?x?x8xf32>,
// CHECK:         %[[N:.*]] = convbert.layer_norm %[[X]] residual(%[[Y]])
// CHECK:         %[[S:.*]] = arith.addf %[[X]], %[[N]]
// CHECK:         convbert.layer_norm %[[S]], %
// CHECK:         %[[R:.*]] = arith.addf %[[X]], %[[X]]
// CHECK:         convbert.layer_norm %[[R]] residual(%[[Y]])
func.func @residual(%x: !x, %y: !x, %g: tensor<8xf32>) -> (!x, !x, !x, !x) {
  %s = arith.addf %x, %y : !x
  %n = convbert.layer_norm %s, %g, %g {eps = 0.5 : f64} : (!x, tensor<8xf32>, tensor<8xf32>) -> !x
  %t = arith.addf %x, %n : !x
  %m = convbert.layer_norm %t, %g, %g {eps = 0.5 : f64} : (!x, tensor<8xf32>, tensor<8xf32>) -> !x
  %r = arith.addf %x, %x : !x
  %o = convbert.layer_norm %r residual(%y), %g, %g {eps = 0.5 : f64} : (!x, !x, tensor<8xf32>, tensor<8xf32>) -> !x
  return %n, %t, %m, %o : !x, !x, !x, !x
}

// What the softmax leaves out moves with it.
// CHECK-LABEL: func.func @renormalised_taps(
// CHECK:         %[[T:.*]] = convbert.dynamic_kernel {{.*}} {heads = 2 : i64, normalize = #convbert.norm<none>}
// CHECK:         convbert.apply_kernel %{{.*}}, %[[T]]
// CHECK-SAME:      {dilation = 2 : i64, edge = #convbert.edge<renorm>, normalize = #convbert.norm<softmax>, pads = array<i64: 4, 0>}
func.func @renormalised_taps(%x: !x, %w: tensor<6x8xf32>) -> !x {
  %t = convbert.dynamic_kernel %x, %w
      {heads = 2 : i64, normalize = #convbert.norm<softmax>, edge = #convbert.edge<renorm>, pads = array<i64: 4, 0>,
       dilation = 2 : i64}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 4, 0>, dilation = 2 : i64, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %y : !x
}

// Taps of another window stay as they are.
// CHECK-LABEL: func.func @taps_of_another_window(
// CHECK:         convbert.dynamic_kernel {{.*}}edge = #convbert.edge<renorm>{{.*}}normalize = #convbert.norm<softmax>
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<none>, pads = array<i64: 1, 1>}
func.func @taps_of_another_window(%x: !x, %w: tensor<6x8xf32>) -> !x {
  %t = convbert.dynamic_kernel %x, %w
      {heads = 2 : i64, normalize = #convbert.norm<softmax>, edge = #convbert.edge<renorm>, pads = array<i64: 2, 0>}
    : (!x, tensor<6x8xf32>) -> tensor<?x?x2x3xf32>
  %y = convbert.apply_kernel %x, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (!x, tensor<?x?x2x3xf32>) -> !x
  return %y : !x
}
