// RUN: convbert-opt %s --convbert-raise --canonicalize --split-input-file | FileCheck %s

// The dynamic convolution as one contraction over windows of a padded tensor, softmax included.

// CHECK-LABEL: func.func @window(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<1x4x6xf32>, %[[L:[a-z0-9]+]]: tensor<1x4x2x3xf32>)
// CHECK-NEXT:    %[[O:.*]] = convbert.apply_kernel %[[U]], %[[L]] {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>}
// CHECK-NEXT:    return %[[O]]
func.func @window(%u: tensor<1x4x6xf32>, %l: tensor<1x4x2x3xf32>) -> tensor<1x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x2x3xf32>
  %a = linalg.softmax dimension(3) ins(%l : tensor<1x4x2x3xf32>) outs(%e : tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  %heads = tensor.expand_shape %u [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %p = tensor.pad %heads low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x4x2x3xf32> to tensor<1x6x2x3xf32>
  %init = tensor.empty() : tensor<1x4x2x3xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  %o = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, c, j) -> (b, t + j, h, c)>, affine_map<(b, t, h, c, j) -> (b, t, h, j)>, affine_map<(b, t, h, c, j) -> (b, t, h, c)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%p, %a : tensor<1x6x2x3xf32>, tensor<1x4x2x3xf32>) outs(%fill : tensor<1x4x2x3xf32>) {
  ^bb0(%x: f32, %w: f32, %acc: f32):
    %m = arith.mulf %x, %w : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<1x4x2x3xf32>
  %y = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<1x4x2x3xf32> into tensor<1x4x6xf32>
  return %y : tensor<1x4x6xf32>
}

// -----

// An unfold is a copy of windows: the contraction reads through it.  Batch and length are free, every other channel
// belongs to a head, taps lie two tokens apart, and the softmax is in pieces.

