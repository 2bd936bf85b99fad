// RUN: convbert-opt %s -split-input-file -verify-diagnostics

// Pools and gates: constraints on several operands.

// POOL-C1
func.func @pool_kind(%x: tensor<2x5x8xf32>, %m: tensor<2x5xi1>) {
  // expected-error @below {{requires `kind = mean` for a mask, but found `last`}}
  %y = convbert.pool %x mask(%m) {kind = #convbert.pool<last>}
    : (tensor<2x5x8xf32>, tensor<2x5xi1>) -> tensor<2x8xf32>
  return
}

// -----

// POOL-C2
func.func @pool_mask(%x: tensor<2x5x8xf32>, %m: tensor<2x6xi1>) {
  // expected-error @below {{requires the length of `mask` to be 5, but found 6}}
  %y = convbert.pool %x mask(%m) {kind = #convbert.pool<mean>}
    : (tensor<2x5x8xf32>, tensor<2x6xi1>) -> tensor<2x8xf32>
  return
}

// -----

// SCALE_CHANNELS-C1
func.func @gate_batch(%x: tensor<2x5x8xf32>, %g: tensor<3x8xf32>) {
  // expected-error @below {{requires the batch of `gate` to be 2, but found 3}}
  %y = convbert.scale_channels %x, %g
    : (tensor<2x5x8xf32>, tensor<3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SCALE_CHANNELS-C1
func.func @gate_channels(%x: tensor<2x5x8xf32>, %g: tensor<2x4xf32>) {
  // expected-error @below {{requires the channels of `gate` to be 8, but found 4}}
  %y = convbert.scale_channels %x, %g
    : (tensor<2x5x8xf32>, tensor<2x4xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECT_BRANCHES-C1
func.func @no_branch() {
  // expected-error @below {{requires at least one branch, but found none}}
  // expected-error @below {{failed to infer returned types}}
  %y = convbert.select_branches  by()
    : () -> tensor<2x5x8xf32>
  return
}

// -----

// SELECT_BRANCHES-C2
func.func @branch(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x6xf32>, %l0: tensor<2x8xf32>, %l1: tensor<2x8xf32>) {
  // expected-error @below {{requires `branches[1]` to have the shape of 'tensor<2x5x8xf32>', but found 'tensor<2x5x6xf32>'}}
  %y = convbert.select_branches %u0, %u1 by(%l0, %l1)
    : (tensor<2x5x8xf32>, tensor<2x5x6xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECT_BRANCHES-C3
func.func @logits(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %l0: tensor<2x8xf32>) {
  // expected-error @below {{requires as many logits as branches, 2, but found 1}}
  %y = convbert.select_branches %u0, %u1 by(%l0)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECT_BRANCHES-C3
func.func @logits_batch(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %l0: tensor<2x8xf32>, %l1: tensor<3x8xf32>) {
  // expected-error @below {{requires the batch of `logits[1]` to be 2, but found 3}}
  %y = convbert.select_branches %u0, %u1 by(%l0, %l1)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECT_BRANCHES-C3
func.func @logits_channels(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %l0: tensor<2x6xf32>, %l1: tensor<2x8xf32>) {
  // expected-error @below {{requires the channels of `logits[0]` to be 8, but found 6}}
  %y = convbert.select_branches %u0, %u1 by(%l0, %l1)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x6xf32>, tensor<2x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C1
func.func @w1(%x: tensor<2x5x8xf32>, %w1: tensor<3x7xf32>, %w2: tensor<8x3xf32>) {
  // expected-error @below {{requires the input features of `w1` to be 8, but found 7}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x7xf32>, tensor<8x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C1
func.func @b1(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %b1: tensor<8xf32>, %w2: tensor<8x3xf32>) {
  // expected-error @below {{requires the size of `b1` to be 3, but found 8}}
  %y = convbert.squeeze_excite %x squeeze(%w1, %b1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8xf32>, tensor<8x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C2
func.func @w2_input(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %w2: tensor<8x4xf32>) {
  // expected-error @below {{requires the input features of `w2` to be 3, but found 4}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C2
func.func @w2_output(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %w2: tensor<9x3xf32>) {
  // expected-error @below {{requires the output features of `w2` to be 8, but found 9}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<9x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C2
func.func @b2(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %w2: tensor<8x3xf32>, %b2: tensor<3xf32>) {
  // expected-error @below {{requires the size of `b2` to be 8, but found 3}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2, %b2) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C3
func.func @mask(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %w2: tensor<8x3xf32>, %m: tensor<1x5xi1>) {
  // expected-error @below {{requires the batch of `mask` to be 2, but found 1}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) mask(%m) {gate = #convbert.activation<sigmoid>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8x3xf32>, tensor<1x5xi1>) -> tensor<2x5x8xf32>
  return
}

// -----

// SQUEEZE_EXCITE-C4
func.func @gate(%x: tensor<2x5x8xf32>, %w1: tensor<3x8xf32>, %w2: tensor<8x3xf32>) {
  // expected-error @below {{requires a `gate` of sigmoid or hard_sigmoid, but found gelu}}
  %y = convbert.squeeze_excite %x squeeze(%w1) excite(%w2) {gate = #convbert.activation<gelu>}
    : (tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8x3xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C1
func.func @no_branches(%wz: tensor<3x8xf32>, %a: tensor<2x3x8xf32>) {
  // expected-error @below {{requires at least one branch, but found none}}
  // expected-error @below {{failed to infer returned types}}
  %y = convbert.selective_kernel  squeeze(%wz) select(%a)
    : (tensor<3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C2
func.func @branches(%u0: tensor<2x5x8xf32>, %u1: tensor<2x4x8xf32>, %wz: tensor<3x8xf32>, %a: tensor<2x3x8xf32>) {
  // expected-error @below {{requires `branches[1]` to have the shape of 'tensor<2x5x8xf32>', but found 'tensor<2x4x8xf32>'}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x4x8xf32>, tensor<3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C3
func.func @wz(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x6xf32>, %a: tensor<2x3x8xf32>) {
  // expected-error @below {{requires the input features of `wz` to be 8, but found 6}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x6xf32>, tensor<2x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C3
func.func @scale(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x8xf32>,
                 %s: tensor<8xf32>, %a: tensor<2x3x8xf32>) {
  // expected-error @below {{requires the size of `scale` to be 3, but found 8}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) scale(%s) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C3
func.func @shift(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x8xf32>,
                 %t: tensor<8xf32>, %a: tensor<2x3x8xf32>) {
  // expected-error @below {{requires the size of `shift` to be 3, but found 8}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) shift(%t) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<8xf32>, tensor<2x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C4
func.func @a_branches(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x8xf32>, %a: tensor<3x3x8xf32>) {
  // expected-error @below {{requires the branches of `a` to be 2, but found 3}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<3x3x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C4
func.func @a_input(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x8xf32>, %a: tensor<2x4x8xf32>) {
  // expected-error @below {{requires the input features of `a` to be 3, but found 4}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<2x4x8xf32>) -> tensor<2x5x8xf32>
  return
}

// -----

// SELECTIVE_KERNEL-C4
func.func @a_output(%u0: tensor<2x5x8xf32>, %u1: tensor<2x5x8xf32>, %wz: tensor<3x8xf32>, %a: tensor<2x3x6xf32>) {
  // expected-error @below {{requires the output features of `a` to be 8, but found 6}}
  %y = convbert.selective_kernel %u0, %u1 squeeze(%wz) select(%a)
    : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x8xf32>, tensor<2x3x6xf32>) -> tensor<2x5x8xf32>
  return
}
