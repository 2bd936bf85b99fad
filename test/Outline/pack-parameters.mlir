// Parameters in the order in which kernels read them, for the instruction sets.
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{isa=avx2},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{isa=avx512},canonicalize,cse))' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{isa=avx2 weights=bf16},canonicalize,cse))' | FileCheck %s --check-prefix=BF16
// RUN: convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{isa=avx512bf16},canonicalize,cse))' | FileCheck %s --check-prefix=PAIRS
// RUN: not convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{weights=f16}))' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not convbert-opt %s --pass-pipeline='builtin.module(func.func(convbert-pack-parameters{isa=sse}))' 2>&1 | FileCheck %s --check-prefix=ISA
// RUN: not convbert-opt %s --convbert-outline=isa=sve 2>&1 | FileCheck %s --check-prefix=OUTLINE-ISA

// ISA: error: requires an instruction set generic, avx2, avx512, avx512bf16 or neon, but found sse
// WEIGHTS: error: requires weights f32 or bf16, but found f16
// OUTLINE-ISA: error: requires an instruction set generic, avx2, avx512, avx512bf16 or neon, but found sve

// Weights become panels of output features, the last one filled with zeros; so do biases.  AVX-512 takes panels of 32
// where those of 48 would be filled worse.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<30x8xf32>, %[[B:[a-z0-9]*]]: tensor<30xf32>)
// AVX2:          %[[P:.*]] = tensor.pad %[[W]] low[0, 0] high[18, 0]
// AVX2:          %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1], [2]] output_shape [2, 24, 8]
// AVX2:          %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<2x24x8xf32>) outs(%{{.*}} : tensor<2x8x24xf32>) permutation = [0, 2, 1]
// AVX2:          %[[PB:.*]] = tensor.pad %[[B]] low[0] high[18]
// AVX2:          %[[EB:.*]] = tensor.expand_shape %[[PB]] {{.*}} into tensor<2x24xf32>
// AVX2:          %[[VB:.*]] = convbert.weight_view %[[EB]] : (tensor<2x24xf32>) -> tensor<30xf32>
// AVX2:          %[[V:.*]] = convbert.weight_view %[[T]] : (tensor<2x8x24xf32>) -> tensor<30x8xf32>
// AVX2:          convbert.dense %[[X]], %[[V]], %[[VB]]
// AVX512:        %[[P:.*]] = tensor.pad %[[W]] low[0, 0] high[2, 0]
// AVX512:        output_shape [1, 32, 8]
// AVX512:        convbert.weight_view %{{.*}} : (tensor<1x32xf32>) -> tensor<30xf32>
// AVX512:        convbert.weight_view %{{.*}} : (tensor<1x8x32xf32>) -> tensor<30x8xf32>

// Rounded weights are rounded last; biases are not.  Where instructions multiply pairs, panels hold pairs.
// BF16-LABEL:    func.func @dense(
// BF16:          %[[T:.*]] = linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x8x24xf32>) permutation = [0, 2, 1]
// BF16:          %[[R:.*]] = arith.truncf %[[T]] : tensor<2x8x24xf32> to tensor<2x8x24xbf16>
// BF16:          convbert.weight_view %{{.*}} : (tensor<2x24xf32>) -> tensor<30xf32>
// BF16:          convbert.weight_view %[[R]] : (tensor<2x8x24xbf16>) -> tensor<30x8xf32>
// PAIRS-LABEL:   func.func @dense(
// PAIRS:         linalg.transpose ins(%{{.*}} : tensor<1x32x4x2xf32>) outs(%{{.*}} : tensor<1x4x32x2xf32>) permutation = [0, 2, 1, 3]
// PAIRS:         arith.truncf %{{.*}} : tensor<1x4x32x2xf32> to tensor<1x4x32x2xbf16>
// PAIRS:         convbert.weight_view %{{.*}} : (tensor<1x32xf32>) -> tensor<30xf32>
// PAIRS-LABEL:   func.func @in_out(
// PAIRS:         linalg.transpose ins(%{{.*}} : tensor<4x2x1x48xf32>) outs(%{{.*}} : tensor<1x4x48x2xf32>) permutation = [2, 0, 3, 1]
// BF16-LABEL:    func.func @grouped(
// BF16:          convbert.weight_view {{.*}} : (tensor<3x1x2x24xbf16>) -> tensor<3x2x5xf32>
func.func @dense(%x: tensor<?x?x8xf32>, %w: tensor<30x8xf32>, %b: tensor<30xf32>) -> tensor<?x?x30xf32> {
  %y = convbert.dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<30x8xf32>, tensor<30xf32>) -> tensor<?x?x30xf32>
  return %y : tensor<?x?x30xf32>
}

