//===- RaiseWindow.h - Sums over windows of tokens, as linalg has them -*- C++ -*-===//

#ifndef CONVBERT_LIB_TRANSFORMS_RAISEWINDOW_H
#define CONVBERT_LIB_TRANSFORMS_RAISEWINDOW_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace mlir::convbert {

/// `out[.., t, ..] = sum x[.., t * stride + k * dilation - low, ..] * weight[.., k, ..]`, over `k` and what else only
/// operands have; zeros around the tokens of `x`.  Dimensions are those of the loop nest.
struct WindowSum {
  Value x, weight;
  /// The zeros that products are added to; as large as the result.
  Value start;
  /// By axis of `x`: the dimension; that of the token stands for the window.  By axis of the others: the dimension.
  SmallVector<unsigned> xDims, weightDims, outDims;
  unsigned batch, token, tap;
  /// In `x`, the weight and the result (heads, groups, channels); in `x` and the result; in the weight and the result;
  /// in `x` and the weight.
  std::optional<unsigned> shared, kept, made, summed;
  /// The weight differs from token to token.
  bool isDynamic;
  int64_t low = 0, high = 0, stride = 1, dilation = 1;
};

/// The sum that `op` computes as one contraction, or as the last of a chain of shifted products; else failure, with the
/// reason told to `rewriter`.
FailureOr<WindowSum> matchWindowSum(linalg::LinalgOp op, PatternRewriter &rewriter);
FailureOr<WindowSum> matchShiftedSums(linalg::LinalgOp op, PatternRewriter &rewriter);

/// What the softmax over the last axis that computes `value` is taken of; null if it is none.
Value matchSoftmax(Value value);

/// Replaces a product of windows and taps whose batch, tokens and heads are one axis by the operation of the dialect.
LogicalResult raiseReshapedProduct(linalg::LinalgOp op, PatternRewriter &rewriter);

/// Reshapes that undo each other go: an axis is taken apart into the extents that it was joined from.  Needs to know
/// extents of results, so dimensions of them become those of operands.
void populateCancelReshapesPatterns(RewritePatternSet &patterns);

/// `c0 * d0 + c1 * d1 + ..` as coefficients by dimension, added to `coefficients`; failure for anything else.
LogicalResult getCoefficients(AffineExpr expr, int64_t factor, MutableArrayRef<int64_t> coefficients);

/// If `value` is a copy, a transpose or a gather at sums of loops: what it copies. `value[map]` stays the same element.
bool readThroughCopy(Value &value, AffineMap &map);

/// Takes constant zeros around axis `axis` away from `x`, and says how many there were.
void peelPadding(Value &x, unsigned axis, int64_t &low, int64_t &high);

/// The size of axis `axis` of `init`, a tensor that an operation starts from; null if nothing says it.
OpFoldResult getExtent(OpBuilder &b, Value init, int64_t axis);

/// `value`, whose axes stand for the dimensions `have`, with its axes in the order `want`.
Value arrange(OpBuilder &b, Location loc, Value value, ArrayRef<unsigned> have, ArrayRef<unsigned> want);

/// True if `size` is known to be the dynamic extent of `tensor` along `axis`.
bool isExtentOf(OpFoldResult size, Value tensor, int64_t axis);

/// True if `value` is zero everywhere.
bool isZeroTensor(Value value);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_RAISEWINDOW_H
