//===- Patterns.h - Lowering patterns of tile operations --------*- C++ -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

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

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_PATTERNS_H
