//===- FoldedConvs.h - Depthwise convolutions that are never made -*- C++ -*-===//
//
// A mean over tokens and a sum of branches with weights of the sequence are linear: the mean of a depthwise convolution
// takes sums of the rows that it reads, and a sum of such convolutions is one, with taps that are mixed for the
// sequence.  What a convolution makes is not written down where nothing else reads it.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_FOLDEDCONVS_H
#define CONVBERT_LIB_OUTLINE_FOLDEDCONVS_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// Whether `value` is a depthwise convolution that is not made: its only use is a mean over all tokens, or a selection
/// of branches all of which are such convolutions of the same rows, with windows of the same size.
bool isFoldedConv(Value value);

/// Brings the convolutions of `fn` into that form: a sum of two means becomes the mean of one convolution with the sum
/// of their taps, and the branches of a selection get the window that covers those of all.
void foldConvs(RewriterBase &rewriter, func::FuncOp fn);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_FOLDEDCONVS_H