// What is left behind panels of 48 lies in one of 32 if that leaves less to pad: two parts, which are products of their
// own.
// CHECK-LABEL: func.func @parts(
// AVX2:          convbert.weight_view %{{.*}} : (tensor<3x24xf32>) -> tensor<72xf32>
// AVX2:          convbert.weight_view %{{.*}} : (tensor<3x8x24xf32>) -> tensor<72x8xf32>
// AVX512:        convbert.weight_view %{{.*}}, %{{.*}} : (tensor<1x48xf32>, tensor<1x32xf32>) -> tensor<72xf32>
// AVX512:        convbert.weight_view %{{.*}}, %{{.*}} : (tensor<1x8x48xf32>, tensor<1x8x32xf32>) -> tensor<72x8xf32>
func.func @parts(%x: tensor<?x?x8xf32>, %w: tensor<72x8xf32>, %b: tensor<72xf32>) -> tensor<?x?x72xf32> {
  %y = convbert.dense %x, %w, %b : (tensor<?x?x8xf32>, tensor<72x8xf32>, tensor<72xf32>) -> tensor<?x?x72xf32>
  return %y : tensor<?x?x72xf32>
}

// A weight that is stored the other way round needs no turn inside a panel; a missing bias is zeros.
// CHECK-LABEL: func.func @in_out(
// AVX2:          %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<2x24xf32>
// AVX2:          %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [8, 2, 24]
// AVX2:          linalg.transpose ins(%[[E]] : tensor<8x2x24xf32>) outs(%{{.*}} : tensor<2x8x24xf32>) permutation = [1, 0, 2]
// AVX2:          convbert.weight_view %[[Z]] : (tensor<2x24xf32>) -> tensor<48xf32>
// AVX512:        output_shape [8, 1, 48]
func.func @in_out(%x: tensor<?x?x8xf32>, %w: tensor<8x48xf32>) -> tensor<?x?x48xf32> {
  %y = convbert.dense %x, %w {layout = #convbert.layout<in_out>} : (tensor<?x?x8xf32>, tensor<8x48xf32>) -> tensor<?x?x48xf32>
  return %y : tensor<?x?x48xf32>
}

// Every group has panels of its own, one group behind the other.
// CHECK-LABEL: func.func @grouped(
// AVX2-SAME:     %[[X:[a-z0-9]*]]: tensor<?x?x6xf32>, %[[W:[a-z0-9]*]]: tensor<3x2x5xf32>, %[[B:[a-z0-9]*]]: tensor<15xf32>)
// AVX2:          tensor.expand_shape %[[B]] {{.*}} output_shape [3, 5]
// AVX2:          tensor.pad %{{.*}} low[0, 0] high[0, 19]
// AVX2:          convbert.weight_view %{{.*}} : (tensor<3x1x24xf32>) -> tensor<15xf32>
// AVX2:          tensor.pad %[[W]] low[0, 0, 0] high[0, 0, 19]
// AVX2-NOT:      tensor.pad
// AVX2:          convbert.weight_view %{{.*}} : (tensor<3x1x2x24xf32>) -> tensor<3x2x5xf32>
// AVX512:        convbert.weight_view %{{.*}} : (tensor<3x1x2x32xf32>) -> tensor<3x2x5xf32>
// PAIRS:         convbert.weight_view %{{.*}} : (tensor<3x1x1x32x2xbf16>) -> tensor<3x2x5xf32>
func.func @grouped(%x: tensor<?x?x6xf32>, %w: tensor<3x2x5xf32>, %b: tensor<15xf32>) -> tensor<?x?x15xf32> {
  %y = convbert.grouped_dense %x, %w, %b : (tensor<?x?x6xf32>, tensor<3x2x5xf32>, tensor<15xf32>) -> tensor<?x?x15xf32>
  return %y : tensor<?x?x15xf32>
}

// Heads of five features are padded to sixteen: by zero rows of the layer that makes them and zero columns of the one
// that reads them.  Feature `head * K + tap` of the logits goes to `tap * 8 + head`.
// CHECK-LABEL: func.func @span(
// CHECK-SAME:    %{{[a-z0-9]*}}: tensor<?x?x8xf32>, %[[WV:[a-z0-9]*]]: tensor<10x8xf32>, %[[W:[a-z0-9]*]]: tensor<6x8xf32>, %[[B:[a-z0-9]*]]: tensor<6xf32>, %[[WO:[a-z0-9]*]]: tensor<5x10xf32>)
// AVX2:          %[[V:.*]] = tensor.expand_shape %[[WV]] {{.*}} output_shape [2, 5, 8]
// AVX2:          tensor.pad %[[V]] low[0, 0, 0] high[0, 11, 0]
// AVX2:          tensor.collapse_shape {{.*}} into tensor<32x8xf32>
// AVX2:          convbert.weight_view {{.*}} : (tensor<2x8x24xf32>) -> tensor<10x8xf32>
// AVX2:          %[[E:.*]] = tensor.expand_shape %[[W]] {{.*}} output_shape [2, 3, 8]
// AVX2:          %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<2x3x8xf32>) outs(%{{.*}} : tensor<3x2x8xf32>) permutation = [1, 0, 2]
// AVX2:          tensor.pad %[[T]] low[0, 0, 0] high[0, 6, 0]
// AVX2:          tensor.collapse_shape {{.*}} into tensor<24x8xf32>
// AVX2:          tensor.expand_shape %[[B]] {{.*}} output_shape [2, 3]
// AVX2:          linalg.transpose ins({{.*}} : tensor<2x3xf32>) outs({{.*}} : tensor<3x2xf32>) permutation = [1, 0]
// AVX2:          convbert.weight_view {{.*}} : (tensor<1x8x24xf32>) -> tensor<6x8xf32>
// AVX2:          %[[O:.*]] = tensor.expand_shape %[[WO]] {{.*}} output_shape [5, 2, 5]
// AVX2:          tensor.pad %[[O]] low[0, 0, 0] high[0, 0, 11]
// AVX2:          convbert.weight_view {{.*}} : (tensor<1x32x24xf32>) -> tensor<5x10xf32>
// AVX512:        convbert.weight_view {{.*}} : (tensor<1x32x32xf32>) -> tensor<5x10xf32>
func.func @span(%x: tensor<?x?x8xf32>, %wv: tensor<10x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>, %wo: tensor<5x10xf32>) -> tensor<?x?x5xf32> {
  %v = convbert.dense %x, %wv : (tensor<?x?x8xf32>, tensor<10x8xf32>) -> tensor<?x?x10xf32>
  %t = convbert.dynamic_kernel %x, %w, %b {heads = 2 : i64, normalize = #convbert.norm<none>} : (tensor<?x?x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x?x2x3xf32>
  %o = convbert.apply_kernel %v, %t {pads = array<i64: 1, 1>, normalize = #convbert.norm<softmax>} : (tensor<?x?x10xf32>, tensor<?x?x2x3xf32>) -> tensor<?x?x10xf32>
  %y = convbert.dense %o, %wo : (tensor<?x?x10xf32>, tensor<5x10xf32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}

// Blocks of 32 channels, tap after tap, for both orientations.
// CHECK-LABEL: func.func @depthwise(
// CHECK:         %[[P:.*]] = tensor.pad %{{.*}} low[0, 0] high[24, 0]
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[P]] {{.*}} output_shape [2, 32, 3]
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[E]] : {{.*}}) outs(%{{.*}} : tensor<2x3x32xf32>) permutation = [0, 2, 1]
// CHECK:         convbert.weight_view %[[T]] : (tensor<2x3x32xf32>) -> tensor<40x3xf32>
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<3x40xf32>)
// CHECK:         convbert.weight_view %{{.*}} : (tensor<2x3x32xf32>) -> tensor<3x40xf32>
func.func @depthwise(%x: tensor<?x?x40xf32>, %w: tensor<40x3xf32>, %v: tensor<3x40xf32>) -> tensor<?x?x40xf32> {
  %y = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>} : (tensor<?x?x40xf32>, tensor<40x3xf32>) -> tensor<?x?x40xf32>
  %z = convbert.depthwise_conv1d %y, %v {pads = array<i64: 1, 1>, layout = #convbert.layout<in_out>} : (tensor<?x?x40xf32>, tensor<3x40xf32>) -> tensor<?x?x40xf32>
  return %z : tensor<?x?x40xf32>
}

