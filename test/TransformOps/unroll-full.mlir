// RUN: convbert-opt %s --transform-interpreter --canonicalize --split-input-file | FileCheck %s

// A nest, inner loop first: three times four copies and no loop.
// CHECK-LABEL: func.func @nest
// CHECK-NOT:     scf.for
// CHECK-COUNT-12: memref.store
// CHECK-NOT:     memref.store
// CHECK:         return
func.func @nest(%m: memref<3x4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %x, %m[%i, %j] : memref<3x4xf32>
    } {inner}
  } {outer}
  return
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  %inner = transform.structured.match attributes {inner} in %root : (!transform.any_op) -> !transform.any_op
  transform.convbert.unroll_full %inner : !transform.any_op
  %outer = transform.structured.match attributes {outer} in %root : (!transform.any_op) -> !transform.any_op
  transform.convbert.unroll_full %outer : !transform.any_op
  transform.yield
}
}

// -----

// Carried values pass from copy to copy; a step that does not divide the range still counts; one and no iteration.
// CHECK-LABEL: func.func @trip_counts
// CHECK-NOT:     scf.for
// CHECK-COUNT-3: math.absf
// CHECK:         math.sqrt
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @trip_counts(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %three = scf.for %i = %c0 to %c5 step %c2 iter_args(%v = %x) -> (f32) {
    %n = arith.negf %v : f32
    %a = math.absf %n : f32
    scf.yield %a : f32
  }
  %one = scf.for %i = %c0 to %c1 step %c2 iter_args(%v = %three) -> (f32) {
    %a = math.sqrt %v : f32
    scf.yield %a : f32
  }
  %none = scf.for %i = %c1 to %c1 step %c1 iter_args(%v = %one) -> (f32) {
    %a = math.exp %v : f32
    scf.yield %a : f32
  }
  return %none : f32
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op) {
  %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.convbert.unroll_full %loops : !transform.any_op
  transform.yield
}
}
