//===- Patterns.h - Lowering patterns by family -----------------*- C++ -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

//===----------------------------------------------------------------------===//
// Tile operations, in kernels: f32, static tiles, tags for schedules
//===----------------------------------------------------------------------===//

/// `packed_dense`: fill, contraction tagged `mm`, epilogue tagged `epi`.
void populateDensePatterns(RewritePatternSet &patterns);

/// `norm_tile`: elementwise operations tagged `sum` and `scale`, two reductions tagged `lane`, on a row cut in lanes.
void populateNormPatterns(RewritePatternSet &patterns);

/// `depthwise_tile`.
void populateDepthwisePatterns(RewritePatternSet &patterns);

/// `span_tile`.
void populateSpanPatterns(RewritePatternSet &patterns);

/// `attention_tile`.
void populateAttentionPatterns(RewritePatternSet &patterns);

//===----------------------------------------------------------------------===//
// Step operations, on tokens-major tensors: any float type, any extent dynamic
//===----------------------------------------------------------------------===//

/// `dense`, `grouped_dense`, `activation`.
void populateStepDensePatterns(RewritePatternSet &patterns);

/// `layer_norm`, `embeddings` without projection, `pool`.
void populateStepNormPatterns(RewritePatternSet &patterns);

/// `mask_tokens`, `depthwise_conv1d`.
void populateStepConvPatterns(RewritePatternSet &patterns);

/// `normalize_taps`, `light_conv`, `dynamic_kernel`, `apply_kernel`, `add_bias`.
void populateStepDynamicPatterns(RewritePatternSet &patterns);

/// `pool` with a mask, `scale_channels`, `select_branches`.
void populateStepGatingPatterns(RewritePatternSet &patterns);
/// `conv1d`, `batch_norm`, `softmax`, `weighted_sum`.
void populateStepWindowPatterns(RewritePatternSet &patterns);

/// `attention_bias`, `scale_heads`, `self_attention`.
void populateStepAttentionPatterns(RewritePatternSet &patterns);

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H