#all = affine_map<(b, t, h, j) -> (b, t, h, j)>
#row = affine_map<(b, t, h, j) -> (b, t, h)>
// CHECK-LABEL: func.func @unfold(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<?x?x3x2xf32>, %[[L:[a-z0-9]+]]: tensor<?x?x2x3xf32>)
// CHECK:         %[[V:.*]] = tensor.collapse_shape %[[U]] {{\[\[}}0], [1], [2, 3]]
// CHECK:         convbert.apply_kernel %[[V]], %[[L]] {dilation = 2 : i64, head_map = #convbert.head_map<interleaved>, normalize = #convbert.norm<softmax>, pads = array<i64: 4, 0>}
// CHECK-NOT:     linalg
func.func @unfold(%u: tensor<?x?x3x2xf32>, %l: tensor<?x?x2x3xf32>) -> tensor<?x?x3x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %b = tensor.dim %u, %c0 : tensor<?x?x3x2xf32>
  %t = tensor.dim %u, %c1 : tensor<?x?x3x2xf32>
  // softmax
  %rows = tensor.empty(%b, %t) : tensor<?x?x2xf32>
  %taps = tensor.empty(%b, %t) : tensor<?x?x2x3xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%l : tensor<?x?x2x3xf32>) outs(%m0 : tensor<?x?x2xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.maximumf %x, %acc : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2xf32>
  %s = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%l, %m : tensor<?x?x2x3xf32>, tensor<?x?x2xf32>) outs(%taps : tensor<?x?x2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.subf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2x3xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x?x2x3xf32>) outs(%taps : tensor<?x?x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = math.exp %x : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2x3xf32>
  %d0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %d = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<?x?x2x3xf32>) outs(%d0 : tensor<?x?x2xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.addf %acc, %x : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2xf32>
  %a = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %d : tensor<?x?x2x3xf32>, tensor<?x?x2xf32>) outs(%taps : tensor<?x?x2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.divf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<?x?x2x3xf32>
  // windows
  %p = tensor.pad %u low[0, 4, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<?x?x3x2xf32> to tensor<?x?x3x2xf32>
  %w0 = tensor.empty(%b, %t) : tensor<?x?x2x3x3xf32>
  %windows = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, c, j) -> (b, t + 2 * j, c, h)>, affine_map<(b, t, h, c, j) -> (b, t, h, c, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<?x?x3x2xf32>) outs(%w0 : tensor<?x?x2x3x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<?x?x2x3x3xf32>
  %init = tensor.empty(%b, %t) : tensor<?x?x3x2xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?x3x2xf32>) -> tensor<?x?x3x2xf32>
  %o = linalg.generic {
    indexing_maps = [affine_map<(b, t, c, h, j) -> (b, t, h, j)>, affine_map<(b, t, c, h, j) -> (b, t, h, c, j)>, affine_map<(b, t, c, h, j) -> (b, t, c, h)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%a, %windows : tensor<?x?x2x3xf32>, tensor<?x?x2x3x3xf32>) outs(%fill : tensor<?x?x3x2xf32>) {
  ^bb0(%w: f32, %x: f32, %acc: f32):
    %mul = arith.mulf %x, %w : f32
    %r = arith.addf %acc, %mul : f32
    linalg.yield %r : f32
  } -> tensor<?x?x3x2xf32>
  return %o : tensor<?x?x3x2xf32>
}

// -----

// Named operations and padding; channels first, as PyTorch has it.

// CHECK-LABEL: func.func @depthwise(
// CHECK-NEXT:    convbert.depthwise_conv1d %{{.*}}, %{{.*}} {layout = #convbert.layout<in_out>, pads = array<i64: 2, 2>}
func.func @depthwise(%x: tensor<2x9x8xf32>, %w: tensor<5x8xf32>) -> tensor<2x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2, 0] high[0, 2, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x9x8xf32> to tensor<2x13x8xf32>
  %init = tensor.empty() : tensor<2x9x8xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  %y = linalg.depthwise_conv_1d_nwc_wc ins(%p, %w : tensor<2x13x8xf32>, tensor<5x8xf32>) outs(%fill : tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  return %y : tensor<2x9x8xf32>
}

// CHECK-LABEL: func.func @strided(
// CHECK-NEXT:    convbert.conv1d %{{.*}}, %{{.*}} {dilation = 2 : i64, layout = #convbert.layout<in_out>, pads = array<i64: 0, 0>, stride = 3 : i64}
func.func @strided(%x: tensor<2x12x8xf32>, %w: tensor<3x8x4xf32>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<2x3x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %y = linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, strides = dense<3> : tensor<1xi64>}
    ins(%x, %w : tensor<2x12x8xf32>, tensor<3x8x4xf32>) outs(%fill : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @channels_first(
// CHECK:         %[[X:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x8x9xf32>)
// CHECK:         %[[Y:.*]] = convbert.conv1d %[[X]], %{{.*}} {pads = array<i64: 1, 1>}
// CHECK:         linalg.transpose ins(%[[Y]] : tensor<2x9x4xf32>)
func.func @channels_first(%x: tensor<2x8x9xf32>, %w: tensor<4x8x3xf32>) -> tensor<2x4x9xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x8x9xf32> to tensor<2x8x11xf32>
  %init = tensor.empty() : tensor<2x4x9xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<2x4x9xf32>) -> tensor<2x4x9xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %w : tensor<2x8x11xf32>, tensor<4x8x3xf32>) outs(%fill : tensor<2x4x9xf32>) -> tensor<2x4x9xf32>
  return %y : tensor<2x4x9xf32>
}

// Groups are an axis of their own.
// CHECK-LABEL: func.func @groups(
// CHECK-DAG:     %[[X:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<2x9x2x4xf32> into tensor<2x9x8xf32>
// CHECK-DAG:     %[[W:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : tensor<2x5x4x3xf32> into tensor<10x4x3xf32>
// CHECK:         convbert.conv1d %[[X]], %[[W]] {groups = 2 : i64, pads = array<i64: 0, 0>}
func.func @groups(%x: tensor<2x9x2x4xf32>, %w: tensor<2x5x4x3xf32>) -> tensor<2x7x2x5xf32> {
  %fill = arith.constant dense<0.0> : tensor<2x7x2x5xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(b, t, g, o, i, j) -> (b, t + j, g, i)>, affine_map<(b, t, g, o, i, j) -> (g, o, i, j)>, affine_map<(b, t, g, o, i, j) -> (b, t, g, o)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  } ins(%x, %w : tensor<2x9x2x4xf32>, tensor<2x5x4x3xf32>) outs(%fill : tensor<2x7x2x5xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %m, %acc : f32
    linalg.yield %r : f32
  } -> tensor<2x7x2x5xf32>
  return %y : tensor<2x7x2x5xf32>
}

