//===- ExpandHeads.h - Taps of heads as taps of channels --------*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_EXPANDHEADS_H
#define CONVBERT_LIB_OUTLINE_EXPANDHEADS_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// Replaces a lightweight convolution by a depthwise one: each channel gets the taps of its head, once, when parameters
/// are packed.  One whose softmax is taken anew at the ends of a sequence only loses its bias to an operation behind
/// it. Reports and fails where the softmax of the weights is still to be taken.
LogicalResult expandHeads(RewriterBase &rewriter, LightConvOp op);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_EXPANDHEADS_H
