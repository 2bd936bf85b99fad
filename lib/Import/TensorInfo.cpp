//===- TensorInfo.cpp - Where a tensor lies in a file -----------*- C++ -*-===//

#include "lib/Import/TensorInfo.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

namespace mlir::convbert {

uint64_t elementBits(llvm::StringRef dtype) {
  return llvm::StringSwitch<uint64_t>(dtype)
      .Case("F4", 4)
      .Cases({"F6_E2M3", "F6_E3M2"}, 6)
      .Cases({"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"}, 8)
      .Cases({"I16", "U16", "F16", "BF16"}, 16)
      .Cases({"I32", "U32", "F32"}, 32)
      .Cases({"I64", "U64", "F64", "C64"}, 64)
      .Default(0);
}

std::optional<int64_t> elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    std::optional<int64_t> product = llvm::checkedMul(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

void transposeTensor(TensorInfo &tensor, ArrayRef<int64_t> permutation) {
  StoredLayout &layout = tensor.layout;
  if (layout.isPlain()) {
    layout.shape = tensor.shape;
    layout.permutation.resize(tensor.shape.size());
    std::iota(layout.permutation.begin(), layout.permutation.end(), 0);
  }
  SmallVector<int64_t, 4> shape, composed;
  for (int64_t dim : permutation) {
    shape.push_back(tensor.shape[dim]);
    composed.push_back(layout.permutation[dim]);
  }
  tensor.shape = shape;
  layout.permutation = composed;
}

/// Whether numbers of the view follow each other in row-major order.
static bool isContiguous(const StridedView &view) {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip_equal(view.sizes, view.strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

/// The index behind the last number of the view, or none if it cannot be computed.
static std::optional<int64_t> endOf(const StridedView &view) {
  int64_t end = view.offset;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    std::optional<int64_t> extent = llvm::checkedMul(size - 1, stride);
    std::optional<int64_t> sum = extent ? llvm::checkedAdd(end, *extent) : std::nullopt;
    if (!sum)
      return std::nullopt;
    end = *sum;
  }
  return llvm::checkedAdd<int64_t>(end, 1);
}

static llvm::Error refuseView(const StridedView &view, const Twine &message) {
  return importError("requires " + message + ", but found size " + shapeText(view.sizes) + ", stride " +
                     shapeText(view.strides) + ", offset " + Twine(view.offset));
}

llvm::Error setStridedView(TensorInfo &tensor, const StridedView &view, int64_t elements, uint64_t storageOffset) {
  if (view.sizes.size() != view.strides.size())
    return refuseView(view, "one stride for each size");
  if (view.offset < 0 ||
      llvm::any_of(
          view.sizes, [](int64_t size) { return size < 0; }) ||
      llvm::any_of(view.strides, [](int64_t stride) { return stride < 0; }))
    return refuseView(view, "sizes, strides and an offset that are not negative");
  std::optional<int64_t> count = elementCount(view.sizes);
  if (!count)
    return refuseView(view, "a size whose number of elements does not overflow");
  tensor.shape = view.sizes;
  uint64_t width = elementBits(tensor.dtype) / 8;
  if (*count == 0)
    return llvm::Error::success();
  std::optional<int64_t> end = endOf(view);
  if (!end || *end > elements)
    return refuseView(view, "a view inside its storage of " + Twine(elements) + " elements");
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides))
    if (size > 1 && stride == 0)
      return refuseView(view, "every number stored once (no stride 0; save the tensor with .contiguous())");

  if (isContiguous(view)) {
    tensor.offset = storageOffset + view.offset * width;
    tensor.bytes = *count * width;
    return llvm::Error::success();
  }
  // The block's dimensions from the slowest to the fastest; those of size 1 first, whatever their stride.
  size_t rank = view.sizes.size();
  SmallVector<int64_t, 4> order(rank);
  std::iota(order.begin(), order.end(), 0);
  auto speed = [&](int64_t dim) { return view.sizes[dim] == 1 ? INT64_MAX : view.strides[dim]; };
  llvm::sort(order, [&](int64_t a, int64_t b) { return std::pair(-speed(a), a) < std::pair(-speed(b), b); });
  StoredLayout layout;
  layout.permutation.resize(rank);
  // Each dimension is as long as the slower one's stride says; what is left of the offset is where the slice starts.
  int64_t outer = 0, rest = view.offset;
  for (auto [position, dim] : llvm::enumerate(order)) {
    layout.permutation[dim] = position;
    int64_t size = view.sizes[dim], stride = view.strides[dim];
    if (size == 1) {
      layout.shape.push_back(1);
      layout.offsets.push_back(0);
      layout.sizes.push_back(1);
      continue;
    }
    if (outer == 0) {
      // The block starts at a multiple of the slowest stride.
      layout.shape.push_back(size);
      layout.offsets.push_back(0);
      rest = view.offset % stride;
    } else {
      if (outer % stride != 0)
        return refuseView(view, "strides that divide each other (save the tensor with .contiguous())");
      layout.shape.push_back(outer / stride);
      layout.offsets.push_back(rest / stride);
      rest %= stride;
    }
    layout.sizes.push_back(size);
    if (layout.offsets.back() + size > layout.shape.back())
      return refuseView(view, "rows that do not overlap (save the tensor with .contiguous())");
    outer = stride;
  }
  if (outer > 1) {
    layout.shape.push_back(outer);
    layout.offsets.push_back(rest);
    layout.sizes.push_back(1);
  }
  int64_t slowest = 0;
  for (int64_t dim : order)
    if (view.sizes[dim] > 1) {
      slowest = view.strides[dim];
      break;
    }
  int64_t begin = view.offset - view.offset % slowest;
  std::optional<int64_t> blockCount = elementCount(layout.shape);
  if (!blockCount || *blockCount > elements - begin)
    return refuseView(view, "whole rows in its storage of " + Twine(elements) +
                                " elements (save the tensor with .contiguous())");
  if (layout.shape == layout.sizes)
    layout.offsets.clear(), layout.sizes.clear();
  tensor.layout = std::move(layout);
  tensor.offset = storageOffset + begin * width;
  tensor.bytes = *blockCount * width;
  return llvm::Error::success();
}

} // namespace mlir::convbert
