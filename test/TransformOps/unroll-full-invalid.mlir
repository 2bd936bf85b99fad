// RUN: convbert-opt %s --transform-interpreter --split-input-file --verify-diagnostics

func.func @dynamic(%m: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{this loop}}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  %loop = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{requires a constant trip count, but found bounds that are not constant}}
  transform.convbert.unroll_full %loop : !transform.any_op
  transform.yield
}
}

// -----

// expected-note @below {{this operation}}
func.func @not_a_loop() {
  return
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{requires `scf.for`, but found `func.func`}}
  transform.convbert.unroll_full %f : !transform.any_op
  transform.yield
}
}
