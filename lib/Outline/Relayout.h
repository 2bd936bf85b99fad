//===- Relayout.h - A static tensor in another order ------------*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_RELAYOUT_H
#define CONVBERT_LIB_OUTLINE_RELAYOUT_H

#include "lib/Outline/FeatureLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::convbert {

/// Builds relayouts of one static tensor, step by step.
class Relayout {
public:
  Relayout(OpBuilder &b, Value value) : b(b), loc(value.getLoc()), value(value) {}

  Value get() const { return value; }
  int64_t size(int64_t axis) const { return type().getDimSize(axis); }

  /// Splits `axis` into `outer x inner`.
  Relayout &split(int64_t axis, int64_t inner) {
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0; i < type().getRank(); ++i) {
      ReassociationIndices group{static_cast<int64_t>(shape.size())};
      if (i == axis) {
        group.push_back(shape.size() + 1);
        shape.append({size(i) / inner, inner});
      } else {
        shape.push_back(size(i));
      }
      groups.push_back(group);
    }
    value = tensor::ExpandShapeOp::create(b, loc, type().clone(shape), value, groups);
    return *this;
  }

  /// Joins `axis` and the next one.
  Relayout &join(int64_t axis) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0; i < type().getRank(); ++i)
      if (i == axis + 1)
        groups.back().push_back(i);
      else
        groups.push_back({i});
    value = tensor::CollapseShapeOp::create(b, loc, value, groups);
    return *this;
  }

  /// Appends zeros until `axis` has `extent`.
  Relayout &pad(int64_t axis, int64_t extent) {
    if (size(axis) == extent)
      return *this;
    SmallVector<int64_t> shape(type().getShape());
    SmallVector<OpFoldResult> low(shape.size(), b.getIndexAttr(0)), high(low);
    high[axis] = b.getIndexAttr(extent - shape[axis]);
    shape[axis] = extent;
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type().getElementType()));
    value = tensor::PadOp::create(b, loc, type().clone(shape), value, low, high, zero);
    return *this;
  }

  /// `extent` of `axis`, from `offset` on.
  Relayout &slice(int64_t axis, int64_t offset, int64_t extent) {
    SmallVector<int64_t> shape(type().getShape());
    shape[axis] = extent;
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)), strides(shape.size(), b.getIndexAttr(1));
    offsets[axis] = b.getIndexAttr(offset);
    value = tensor::ExtractSliceOp::create(b, loc, type().clone(shape), value, offsets,
                                           getAsIndexOpFoldResult(b.getContext(), shape), strides);
    return *this;
  }

  Relayout &padTo(int64_t axis, int64_t multiple) { return pad(axis, llvm::alignTo(size(axis), multiple)); }

  /// Pads the blocks of `layout` along `axis`.
  Relayout &padBlocks(int64_t axis, FeatureLayout layout) {
    if (layout.isPlain())
      return *this;
    return split(axis, layout.size).pad(axis + 1, layout.pitch).join(axis);
  }

  Relayout &transpose(ArrayRef<int64_t> permutation) {
    SmallVector<int64_t> shape;
    for (int64_t axis : permutation)
      shape.push_back(size(axis));
    Value init = tensor::EmptyOp::create(b, loc, shape, type().getElementType());
    value = linalg::TransposeOp::create(b, loc, value, init, permutation)->getResult(0);
    return *this;
  }

  /// Stores elements as `element`; rounds to nearest even.
  Relayout &round(Type element) {
    if (type().getElementType() != element)
      value = arith::TruncFOp::create(b, loc, type().clone(element), value);
    return *this;
  }

private:
  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  OpBuilder &b;
  Location loc;
  Value value;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_RELAYOUT_H