// A bias lies behind the taps of its block.
// CHECK-LABEL: func.func @depthwise_bias(
// CHECK:         %[[T:.*]] = linalg.transpose {{.*}} outs(%{{.*}} : tensor<2x4x32xf32>) permutation = [0, 2, 1]
// CHECK:         %[[PB:.*]] = tensor.pad %arg2 low[0] high[24]
// CHECK:         %[[EB:.*]] = tensor.expand_shape %[[PB]] {{.*}} : tensor<64xf32> into tensor<2x1x32xf32>
// CHECK:         %[[ALL:.*]] = tensor.concat dim(1) %[[T]], %[[EB]] : (tensor<2x4x32xf32>, tensor<2x1x32xf32>) -> tensor<2x5x32xf32>
// CHECK:         %[[V:.*]]:2 = convbert.weight_view %[[ALL]] : (tensor<2x5x32xf32>) -> (tensor<40x4xf32>, tensor<40xf32>)
// CHECK:         convbert.depthwise_conv1d %arg0, %[[V]]#0, %[[V]]#1 {pads = array<i64: 3, 0>}
func.func @depthwise_bias(%x: tensor<?x?x40xf32>, %w: tensor<40x4xf32>, %b: tensor<40xf32>) -> tensor<?x?x40xf32> {
  %y = convbert.depthwise_conv1d %x, %w, %b {pads = array<i64: 3, 0>}
    : (tensor<?x?x40xf32>, tensor<40x4xf32>, tensor<40xf32>) -> tensor<?x?x40xf32>
  return %y : tensor<?x?x40xf32>
}

