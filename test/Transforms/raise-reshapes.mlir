// Reshapes that undo each other go once something was raised, on both sides of the guard.
// RUN: convbert-opt %s --convbert-raise --split-input-file | FileCheck %s

// Batch, tokens and heads are joined and taken apart again into what they were: the extents of a result are those of
// the operand that it has them from.
// CHECK-LABEL: func.func @undone(
// CHECK:         %[[Y:.*]] = convbert.depthwise_conv1d
// CHECK-NOT:     shape
// CHECK:         return %[[Y]] : tensor<?x?x6xf32>
func.func @undone(%x: tensor<?x?x6xf32>, %w: tensor<1x6xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x6xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<?x?x6xf32>, tensor<1x6xf32>) outs(%fill : tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %by = tensor.dim %y, %c0 : tensor<?x?x6xf32>
  %ty = tensor.dim %y, %c1 : tensor<?x?x6xf32>
  %heads = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%by, %ty, 3, 2] : tensor<?x?x6xf32> into tensor<?x?x3x2xf32>
  %rows = tensor.collapse_shape %heads [[0, 1, 2], [3]] : tensor<?x?x3x2xf32> into tensor<?x2xf32>
  %apart = tensor.expand_shape %rows [[0, 1, 2], [3]] output_shape [%b, %t, 3, 2] : tensor<?x2xf32> into tensor<?x?x3x2xf32>
  %z = tensor.collapse_shape %apart [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  return %z : tensor<?x?x6xf32>
}

// -----

// Tokens become sequences; nobody knows what an argument says; heads in front of tokens.  What is undone is not there.
// CHECK-LABEL: func.func @others(
// CHECK:         %[[H:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         %[[S:.*]] = tensor.expand_shape
// CHECK:         %[[G:.*]] = tensor.expand_shape
// CHECK:         %[[O:.*]] = tensor.expand_shape
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return %[[S]], %[[G]], %[[O]], %[[H]]
func.func @others(%x: tensor<?x?x6xf32>, %w: tensor<1x6xf32>, %n: index)
    -> (tensor<?x?x3x2xf32>, tensor<?x?x3x2xf32>, tensor<?x3x?x2xf32>, tensor<?x?x3x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %m = arith.divui %n, %c6 : index
  %e = tensor.empty(%b, %t) : tensor<?x?x6xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%x, %w : tensor<?x?x6xf32>, tensor<1x6xf32>) outs(%fill : tensor<?x?x6xf32>) -> tensor<?x?x6xf32>
  %heads = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [%b, %t, 3, 2] : tensor<?x?x6xf32> into tensor<?x?x3x2xf32>
  %rows = tensor.collapse_shape %heads [[0, 1, 2], [3]] : tensor<?x?x3x2xf32> into tensor<?x2xf32>
  %swapped = tensor.expand_shape %rows [[0, 1, 2], [3]] output_shape [%t, %b, 3, 2] : tensor<?x2xf32> into tensor<?x?x3x2xf32>
  %given = tensor.expand_shape %rows [[0, 1, 2], [3]] output_shape [%n, %m, 3, 2] : tensor<?x2xf32> into tensor<?x?x3x2xf32>
  %turned = tensor.expand_shape %rows [[0, 1, 2], [3]] output_shape [%b, %t, 3, 2] : tensor<?x2xf32> into tensor<?x?x3x2xf32>
  %one = tensor.expand_shape %rows [[0, 1, 2], [3]] output_shape [%b, 3, %t, 2] : tensor<?x2xf32> into tensor<?x3x?x2xf32>
  return %swapped, %given, %one, %turned : tensor<?x?x3x2xf32>, tensor<?x?x3x2xf32>, tensor<?x3x?x2xf32>, tensor<?x?x3x2xf32>
}
