//===- RaiseElements.h - The element that a product reads -------*- C++ -*-===//

#ifndef CONVBERT_LIB_TRANSFORMS_RAISEELEMENTS_H
#define CONVBERT_LIB_TRANSFORMS_RAISEELEMENTS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace mlir::convbert {

/// The loops of a product whose batch, tokens and heads are one axis: these three, in any order, then features of a
/// head and taps.
enum Loop : unsigned { kFeature = 3, kTap = 4, kLoops = 5 };

/// `value[map(loops)]`, an element of a tensor.  Each `readThrough...` replaces the tensor by what makes it, and the
/// indices by those of the same element there; false if something else makes it.
struct ReadElement {
  Value value;
  AffineMap map;
  /// Extents of the loops, where they are known; and what makes them, once a tensor is seen that has them as axes.
  SmallVector<int64_t> extents;
  SmallVector<OpFoldResult> made = SmallVector<OpFoldResult>(kLoops);

  /// The index along `axis`, as coefficients of the loops.
  std::optional<SmallVector<int64_t>> coefficients(unsigned axis) const;

  bool readThroughExpand();
  bool readThroughCollapse();
  bool readThroughCopy(OpBuilder &b);
  /// What lies before the padding may only change the order of axes: the index of a token counts from the padding.
  bool readThroughTranspose();

private:
  bool move(Value to, ArrayRef<AffineExpr> index);
  AffineExpr sum(ArrayRef<int64_t> coefficients) const;
  FailureOr<AffineExpr> takeDigit(SmallVector<int64_t> &coefficients, int64_t size) const;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_RAISEELEMENTS_H
