// RUN: convbert-opt %s --transform-interpreter --split-input-file --verify-diagnostics

func.func private @a()
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %h = transform.structured.match attributes {epi} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{requires 1 of: epilogue tagged `epi`, but found 0}}
  transform.convbert.expect_count %h, 1 "epilogue tagged `epi`" : !transform.any_op
  transform.yield
}
}

// -----

// expected-note @below {{found `func.func`}}
func.func private @a()
// expected-note @below {{found `func.func`}}
func.func private @b()
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %h = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{requires 0 to 1 of: functions, but found 2}}
  transform.convbert.expect_count %h, 0 to 1 "functions" : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  // expected-error @below {{attribute 'count' failed to satisfy constraint}}
  transform.convbert.expect_count %root, -1 "functions" : !transform.any_op
  transform.yield
}
}
