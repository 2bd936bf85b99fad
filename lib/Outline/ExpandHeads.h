//===- ExpandHeads.h - Taps of heads as taps of channels --------*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_EXPANDHEADS_H
#define CONVBERT_LIB_OUTLINE_EXPANDHEADS_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// Replaces a lightweight convolution by a depthwise one: each channel gets the taps of its head, once, when parameters
/// are packed.  Reports and fails where the softmax of the weights is still to be taken.
FailureOr<DepthwiseConv1DOp> expandHeads(RewriterBase &rewriter, LightConvOp op);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_EXPANDHEADS_H
