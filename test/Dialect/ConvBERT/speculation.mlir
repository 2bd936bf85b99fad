// RUN: convbert-opt %s --loop-invariant-code-motion | FileCheck %s

// An operation may move to where the program might not run it; not so a look-up, whose ids may be none of the table's.
// CHECK-LABEL: func.func @loop(
// CHECK:         convbert.dense
// CHECK:         scf.for
// CHECK:           convbert.embeddings
func.func @loop(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %ids: tensor<?x?xi64>, %t: tensor<9x8xf32>,
                %g: tensor<8xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %e = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %g) {eps = 0.0 : f64}
      : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>,
         tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
    %y = convbert.dense %x, %w : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
    func.call @use(%e, %y) : (tensor<?x?x8xf32>, tensor<?x4xf32>) -> ()
  }
  return
}
func.func private @use(tensor<?x?x8xf32>, tensor<?x4xf32>)