// Several filters a channel.
// CHECK-LABEL: func.func @multiplier(
// CHECK:         convbert.depthwise_conv1d %{{.*}}, %{{.*}} {pads = array<i64: 0, 0>} : (tensor<2x9x8xf32>, tensor<24x3xf32>) -> tensor<2x7x24xf32>
func.func @multiplier(%x: tensor<2x9x8xf32>, %w: tensor<3x8x3xf32>) -> tensor<2x7x8x3xf32> {
  %fill = arith.constant dense<0.0> : tensor<2x7x8x3xf32>
  %y = linalg.depthwise_conv_1d_nwc_wcm ins(%x, %w : tensor<2x9x8xf32>, tensor<3x8x3xf32>) outs(%fill : tensor<2x7x8x3xf32>) -> tensor<2x7x8x3xf32>
  return %y : tensor<2x7x8x3xf32>
}

// Channels of a head share their taps.
// CHECK-LABEL: func.func @light(
// CHECK:         convbert.light_conv %{{.*}}, %{{.*}} {normalize = #convbert.norm<none>, pads = array<i64: 2, 0>}
func.func @light(%x: tensor<2x9x2x4xf32>, %w: tensor<2x3xf32>) -> tensor<2x9x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x9x2x4xf32> to tensor<2x11x2x4xf32>
  %fill = arith.constant dense<0.0> : tensor<2x9x2x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, r, j) -> (b, t + j, h, r)>, affine_map<(b, t, h, r, j) -> (h, j)>, affine_map<(b, t, h, r, j) -> (b, t, h, r)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%p, %w : tensor<2x11x2x4xf32>, tensor<2x3xf32>) outs(%fill : tensor<2x9x2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %m, %acc : f32
    linalg.yield %r : f32
  } -> tensor<2x9x2x4xf32>
  return %y : tensor<2x9x2x4xf32>
}

// -----

// What an unfold of channels in front of tokens comes to, as PyTorch's ConvBERT has it: windows are gathered, their
// channels and taps joined and taken apart again, and batch, tokens and heads joined for one batch matrix product.

