// RUN: convbert-opt %s --convbert-print-cost="batch=2 length=3" -o /dev/null 2>&1 | FileCheck %s

// Every call counts; private functions have no line of their own, and pooled activations have one token a sequence.

// CHECK:      parameters: 32
// CHECK-NEXT: @caller, batch 2, length 3: 400 MACs, 936 bytes
// CHECK-NEXT:   convbert.dense 3   400 936
// CHECK-NOT:  @callee
ml_program.global private @w(#ml_program.extern : tensor<4x8xf32>) : tensor<4x8xf32>

func.func private @callee(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x?x4xf32> {
  %y = convbert.dense %x, %w : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

func.func @caller(%x: tensor<?x?x8xf32>, %p: tensor<?x8xf32>, %v: tensor<1x8xf32>) -> (tensor<?x?x4xf32>, tensor<?x1xf32>) {
  %w = ml_program.global_load_const @w : tensor<4x8xf32>
  %0 = call @callee(%x, %w) : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  %1 = call @callee(%x, %w) : (tensor<?x?x8xf32>, tensor<4x8xf32>) -> tensor<?x?x4xf32>
  %2 = convbert.dense %p, %v : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x1xf32>
  return %1, %2 : tensor<?x?x4xf32>, tensor<?x1xf32>
}
