//===- StepBuilder.h - linalg on tokens-major tensors -----------*- C++ -*-===//

#ifndef CONVBERT_CONVERSION_CONVBERTTOLINALG_STEPBUILDER_H
#define CONVBERT_CONVERSION_CONVBERTTOLINALG_STEPBUILDER_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::convbert {

/// Builds the linalg operations of one step operation.  Any extent may be dynamic.
///
/// Tensors are stored with any float type, numbers are computed with the *compute type*: f64 for f64, f32 for what is
/// narrower.  Bodies see compute values only, so that sums, norms and softmaxes of f16 and bf16 tensors are f32.
class StepBuilder {
public:
  using Body = function_ref<Value(OpBuilder &, Location, ValueRange)>;
  using Sizes = ArrayRef<OpFoldResult>;
  using Maps = ArrayRef<ArrayRef<AffineExpr>>;

  /// For `op`, whose values have elements of type `element`.
  StepBuilder(PatternRewriter &rewriter, Operation *op, Type element);

  Type getElementType() const { return element; }
  Type getComputeType() const { return compute; }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  OpFoldResult getIndex(int64_t value) const { return rewriter.getIndexAttr(value); }
  /// Extent `dim` of `tensor`, an attribute where it is static.
  OpFoldResult getSize(Value tensor, int64_t dim) const;
  SmallVector<OpFoldResult> getSizes(Value tensor) const;

  Value constant(double value) const;
  /// A tensor of its own: one shared by several operations would be copied.
  Value empty(Sizes sizes, Type type) const;
  /// A compute tensor that holds `value` everywhere.
  Value filled(double value, Sizes sizes) const;

  /// Dimension `axis` of `n C` elements as `n x C`, a view.
  Value splitAxis(Value tensor, int64_t axis, int64_t parts) const;
  /// `... x (n C)` as `... x n x C`, and back: views, no copies.
  Value splitFeatures(Value tensor, int64_t parts) const;
  Value joinFeatures(Value tensor) const;

  /// `B x T x C` with `pads` zero tokens before and behind.
  Value padTokens(Value tensor, ArrayRef<int64_t> pads) const;

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// The first `count` dimensions of an iteration space.
  SmallVector<AffineExpr> dims(unsigned count) const;

  /// `linalg.generic`; the dimensions of the iteration space in `reduced` are reduced.  `maps` has the indices of each
  /// input and then of `init`.  `body` gets one compute value an input and that of `init`.
  Value generic(ValueRange inputs, Value init, Maps maps, unsigned dimensions, ArrayRef<unsigned> reduced,
                Body body) const;

  /// `body` of each element of a tensor of `sizes`; each input has the trailing or, where `maps` says so, other
  /// dimensions of the result.  The result has elements of type `type`.
  Value elementwise(ValueRange inputs, Maps maps, Sizes sizes, Type type, Body body) const;

  /// The same with the result in the place of `target`, a compute tensor that nothing else reads: `body` gets its
  /// element, then those of `inputs`.
  Value update(Value target, ValueRange inputs, Maps maps, Body body) const;

  /// Sums `term` of the elements of `tensor` over its last dimension.  `inputs` have the other dimensions.
  Value sumFeatures(Value tensor, ValueRange inputs, Body term) const;

  /// The product of a dense layer, a compute tensor that starts from `bias` (may be null): `x` is `... x Ci`, `weight`
  /// as `layout` says, the result `... x Co`.
  Value dense(Value x, Value weight, Value bias, WeightLayout layout) const;

  /// Softmax over the last dimension, the maximum taken off first; the result is a compute tensor.  A row without
  /// finite maximum gives NaN.  `inPlace` says that `logits` is a compute tensor that nothing else reads.
  Value softmax(Value logits, bool inPlace) const;

  /// `tensor` stored with elements of type `type`.
  Value convert(Value tensor, Type type) const;

  /// Replaces the operation.
  void replace(Operation *op, ValueRange values) const;

private:
  PatternRewriter &rewriter;
  Location loc;
  MLIRContext *context;
  Type element, compute;
};

/// Scalar bodies of generic operations.
namespace body {
Value add(OpBuilder &b, Location loc, ValueRange args);         ///< a0 + a1
Value multiply(OpBuilder &b, Location loc, ValueRange args);    ///< a0 * a1
Value multiplyAdd(OpBuilder &b, Location loc, ValueRange args); ///< a2 + a0 * a1
Value maximum(OpBuilder &b, Location loc, ValueRange args);     ///< the greater of a0 and a1, which is no NaN
Value first(OpBuilder &b, Location loc, ValueRange args);       ///< a0
} // namespace body

} // namespace mlir::convbert

#endif // CONVBERT_CONVERSION_CONVBERTTOLINALG_STEPBUILDER_H
