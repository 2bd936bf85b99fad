// Chains that rest on parameters alone move to the callers, until they rest on globals.
// RUN: convbert-opt %s --convbert-hoist-parameters --split-input-file | FileCheck %s


ml_program.global private @q(#ml_program.extern : tensor<4x4xf32>) : tensor<4x4xf32>
ml_program.global private @k(#ml_program.extern : tensor<4x4xf32>) : tensor<4x4xf32>

// The callee stands before its caller, and they are a chain of two.
// CHECK-LABEL: func.func private @inner(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<8x4xf32>) -> tensor<?x?x8xf32> {
// CHECK-NEXT:    convbert.dense %[[X]], %[[W]]
func.func private @inner(%x: tensor<?x?x4xf32>, %q: tensor<4x4xf32>, %k: tensor<4x4xf32>) -> tensor<?x?x8xf32> {
  %w = tensor.concat dim(0) %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = convbert.dense %x, %w : (tensor<?x?x4xf32>, tensor<8x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func private @outer(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<8x4xf32>) -> tensor<?x?x8xf32> {
// CHECK-NEXT:    call @inner(%[[X]], %[[W]])
func.func private @outer(%x: tensor<?x?x4xf32>, %q: tensor<4x4xf32>, %k: tensor<4x4xf32>) -> tensor<?x?x8xf32> {
  %y = call @inner(%x, %q, %k) : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>
// CHECK-DAG:     %[[Q:.*]] = ml_program.global_load_const @q
// CHECK-DAG:     %[[K:.*]] = ml_program.global_load_const @k
// CHECK:         %[[QK:.*]] = tensor.concat dim(0) %[[Q]], %[[K]]
// CHECK-NEXT:    call @outer(%[[X]], %[[QK]])
// CHECK-NEXT:    %[[KQ:.*]] = tensor.concat dim(0) %[[K]], %[[Q]]
// CHECK-NEXT:    call @outer(%[[X]], %[[KQ]])
func.func @forward(%x: tensor<?x?x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %q = ml_program.global_load_const @q : tensor<4x4xf32>
  %k = ml_program.global_load_const @k : tensor<4x4xf32>
  %y = call @outer(%x, %q, %k) : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  %z = call @outer(%x, %k, %q) : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// -----

// Constants, empty tensors and values that regions use go along; arguments that are still used stay, and so do the
// attributes of the arguments that are left.
ml_program.global private @w(#ml_program.extern : tensor<3x4xf32>) : tensor<3x4xf32>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32> {convbert.name = "x"}, %[[W:[a-z0-9]*]]: tensor<3x4xf32>, %[[T:[a-z0-9]*]]: tensor<4x8xf32>)
// CHECK:         convbert.dense %[[X]], %[[W]]
// CHECK-NEXT:    convbert.dense %[[X]], %[[T]] {layout = #convbert.layout<in_out>}
func.func private @layer(%x: tensor<?x?x4xf32> {convbert.name = "x"}, %w: tensor<3x4xf32>)
    -> (tensor<?x?x3xf32>, tensor<?x?x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %w low[0, 0] high[5, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<8x4xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %t = linalg.transpose ins(%padded : tensor<8x4xf32>) outs(%empty : tensor<4x8xf32>) permutation = [1, 0]
  %y = convbert.dense %x, %w : (tensor<?x?x4xf32>, tensor<3x4xf32>) -> tensor<?x?x3xf32>
  %z = convbert.dense %x, %t {layout = #convbert.layout<in_out>} : (tensor<?x?x4xf32>, tensor<4x8xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x3xf32>, tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK:         %[[P:.*]] = tensor.pad %[[W]]
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[P]]
// CHECK:         call @layer(%{{.*}}, %[[W]], %[[T]])
func.func @forward(%x: tensor<?x?x4xf32>) -> (tensor<?x?x3xf32>, tensor<?x?x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<3x4xf32>
  %y:2 = call @layer(%x, %w) : (tensor<?x?x4xf32>, tensor<3x4xf32>) -> (tensor<?x?x3xf32>, tensor<?x?x8xf32>)
  return %y#0, %y#1 : tensor<?x?x3xf32>, tensor<?x?x8xf32>
}

// -----

// Callers in a diamond: @b is called by @forward before @a calls it, and is visited behind @a all the same.
ml_program.global private @w(#ml_program.extern : tensor<4x4xf32>) : tensor<4x4xf32>

// CHECK-LABEL: func.func private @b(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<8x4xf32>)
func.func private @b(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x?x8xf32> {
  %d = tensor.concat dim(0) %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = convbert.dense %x, %d : (tensor<?x?x4xf32>, tensor<8x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func private @a(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<8x4xf32>)
// CHECK-NEXT:    call @b(%[[X]], %[[W]])
func.func private @a(%x: tensor<?x?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x?x8xf32> {
  %y = call @b(%x, %w) : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK-COUNT-2: tensor.concat
func.func @forward(%x: tensor<?x?x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %w = ml_program.global_load_const @w : tensor<4x4xf32>
  %y = call @b(%x, %w) : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  %z = call @a(%x, %w) : (tensor<?x?x4xf32>, tensor<4x4xf32>) -> tensor<?x?x8xf32>
  return %y, %z : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// -----

// Callers with different constants; a constant that stands for a packed parameter (zeros for a missing bias).
ml_program.global private @w(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<1x4xf32>, %[[Z:[a-z0-9]*]]: tensor<1x4xf32>)
// CHECK-DAG:     convbert.weight_view %[[W]]
// CHECK-DAG:     convbert.weight_view %[[Z]]
func.func private @layer(%x: tensor<?x?x4xf32>, %w: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %e = tensor.expand_shape %w [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x4xf32>
  %g = convbert.weight_view %e : (tensor<1x4xf32>) -> tensor<4xf32>
  %b = convbert.weight_view %zeros : (tensor<1x4xf32>) -> tensor<4xf32>
  %y = convbert.layer_norm %x, %g, %b {eps = 1.0e-12 : f64} : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK-DAG:     %[[TWOS:.*]] = arith.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-DAG:     %[[FOURS:.*]] = arith.constant dense<4.000000e+00> : tensor<4xf32>
// CHECK:         tensor.expand_shape %[[TWOS]]
// CHECK:         arith.constant dense<0.000000e+00> : tensor<1x4xf32>
// CHECK:         call @layer
// CHECK:         tensor.expand_shape %[[FOURS]]
// CHECK:         call @layer
// CHECK:         %[[L:.*]] = ml_program.global_load_const @w
// CHECK:         tensor.expand_shape %[[L]]
// CHECK:         call @layer
func.func @forward(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %twos = arith.constant dense<2.0> : tensor<4xf32>
  %fours = arith.constant dense<4.0> : tensor<4xf32>
  %y = call @layer(%x, %twos) : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %z = call @layer(%y, %fours) : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %r = call @layer(%z, %w) : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

// A load inside a private function is a parameter there; what rests on it moves with the load.
ml_program.global private @w(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME:    %{{.*}}: tensor<?x?x4xf32>, %[[W:[a-z0-9]*]]: tensor<4xf32>)
// CHECK:         convbert.layer_norm %{{.*}}, %[[W]], %[[W]]
func.func private @layer(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = arith.mulf %w, %two : tensor<4xf32>
  %y = convbert.layer_norm %x, %s, %s {eps = 1.0e-12 : f64} : (tensor<?x?x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         %[[W:.*]] = ml_program.global_load_const @w
// CHECK:         %[[S:.*]] = arith.mulf %[[W]]
// CHECK:         call @layer(%{{.*}}, %[[S]])
func.func @forward(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %y = call @layer(%x) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// What is not known to be a parameter stays: one caller passes an activation; a function that is referenced otherwise
// has unknown callers, and does not keep others from being treated.
ml_program.global private @w(#ml_program.extern : tensor<4x4xf32>) : tensor<4x4xf32>

// CHECK-LABEL: func.func private @activation(
// CHECK:         tensor.concat
func.func private @activation(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %d = tensor.concat dim(0) %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}

// CHECK-LABEL: func.func private @referenced(
// CHECK-SAME:    tensor<4x4xf32>)
// CHECK:         tensor.concat
func.func private @referenced(%w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %d = tensor.concat dim(0) %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}

// CHECK-LABEL: func.func private @treated(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<8x4xf32>)
// CHECK-NEXT:    return %[[W]]
func.func private @treated(%w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %d = tensor.concat dim(0) %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}

func.func private @declared(tensor<4x4xf32>) -> tensor<8x4xf32>

// Nobody calls this one.
// CHECK-LABEL: func.func private @unused(
// CHECK:         tensor.concat
func.func private @unused() -> tensor<8x4xf32> {
  %w = ml_program.global_load_const @w : tensor<4x4xf32>
  %d = tensor.concat dim(0) %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %d : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @forward(
// CHECK:         call @declared(%{{.*}}) : (tensor<4x4xf32>)
func.func @forward(%x: tensor<4x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, (tensor<4x4xf32>) -> tensor<8x4xf32>) {
  %w = ml_program.global_load_const @w : tensor<4x4xf32>
  %f = func.constant @referenced : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %0 = call @activation(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = call @referenced(%w) : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %2 = call @treated(%w) : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = call @declared(%w) : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return %0, %1, %2, %3, %f
    : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, (tensor<4x4xf32>) -> tensor<8x4xf32>
}

// -----

// A function that returns a parameter or branches on nothing else keeps its terminators.
ml_program.global private @w(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// CHECK-LABEL: func.func private @returned(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[W]]
func.func private @returned(%w: tensor<4xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func private @branch(
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<4xf32>)
// CHECK:         cf.br ^[[END:[a-z0-9]*]](%[[S]] : tensor<4xf32>)
// CHECK-NEXT:  ^[[END]](%[[A:[a-z0-9]*]]: tensor<4xf32>):
// CHECK-NEXT:    arith.addf %[[A]], %[[S]]
func.func private @branch(%w: tensor<4xf32>) -> tensor<4xf32> {
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %s = arith.mulf %w, %two : tensor<4xf32>
  cf.br ^end(%s : tensor<4xf32>)
^end(%a: tensor<4xf32>):
  %t = arith.addf %a, %s : tensor<4xf32>
  return %t : tensor<4xf32>
}

// Functions that call each other in a circle, or themselves, are left alone where a parameter goes round with them.
// CHECK-LABEL: func.func private @circle(
// CHECK-SAME:    %[[W:[a-z0-9]*]]: tensor<4xf32>)
// CHECK:         arith.addf %[[W]], %[[W]]
// CHECK:         call @circle(%[[W]])
func.func private @circle(%w: tensor<4xf32>) -> tensor<4xf32> {
  %s = arith.addf %w, %w : tensor<4xf32>
  %r = call @circle(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %t = arith.addf %s, %r : tensor<4xf32>
  return %t : tensor<4xf32>
}

// CHECK-LABEL: func.func @forward(
func.func @forward() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w = ml_program.global_load_const @w : tensor<4xf32>
  %0 = call @returned(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @branch(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = call @circle(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
