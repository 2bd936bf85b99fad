//===- Blocks.cpp - Parts of tensors along an axis --------------------------===//

#include "dialect/IR/Blocks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

Value convbert::extractBlock(OpBuilder &b, Location loc, Value tensor, int64_t axis, int64_t offset, int64_t size) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (size == type.getDimSize(axis))
    return tensor;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  offsets[axis] = b.getIndexAttr(offset);
  sizes[axis] = b.getIndexAttr(size);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), tensor, offsets, sizes, strides);
}

Value convbert::selectBlocks(OpBuilder &b, Location loc, Value tensor, int64_t axis, int64_t size,
                             ArrayRef<int64_t> blocks) {
  SmallVector<Value> parts;
  for (size_t begin = 0, end; begin < blocks.size(); begin = end) {
    for (end = begin + 1; end < blocks.size() && blocks[end] == blocks[end - 1] + 1;)
      ++end;
    int64_t count = static_cast<int64_t>(end - begin);
    parts.push_back(extractBlock(b, loc, tensor, axis, blocks[begin] * size, count * size));
  }
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = static_cast<int64_t>(blocks.size()) * size;
  return tensor::ConcatOp::create(b, loc, type.clone(shape), axis, parts);
}
