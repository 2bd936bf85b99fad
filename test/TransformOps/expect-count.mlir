// RUN: convbert-opt %s --verify-roundtrip | FileCheck %s
// RUN: convbert-opt %s --transform-interpreter --verify-diagnostics

// The remarks show that the sequence ran to its end.
// expected-remark @below {{2}}
func.func private @a()
// expected-remark @below {{2}}
func.func private @b()
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  // CHECK: transform.convbert.expect_count %{{.*}}, 2 "functions" : !transform.any_op
  transform.convbert.expect_count %f, 2 "functions" : !transform.any_op
  // CHECK: transform.convbert.expect_count %{{.*}}, 1 to 2 "functions" : !transform.any_op
  transform.convbert.expect_count %f, 1 to 2 "functions" : !transform.any_op
  %none = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.convbert.expect_count %none, 0 "loops" : !transform.any_op
  %n = transform.num_associations %f : (!transform.any_op) -> !transform.param<i64>
  transform.debug.emit_param_as_remark %n at %f : !transform.param<i64>, !transform.any_op
  transform.yield
}
}
