//===- TensorInfoTest.cpp - Views of stored numbers -----------------------===//

#include "test/unittests/Import/TestCheckpoint.h"
#include <random>

using namespace mlir::convbert;
using namespace mlir::convbert::test;
using Sizes = llvm::SmallVector<int64_t, 4>;

namespace {

llvm::Expected<TensorInfo> view(Sizes sizes, Sizes strides, int64_t offset, int64_t elements) {
  TensorInfo tensor;
  tensor.name = "w";
  tensor.dtype = "F32";
  if (llvm::Error failure = setStridedView(tensor, {sizes, strides, offset}, elements, /*storageOffset=*/1000))
    return std::move(failure);
  return tensor;
}

/// Where the element at `index` of the tensor lies in the storage, following the layout as the importer's operations
/// do: slice, drop unit dimensions at the end, transpose.
int64_t locate(const TensorInfo &tensor, llvm::ArrayRef<int64_t> index) {
  llvm::ArrayRef<int64_t> shape = tensor.storedShape();
  Sizes position(shape.size(), 0);
  for (size_t i = 0; i < index.size(); ++i)
    position[tensor.layout.isPlain() ? i : tensor.layout.permutation[i]] = index[i];
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    flat = flat * shape[i] + position[i] + (tensor.layout.offsets.empty() ? 0 : tensor.layout.offsets[i]);
  return (int64_t(tensor.offset) - 1000) / 4 + flat;
}

void expectSameElements(const TensorInfo &tensor, llvm::ArrayRef<int64_t> strides, int64_t offset) {
  Sizes index(tensor.shape.size(), 0);
  while (true) {
    int64_t expected = offset;
    for (size_t i = 0; i < index.size(); ++i)
      expected += index[i] * strides[i];
    ASSERT_EQ(locate(tensor, index), expected);
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == tensor.shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

TEST(StridedView, OfItsOwnStorageIsPlain) {
  TensorInfo tensor = llvm::cantFail(view({4, 8}, {8, 1}, 16, 64));
  EXPECT_TRUE(tensor.layout.isPlain());
  EXPECT_EQ(tensor.offset, 1064u);
  EXPECT_EQ(tensor.bytes, 128u);
  // The stride of a dimension of size 1 says nothing.
  EXPECT_TRUE(llvm::cantFail(view({8, 1, 3}, {3, 77, 1}, 0, 24)).layout.isPlain());
  EXPECT_TRUE(llvm::cantFail(view({}, {}, 3, 4)).layout.isPlain());
  EXPECT_EQ(llvm::cantFail(view({0, 8}, {8, 1}, 0, 4)).bytes, 0u);
}

TEST(StridedView, MayBeTransposed) {
  TensorInfo tensor = llvm::cantFail(view({4, 8}, {1, 4}, 0, 32));
  EXPECT_EQ(tensor.layout.shape, (Sizes{8, 4}));
  EXPECT_EQ(tensor.layout.permutation, (Sizes{1, 0}));
  EXPECT_TRUE(tensor.layout.sizes.empty());
  EXPECT_EQ(tensor.bytes, 128u);
}

TEST(StridedView, MayBeASliceOfWiderRows) {
  // The middle third of a fused [4, 24] matrix.
  TensorInfo tensor = llvm::cantFail(view({4, 8}, {24, 1}, 8, 96));
  EXPECT_EQ(tensor.layout.shape, (Sizes{4, 24}));
  EXPECT_EQ(tensor.layout.offsets, (Sizes{0, 8}));
  EXPECT_EQ(tensor.layout.sizes, (Sizes{4, 8}));
  EXPECT_EQ(tensor.offset, 1000u);
  // Every second number: a unit dimension more.
  EXPECT_EQ(llvm::cantFail(view({4}, {2}, 1, 8)).layout.shape, (Sizes{4, 2}));
}

TEST(StridedView, FindsTheElementsOfRandomSlices) {
  std::mt19937 random(5);
  auto upTo = [&](int64_t most) { return int64_t(random() % most) + 1; };
  for (int round = 0; round < 2000; ++round) {
    // A block of random shape, a slice of it, its dimensions in random order.
    size_t rank = upTo(4);
    Sizes block, sizes, strides(rank), order(rank);
    int64_t elements = 1, offset = 0;
    for (size_t i = 0; i < rank; ++i) {
      block.push_back(upTo(5));
      sizes.push_back(upTo(block[i]));
      order[i] = i;
      elements *= block[i];
    }
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0; stride *= block[i])
      strides[i] = stride, offset += stride * (upTo(block[i] - sizes[i] + 1) - 1);
    std::shuffle(order.begin(), order.end(), random);
    Sizes turned, turnedStrides;
    for (int64_t dim : order)
      turned.push_back(sizes[dim]), turnedStrides.push_back(strides[dim]);
    llvm::Expected<TensorInfo> tensor = view(turned, turnedStrides, offset, elements);
    if (!tensor) // the outermost dimension may end before a whole row of what is left does
      FAIL() << llvm::toString(tensor.takeError());
    expectSameElements(*tensor, turnedStrides, offset);
    EXPECT_LE((tensor->offset - 1000) / 4 + tensor->bytes / 4, uint64_t(elements));
  }
}

TEST(StridedView, RefusesWhatIsNoSlice) {
  expectError(view({4, 8}, {8, 1}, 1, 32), {"inside its storage of 32", "offset 1"});
  expectError(view({4, 8}, {8}, 0, 32), {"one stride for each size"});
  expectError(view({4, 8}, {-8, 1}, 24, 32), {"not negative"});
  expectError(view({4, 8}, {8, 1}, -4, 32), {"not negative"});
  expectError(view({-4, -8}, {8, 1}, 0, 32), {"not negative"});
  expectError(view({4, 8}, {int64_t(1) << 61, 1}, 0, 32), {"inside its storage"});
  expectError(view({INT64_MAX, INT64_MAX}, {0, 0}, 0, 32), {"overflow"});
  expectError(view({1 << 20, 1 << 20}, {0, 0}, 0, 32), {"stride 0"});
  expectError(view({4, 4}, {3, 1}, 0, 32), {"do not overlap"});
  expectError(view({3, 3}, {5, 2}, 0, 32), {"divide each other"});
  // Two rows of 8, of which the second is cut.
  expectError(view({2, 4}, {8, 1}, 0, 12), {"whole rows"});
  expectError(view({INT64_MAX}, {1}, INT64_MAX, 32), {"inside its storage"});
}

TEST(TensorInfo, ComposesTranspositions) {
  TensorInfo tensor = llvm::cantFail(view({2, 3, 4}, {1, 2, 6}, 0, 24));
  transposeTensor(tensor, {2, 0, 1});
  EXPECT_EQ(tensor.shape, (Sizes{4, 2, 3}));
  expectSameElements(tensor, {6, 1, 2}, 0);
}

} // namespace