#all = affine_map<(n, j) -> (n, j)>
#row = affine_map<(n, j) -> (n)>
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<?x?x6xf32>,
// CHECK:         convbert.apply_kernel %[[U]], %{{.*}} {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>} : (tensor<?x?x6xf32>, tensor<?x?x3x3xf32>)
// CHECK-NOT:     linalg
func.func @reshaped(%u: tensor<?x?x6xf32>, %l: tensor<?x?x9xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %u, %c0 : tensor<?x?x6xf32>
  %t = tensor.dim %u, %c1 : tensor<?x?x6xf32>
  %bt = arith.muli %b, %t : index
  %n = arith.muli %bt, %c3 : index
  // windows
  %e0 = tensor.empty(%b, %t) : tensor<?x6x?xf32>
  %channels = linalg.transpose ins(%u : tensor<?x?x6xf32>) outs(%e0 : tensor<?x6x?xf32>) permutation = [0, 2, 1]
  %image = tensor.expand_shape %channels [[0], [1], [2, 3]] output_shape [%b, 6, %t, 1] : tensor<?x6x?xf32> into tensor<?x6x?x1xf32>
  %p = tensor.pad %image low[0, 0, 1, 0] high[0, 0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<?x6x?x1xf32> to tensor<?x6x?x1xf32>
  %e1 = tensor.empty(%b, %t) : tensor<?x6x3x?xf32>
  %gathered = linalg.generic {
    indexing_maps = [affine_map<(b, c, j, t) -> (b, c, j, t)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } outs(%e1 : tensor<?x6x3x?xf32>) {
  ^bb0(%acc: f32):
    %ib = linalg.index 0 : index
    %ic = linalg.index 1 : index
    %ij = linalg.index 2 : index
    %it = linalg.index 3 : index
    %at = arith.addi %it, %ij : index
    %x = tensor.extract %p[%ib, %ic, %at, %c0] : tensor<?x6x?x1xf32>
    linalg.yield %x : f32
  } -> tensor<?x6x3x?xf32>
  %unfolded = tensor.collapse_shape %gathered [[0], [1, 2], [3]] : tensor<?x6x3x?xf32> into tensor<?x18x?xf32>
  %e2 = tensor.empty(%b, %t) : tensor<?x?x18xf32>
  %turned = linalg.transpose ins(%unfolded : tensor<?x18x?xf32>) outs(%e2 : tensor<?x?x18xf32>) permutation = [0, 2, 1]
  %split = tensor.expand_shape %turned [[0], [1], [2, 3]] output_shape [%b, %t, 6, 3] : tensor<?x?x18xf32> into tensor<?x?x6x3xf32>
  %heads = tensor.expand_shape %split [[0], [1], [2, 3], [4]] output_shape [%b, %t, 3, 2, 3] : tensor<?x?x6x3xf32> into tensor<?x?x3x2x3xf32>
  %windows = tensor.collapse_shape %heads [[0, 1, 2], [3], [4]] : tensor<?x?x3x2x3xf32> into tensor<?x2x3xf32>
  // softmax
  %l4 = tensor.expand_shape %l [[0], [1], [2, 3]] output_shape [%b, %t, 3, 3] : tensor<?x?x9xf32> into tensor<?x?x3x3xf32>
  %l2 = tensor.collapse_shape %l4 [[0, 1, 2], [3]] : tensor<?x?x3x3xf32> into tensor<?x3xf32>
  %low = arith.constant 0xFF800000 : f32
  %rows = tensor.empty(%n) : tensor<?xf32>
  %taps = tensor.empty(%n) : tensor<?x3xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%l2 : tensor<?x3xf32>) outs(%m0 : tensor<?xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.maximumf %x, %acc : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l2, %m : tensor<?x3xf32>, tensor<?xf32>) outs(%taps : tensor<?x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %d = arith.subf %x, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<?x3xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<?x3xf32>) outs(%s0 : tensor<?xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.addf %acc, %x : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<?x3xf32>, tensor<?xf32>) outs(%taps : tensor<?x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.divf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<?x3xf32>
  %column = tensor.expand_shape %a [[0], [1, 2]] output_shape [%n, 3, 1] : tensor<?x3xf32> into tensor<?x3x1xf32>
  %init = tensor.empty(%n) : tensor<?x2x1xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<?x2x1xf32>) -> tensor<?x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %column : tensor<?x2x3xf32>, tensor<?x3x1xf32>) outs(%fill : tensor<?x2x1xf32>) -> tensor<?x2x1xf32>
  %o2 = tensor.collapse_shape %o [[0], [1, 2]] : tensor<?x2x1xf32> into tensor<?x2xf32>
  %o4 = tensor.expand_shape %o2 [[0, 1, 2], [3]] output_shape [%b, %t, 3, 2] : tensor<?x2xf32> into tensor<?x?x3x2xf32>
  %y = tensor.collapse_shape %o4 [[0], [1], [2, 3]] : tensor<?x?x3x2xf32> into tensor<?x?x6xf32>
  return %y : tensor<?x?x6xf32>
}

// -----

// Tokens before the batch, taps in front: what fairseq's unfolded dynamic convolution is.

