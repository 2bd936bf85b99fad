// Dense layers of one input become one, their results slices of its result.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-fuse-projections))' | FileCheck %s


!x = tensor<?x?x8xf32>

// CHECK-LABEL: func.func @fuse(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W4:[a-z0-9]*]]: tensor<4x8xf32>, %[[B4:[a-z0-9]*]]: tensor<4xf32>, %[[W6:[a-z0-9]*]]: tensor<6x8xf32>, %[[B6:[a-z0-9]*]]: tensor<6xf32>)
// CHECK:         %[[W:.*]] = tensor.concat dim(0) %[[W4]], %[[W6]], %[[W4]]
// CHECK:         %[[B:.*]] = tensor.concat dim(0) %[[B4]], %[[B6]], %[[B4]]
// CHECK:         %[[P:.*]] = convbert.dense %[[X]], %[[W]], %[[B]] : (tensor<?x?x8xf32>, tensor<14x8xf32>, tensor<14xf32>) -> tensor<?x?x14xf32>
// CHECK-DAG:     %[[Q:.*]] = tensor.extract_slice %[[P]][0, 0, 0] [%{{.*}}, %{{.*}}, 4] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x4xf32>
// CHECK-DAG:     %[[K:.*]] = tensor.extract_slice %[[P]][0, 0, 4] [%{{.*}}, %{{.*}}, 6] [1, 1, 1]
// CHECK-DAG:     %[[V:.*]] = tensor.extract_slice %[[P]][0, 0, 10] [%{{.*}}, %{{.*}}, 4] [1, 1, 1]
// CHECK-NOT:     convbert.dense
// CHECK:         return %[[Q]], %[[K]], %[[V]]
func.func @fuse(%x: !x, %w4: tensor<4x8xf32>, %b4: tensor<4xf32>, %w6: tensor<6x8xf32>, %b6: tensor<6xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x?x6xf32>, tensor<?x?x4xf32>) {
  %q = convbert.dense %x, %w4, %b4 : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %k = convbert.dense %x, %w6, %b6 : (!x, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x6xf32>
  %v = convbert.dense %x, %w4, %b4 : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %q, %k, %v : tensor<?x?x4xf32>, tensor<?x?x6xf32>, tensor<?x?x4xf32>
}

// Weights of the other orientation are joined along their second axis; pooled rows have two axes.
// CHECK-LABEL: func.func @in_out_pooled(
// CHECK:         tensor.concat dim(1) {{.*}} -> tensor<8x10xbf16>
// CHECK:         tensor.concat dim(0)
// CHECK:         %[[P:.*]] = convbert.dense {{.*}} {layout = #convbert.layout<in_out>} {{.*}} -> tensor<?x10xbf16>
// CHECK:         tensor.extract_slice %[[P]][0, 0] [%{{.*}}, 4] [1, 1] : tensor<?x10xbf16> to tensor<?x4xbf16>
// CHECK:         tensor.extract_slice %[[P]][0, 4] [%{{.*}}, 6] [1, 1]
func.func @in_out_pooled(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>, %b: tensor<4xbf16>, %v: tensor<8x6xbf16>,
    %c: tensor<6xbf16>) -> (tensor<?x4xbf16>, tensor<?x6xbf16>) {
  %y = convbert.dense %x, %w, %b {layout = #convbert.layout<in_out>}
    : (tensor<?x8xbf16>, tensor<8x4xbf16>, tensor<4xbf16>) -> tensor<?x4xbf16>
  %z = convbert.dense %x, %v, %c {layout = #convbert.layout<in_out>}
    : (tensor<?x8xbf16>, tensor<8x6xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
  return %y, %z : tensor<?x4xbf16>, tensor<?x6xbf16>
}

// Parameters that are computed between the layers move before the first.
// CHECK-LABEL: func.func @late_parameter(
// CHECK:         %[[S:.*]] = arith.mulf
// CHECK:         tensor.concat dim(0) %{{.*}}, %[[S]]
// CHECK:         convbert.dense
// CHECK-NOT:     convbert.dense
func.func @late_parameter(%x: !x, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
  %y = convbert.dense %x, %w, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %two = arith.constant dense<2.0> : tensor<4x8xf32>
  %s = arith.mulf %w, %two : tensor<4x8xf32>
  %z = convbert.dense %x, %s, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y, %z : tensor<?x?x4xf32>, tensor<?x?x4xf32>
}

// A weight that cannot be had before the first layer: made by a call, or by one of the layers itself.
// CHECK-LABEL: func.func @parameter_from_call(
// CHECK-COUNT-2: convbert.dense {{.*}} -> tensor<?x?x4xf32>
func.func private @make() -> tensor<4x8xf32>
func.func @parameter_from_call(%x: !x, %w: tensor<4x8xf32>, %b: tensor<4xf32>)
    -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
  %y = convbert.dense %x, %w, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %s = call @make() : () -> tensor<4x8xf32>
  %z = convbert.dense %x, %s, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y, %z : tensor<?x?x4xf32>, tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @result_as_weight(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<8x8xf32>,
// CHECK:         %[[Y:.*]] = convbert.dense %[[X]]
// CHECK:         convbert.dense %[[X]], %[[Y]]
func.func @result_as_weight(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %y = convbert.dense %x, %w, %b : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %z = convbert.dense %x, %y, %b : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @second_result_as_weight(
// CHECK-COUNT-3: convbert.dense {{.*}} -> tensor<8x8xf32>
func.func @second_result_as_weight(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = convbert.dense %x, %w, %b : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %z = convbert.dense %x, %w, %b : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %t = convbert.dense %x, %z, %b : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %y, %t : tensor<8x8xf32>, tensor<8x8xf32>
}

// A part of a concatenation is computed where it belongs.
// CHECK-LABEL: func.func @for_concat(
// CHECK:         %[[Y:.*]] = convbert.dense {{.*}} -> tensor<?x?x8xf32>
// CHECK:         %[[A:.*]] = convbert.self_attention
// CHECK:         tensor.concat dim(2) %[[A]], %[[Y]]
func.func @for_concat(%x: !x, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x?x16xf32> {
  %q = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %k = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %y = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %a = convbert.self_attention %q, %k, %k {heads = 2 : i64, scale = 1.0 : f64} : (!x, !x, !x) -> !x
  %c = tensor.concat dim(2) %a, %y : (!x, !x) -> tensor<?x?x16xf32>
  return %c : tensor<?x?x16xf32>
}

// What differs in input, orientation, epilogue or bias stays apart.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT:     tensor.concat
// CHECK-COUNT-6: convbert.dense
// CHECK-NOT:     tensor.extract_slice
func.func @apart(%x: !x, %z: !x, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (!x, !x, !x, !x, !x, !x) {
  %0 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %1 = convbert.dense %z, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %2 = convbert.dense %x, %w, %b {layout = #convbert.layout<in_out>} : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %3 = convbert.dense %x, %w, %b {activation = #convbert.activation<relu>} : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %4 = convbert.dense %x, %w, %b times %z : (!x, tensor<8x8xf32>, tensor<8xf32>, !x) -> !x
  %5 = convbert.dense %x, %w : (!x, tensor<8x8xf32>) -> !x
  return %0, %1, %2, %3, %4, %5 : !x, !x, !x, !x, !x, !x
}

// Layers of one block are fused, those of another are not.
// CHECK-LABEL: func.func @blocks(
// CHECK:         convbert.dense {{.*}} -> tensor<?x?x8xf32>
// CHECK:         cf.cond_br
// CHECK:         convbert.dense {{.*}} -> tensor<?x?x16xf32>
// CHECK:         convbert.dense {{.*}} -> tensor<?x?x8xf32>
func.func @blocks(%c: i1, %x: !x, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (!x, !x, !x) {
  %0 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  cf.cond_br %c, ^then, ^else
^then:
  %1 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %2 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  return %0, %1, %2 : !x, !x, !x
^else:
  %3 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  return %0, %3, %x : !x, !x, !x
}

// Biases may be missing in one of them: it stays, the others are fused.
// CHECK-LABEL: func.func @some_without_bias(
// CHECK:         convbert.dense {{.*}} -> tensor<?x?x16xf32>
// CHECK:         convbert.dense {{.*}} -> tensor<?x?x8xf32>
func.func @some_without_bias(%x: !x, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (!x, !x, !x) {
  %0 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  %1 = convbert.dense %x, %w : (!x, tensor<8x8xf32>) -> !x
  %2 = convbert.dense %x, %w, %b : (!x, tensor<8x8xf32>, tensor<8xf32>) -> !x
  return %0, %1, %2 : !x, !x, !x
}

// What is put beside other features is computed there.
// CHECK-LABEL: func.func @joined(
// CHECK:         %[[P:.*]] = convbert.dense {{.*}} -> tensor<?x?x8xf32>
// CHECK:         %[[V:.*]] = convbert.dense {{.*}} -> tensor<?x?x4xf32>
// CHECK:         tensor.concat dim(2) %{{.*}}, %[[V]]
func.func @joined(%x: !x, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<?x?x8xf32> {
  %q = convbert.dense %x, %w, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %k = convbert.dense %x, %w, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %v = convbert.dense %x, %w, %b : (!x, tensor<4x8xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %c = convbert.self_attention %q, %k, %k {heads = 2 : i64, scale = 1.0 : f64}
    : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %y = tensor.concat dim(2) %c, %v : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
