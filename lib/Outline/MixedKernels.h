//===- MixedKernels.h - Kernels mixed for each sequence ---------*- C++ -*-===//
//
// A convolution with weights of each sequence reads a mix of kernels: a matrix product of the sequences' weights and
// the kernels, each one row.  The mix is a parameter, not an activation: it is never made for all sequences, but where
// a sequence is convolved.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_MIXEDKERNELS_H
#define CONVBERT_LIB_OUTLINE_MIXEDKERNELS_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// What the weights and biases of a convolution are mixed from.
struct MixedKernels {
  Value weights;  ///< B x N
  DenseOp kernel; ///< the mix of kernels, N x (Co Ci K) or N x (K Ci Co)
  DenseOp bias;   ///< the mix of biases, N x Co; null if there are none

  /// Those of `op`; fails if its weights or biases are no such mix.
  static FailureOr<MixedKernels> get(Conv1DOp op);
};

/// Whether `value` is a mix of kernels or biases, or a view of one, for convolutions alone.
bool isMixedParameter(Value value);

/// Gives a convolution with weights of sequences a mix of its own, with biases.  Reports and fails where the weights
/// are no mix of kernels.
LogicalResult isolateMix(RewriterBase &rewriter, Conv1DOp op);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_MIXEDKERNELS_H