// Gamma and beta are two rows of whole vectors.
// CHECK-LABEL: func.func @norm(
// CHECK:         tensor.pad {{.*}} low[0] high[6]
// CHECK:         %[[C:.*]] = tensor.concat dim(0) %{{.*}}, %{{.*}} : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<2x16xf32>
// CHECK:         %[[V:.*]]:2 = convbert.weight_view %[[C]] : (tensor<2x16xf32>) -> (tensor<10xf32>, tensor<10xf32>)
// CHECK:         convbert.layer_norm %{{.*}}, %[[V]]#0, %[[V]]#1
func.func @norm(%x: tensor<?x?x10xf32>, %g: tensor<10xf32>, %b: tensor<10xf32>) -> tensor<?x?x10xf32> {
  %y = convbert.layer_norm %x, %g, %b {eps = 0.5 : f64} : (tensor<?x?x10xf32>, tensor<10xf32>, tensor<10xf32>) -> tensor<?x?x10xf32>
  return %y : tensor<?x?x10xf32>
}

// CHECK-LABEL: func.func @embeddings(
// CHECK:         convbert.weight_view %{{.*}} : (tensor<9x16xf32>) -> tensor<9x10xf32>
// CHECK:         convbert.weight_view %{{.*}} : (tensor<2x16xf32>) -> (tensor<10xf32>, tensor<10xf32>)
func.func @embeddings(%ids: tensor<?x?xi64>, %t: tensor<9x10xf32>, %g: tensor<10xf32>, %b: tensor<10xf32>) -> tensor<?x?x10xf32> {
  %x = convbert.embeddings %ids, %ids, %ids tables(%t, %t, %t) norm(%g, %b) {eps = 0.5 : f64}
    : (tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64>, tensor<9x10xf32>, tensor<9x10xf32>, tensor<9x10xf32>,
       tensor<10xf32>, tensor<10xf32>) -> tensor<?x?x10xf32>
  return %x : tensor<?x?x10xf32>
}

// Functions without a body are none of this pass's business.
// CHECK: func.func private @declared
func.func private @declared(tensor<?x?x8xf32>)

// The sum of two means is the mean of one convolution, whose window covers both.
// CHECK-LABEL: func.func @means(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>, %[[W:[a-z0-9]*]]: tensor<8x3xf32>, %[[V:[a-z0-9]*]]: tensor<2x8xf32>
// CHECK:         %[[P:.*]] = tensor.pad %[[W]] low[0, 0] high[0, 1]
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[V]]
// CHECK:         %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} into tensor<8x2x1xf32>
// CHECK:         tensor.pad %[[E]] low[0, 0, 0] high[0, 0, 1]
// CHECK:         %[[Q:.*]] = tensor.pad %{{.*}} low[0, 1] high[0, 0]
// CHECK:         arith.addf %[[P]], %[[Q]] : tensor<8x4xf32>
// CHECK:         %[[D:.*]] = convbert.depthwise_conv1d %[[X]], {{.*}}pads = array<i64: 1, 2>
// CHECK:         %[[M:.*]] = convbert.pool %[[D]]
// CHECK:         return %[[M]]
func.func @means(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>, %v: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %c = convbert.depthwise_conv1d %x, %w, %b {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  %d = convbert.depthwise_conv1d %x, %v {pads = array<i64: 0, 2>, dilation = 2 : i64, layout = #convbert.layout<in_out>}
    : (tensor<?x?x8xf32>, tensor<2x8xf32>) -> tensor<?x?x8xf32>
  %m = convbert.pool %c {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %n = convbert.pool %d {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %s = arith.addf %m, %n : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// Not of one convolution twice.
// CHECK-LABEL: func.func @twice(
// CHECK:         %[[M:.*]] = convbert.pool
// CHECK:         arith.addf %[[M]], %[[M]] : tensor<?x8xf32>
func.func @twice(%x: tensor<?x?x8xf32>, %w: tensor<8x3xf32>) -> tensor<?x8xf32> {
  %c = convbert.depthwise_conv1d %x, %w {pads = array<i64: 1, 1>}
    : (tensor<?x?x8xf32>, tensor<8x3xf32>) -> tensor<?x?x8xf32>
  %m = convbert.pool %c {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %n = convbert.pool %c {kind = #convbert.pool<mean>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %s = arith.addf %m, %n : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}