#all = affine_map<(n, j) -> (n, j)>
#row = affine_map<(n, j) -> (n)>
// CHECK-LABEL: func.func @tokens_first(
// CHECK:         convbert.apply_kernel {{.*}} {normalize = #convbert.norm<softmax>, pads = array<i64: 2, 0>} : (tensor<2x5x6xf32>, tensor<2x5x3x3xf32>)
// CHECK-NOT:     linalg.batch_matmul
func.func @tokens_first(%u: tensor<5x2x6xf32>, %l2: tensor<30x3xf32>) -> tensor<30x1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[2, 0, 0] high[0, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<5x2x6xf32> to tensor<7x2x6xf32>
  %e0 = tensor.empty() : tensor<5x2x6x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(t, b, c, j) -> (t + j, b, c)>, affine_map<(t, b, c, j) -> (t, b, c, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<7x2x6xf32>) outs(%e0 : tensor<5x2x6x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<5x2x6x3xf32>
  %heads = tensor.expand_shape %unfolded [[0], [1], [2, 3], [4]] output_shape [5, 2, 3, 2, 3] : tensor<5x2x6x3xf32> into tensor<5x2x3x2x3xf32>
  %e1 = tensor.empty() : tensor<5x2x3x3x2xf32>
  %turned = linalg.transpose ins(%heads : tensor<5x2x3x2x3xf32>) outs(%e1 : tensor<5x2x3x3x2xf32>) permutation = [0, 1, 2, 4, 3]
  %windows = tensor.collapse_shape %turned [[0, 1, 2], [3], [4]] : tensor<5x2x3x3x2xf32> into tensor<30x3x2xf32>
  %low = arith.constant 0xFF800000 : f32
  %rows = tensor.empty() : tensor<30xf32>
  %taps = tensor.empty() : tensor<30x3xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%rows : tensor<30xf32>) -> tensor<30xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%l2 : tensor<30x3xf32>) outs(%m0 : tensor<30xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.maximumf %x, %acc : f32
    linalg.yield %r : f32
  } -> tensor<30xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%l2, %m : tensor<30x3xf32>, tensor<30xf32>) outs(%taps : tensor<30x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %d = arith.subf %x, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<30x3xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<30xf32>) -> tensor<30xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<30x3xf32>) outs(%s0 : tensor<30xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %r = arith.addf %acc, %x : f32
    linalg.yield %r : f32
  } -> tensor<30xf32>
  %a = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<30x3xf32>, tensor<30xf32>) outs(%taps : tensor<30x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %r = arith.divf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<30x3xf32>
  %line = tensor.expand_shape %a [[0], [1, 2]] output_shape [30, 1, 3] : tensor<30x3xf32> into tensor<30x1x3xf32>
  %fill = arith.constant dense<0.0> : tensor<30x1x2xf32>
  %o = linalg.batch_matmul ins(%line, %windows : tensor<30x1x3xf32>, tensor<30x3x2xf32>) outs(%fill : tensor<30x1x2xf32>) -> tensor<30x1x2xf32>
  return %o : tensor<30x1x2xf32>
}

// -----

// The softmax of columns, as PyTorch takes it.
// CHECK-LABEL: func.func @reshaped_column(
// CHECK:         convbert.apply_kernel %{{.*}}, %{{.*}} {normalize = #convbert.norm<softmax>, pads = array<i64: 1, 1>}
// CHECK-NOT:     linalg
func.func @reshaped_column(%u: tensor<2x5x6xf32>, %l: tensor<30x3x1xf32>) -> tensor<30x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %u low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x5x6xf32> to tensor<2x7x6xf32>
  %e0 = tensor.empty() : tensor<2x5x3x2x3xf32>
  %unfolded = linalg.generic {
    indexing_maps = [affine_map<(b, t, h, d, k) -> (b, t + k, h * 2 + d)>, affine_map<(b, t, h, d, k) -> (b, t, h, d, k)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
  } ins(%p : tensor<2x7x6xf32>) outs(%e0 : tensor<2x5x3x2x3xf32>) {
  ^bb0(%x: f32, %acc: f32):
    linalg.yield %x : f32
  } -> tensor<2x5x3x2x3xf32>
  %windows = tensor.collapse_shape %unfolded [[0, 1, 2], [3], [4]] : tensor<2x5x3x2x3xf32> into tensor<30x2x3xf32>
  %e1 = tensor.empty() : tensor<30x3x1xf32>
  %a = linalg.softmax dimension(1) ins(%l : tensor<30x3x1xf32>) outs(%e1 : tensor<30x3x1xf32>) -> tensor<30x3x1xf32>
  %z = arith.constant dense<0.0> : tensor<30x2x1xf32>
  %o = linalg.batch_matmul ins(%windows, %a : tensor<30x2x3xf32>, tensor<30x3x1xf32>) outs(%z : tensor<30x2x1xf32>) -> tensor<30x2x1xf32>
  return %o : tensor<30x2x1xf32>
}
