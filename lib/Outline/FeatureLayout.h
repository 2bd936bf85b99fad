//===- FeatureLayout.h - How features lie in rows ---------------*- C++ -*-===//
//
// Attention and dynamic convolution work on one head at a time; a head starts at a whole vector, so heads of odd sizes
// are padded.  The padding is the business of whoever writes and reads those rows: dense layers, through zero rows and
// columns of their packed weights.  This analysis finds out which values are laid out so.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_FEATURELAYOUT_H
#define CONVBERT_LIB_OUTLINE_FEATURELAYOUT_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::convbert {

/// Features in blocks of `size`, each padded to `pitch`.  Plain rows are one block without padding.
struct FeatureLayout {
  int64_t size = 0;
  int64_t pitch = 0;

  bool isPlain() const { return size == pitch; }
  /// Where feature `index` lies; of a width, the padded width.
  int64_t padded(int64_t index) const { return isPlain() ? index : index / size * pitch + index % size; }
  bool operator==(const FeatureLayout &other) const { return size == other.size && pitch == other.pitch; }
};

class FeatureLayouts {
public:
  /// Propagates head paddings from the operations that need them.  Reports and fails if a value would need two layouts
  /// or an operation cannot work on padded heads.
  static FailureOr<FeatureLayouts> compute(func::FuncOp fn);

  FeatureLayout get(Value value) const { return layouts.lookup(value); }

private:
  llvm::DenseMap<Value, FeatureLayout> layouts;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_FEATURELAYOUT_H
