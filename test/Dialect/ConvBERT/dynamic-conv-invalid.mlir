// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Dynamic convolution: constraints on several operands.

// DYNAMIC_KERNEL-C1
func.func @dynamic_kernel_no_heads(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires a positive number of heads, but found 0}}
  // expected-error @below {{failed to infer returned types}}
  %k = convbert.dynamic_kernel %q, %w, %b {heads = 0 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C1
func.func @dynamic_kernel_negative_heads(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires a positive number of heads, but found -2}}
  // expected-error @below {{failed to infer returned types}}
  %k = convbert.dynamic_kernel %q, %w, %b {heads = -2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C1
func.func @dynamic_kernel_heads(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the output features of `weight` to be a multiple of the 4 heads, but found 6}}
  // expected-error @below {{failed to infer returned types}}
  %k = convbert.dynamic_kernel %q, %w, %b {heads = 4 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C2
func.func @dynamic_kernel_input(%q: tensor<?x?x8xf32>, %w: tensor<6x7xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %k = convbert.dynamic_kernel %q, %w, %b {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x7xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C3
func.func @dynamic_kernel_bias(%q: tensor<?x?x8xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{requires the size of `bias` to be 6, but found 8}}
  %k = convbert.dynamic_kernel %q, %w, %b {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<8xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// APPLY_KERNEL-C1
func.func @apply_kernel_batch(%v: tensor<2x5x8xf32>, %t: tensor<3x5x2x3xf32>) {
  // expected-error @below {{requires the batch of `taps` to be 2, but found 3}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<3x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// APPLY_KERNEL-C5
func.func @apply_kernel_with_taps(%v: tensor<2x5x8xf32>, %t: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `with_taps`, but found `none`}}
  %y, %k = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>, with_taps}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>)
  return
}

// -----

// APPLY_KERNEL-C1
func.func @apply_kernel_length(%v: tensor<2x5x8xf32>, %t: tensor<2x4x2x3xf32>) {
  // expected-error @below {{requires the length of `taps` to be 5, but found 4}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x4x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// APPLY_KERNEL-C2
func.func @apply_kernel_heads(%v: tensor<2x5x8xf32>, %t: tensor<2x5x3x3xf32>) {
  // expected-error @below {{requires the features of `v` to be a multiple of the 3 heads, but found 8}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x5x3x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// APPLY_KERNEL-C3
func.func @apply_kernel_pads(%v: tensor<2x5x8xf32>, %t: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [2, 2]}}
  %y = convbert.apply_kernel %v, %t {pads = array<i64: 2, 2>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C1
func.func @span_key(
    %q: tensor<2x5x8xf32>, %k: tensor<2x?x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires `span_key` to have the type of `q`, 'tensor<2x5x8xf32>', but found 'tensor<2x?x8xf32>'}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x?x8xf32>, tensor<2x5x4xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C2
func.func @span_v_length(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x6x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the length of `v` to be 5, but found 6}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x6x4xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C3
func.func @span_negative_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires a positive number of heads, but found -1}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = -1 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C3
func.func @span_v_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x3xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the features of `v` to be a multiple of the 2 heads, but found 3}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x3xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C3
func.func @span_weight_heads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the output features of `weight` to be a multiple of the 4 heads, but found 6}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 4 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C4
func.func @span_weight_input(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x7xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires the input features of `weight` to be 8, but found 7}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<6x7xf32>, tensor<6xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C5
func.func @span_bias(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x8xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{requires the size of `bias` to be 6, but found 2}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<6x8xf32>, tensor<2xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C6
func.func @span_pads(
    %q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x4xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [2, 2]}}
  %y = convbert.span_dynamic_conv %q, %k, %v, %w, %b {heads = 2 : i64, pads = array<i64: 2, 2>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<2x5x4xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C4
func.func @dynamic_kernel_span_key(%q: tensor<?x?x8xf32>, %s: tensor<?x?x6xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `span_key` to have the shape of 'tensor<?x?x8xf32>', but found 'tensor<?x?x6xf32>'}}
  %k = convbert.dynamic_kernel %q, %w span(%s) {heads = 2 : i64, normalize = #convbert.norm<softmax>}
    : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<?x?x6xf32>) -> tensor<?x?x2x3xf32>
  return
}

// -----

// APPLY_KERNEL-C4
func.func @apply_kernel_mask(%v: tensor<2x5x8xf32>, %t: tensor<2x5x2x3xf32>, %m: tensor<3x5xi1>) {
  // expected-error @below {{requires the batch of `mask` to be 2, but found 3}}
  %y = convbert.apply_kernel %v, %t mask(%m) {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>, tensor<3x5xi1>) -> tensor<2x5x8xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C7
func.func @span_dynamic_conv_mask(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %m: tensor<2x6xi1>) {
  // expected-error @below {{requires the length of `mask` to be 5, but found 6}}
  %y = convbert.span_dynamic_conv %q, %q, %q, %w mask(%m) {heads = 2 : i64, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<6x8xf32>, tensor<2x6xi1>) -> tensor<2x5x8xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C5
func.func @dynamic_kernel_pads_alone(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `edge = renorm` for `pads` and `dilation`, but found `zero`}}
  %k = convbert.dynamic_kernel %q, %w
    {heads = 2 : i64, normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C5
func.func @dynamic_kernel_dilation_alone(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `edge = renorm` for `pads` and `dilation`, but found `zero`}}
  %k = convbert.dynamic_kernel %q, %w
    {heads = 2 : i64, normalize = #convbert.norm<softmax>, dilation = 2 : i64}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C5
func.func @dynamic_kernel_no_pads(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `pads` for `edge = renorm`, but found none}}
  %k = convbert.dynamic_kernel %q, %w
    {heads = 2 : i64, normalize = #convbert.norm<softmax>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C6
func.func @dynamic_kernel_pads(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 2), but found [2, 2]}}
  %k = convbert.dynamic_kernel %q, %w
    {heads = 2 : i64, normalize = #convbert.norm<softmax>, pads = array<i64: 2, 2>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x2x3xf32>
  return
}

// -----

// DYNAMIC_KERNEL-C6
func.func @dynamic_kernel_renorm(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `edge = renorm`, but found `none`}}
  %k = convbert.dynamic_kernel %q, %w
    {heads = 2 : i64, normalize = #convbert.norm<none>, pads = array<i64: 1, 1>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x2x3xf32>
  return
}

// -----

// APPLY_KERNEL-C6
func.func @apply_kernel_renorm(%v: tensor<2x5x8xf32>, %t: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires `normalize = softmax` for `edge = renorm`, but found `none`}}
  %y = convbert.apply_kernel %v, %t
    {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// APPLY_KERNEL-C3
func.func @apply_kernel_dilation(%v: tensor<2x5x8xf32>, %t: tensor<2x5x2x3xf32>) {
  // expected-error @below {{requires pads that keep the number of tokens (low + high = 6), but found [1, 1]}}
  %y = convbert.apply_kernel %v, %t
    {pads = array<i64: 1, 1>, normalize = #convbert.norm<none>, dilation = 3 : i64}
    : (tensor<2x5x8xf32>, tensor<2x5x2x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SPAN_DYNAMIC_CONV-C8
func.func @span_renorm(%q: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) {
  // expected-error @below {{requires a low pad that is a multiple of the dilation, 2, for `edge = renorm`, but found 3}}
  %y = convbert.span_dynamic_conv %q, %q, %q, %w
    {heads = 2 : i64, pads = array<i64: 3, 1>, dilation = 2 : i64, edge = #convbert.edge<renorm>}
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<6x8xf32>) -> tensor<2x5x8xf32>
  return
}
