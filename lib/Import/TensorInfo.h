//===- TensorInfo.h - Where a tensor lies in a file -------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_TENSORINFO_H
#define CONVBERT_LIB_IMPORT_TENSORINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::convbert {

/// How a tensor is cut out of a row-major block of numbers: `slice`, without the unit dimensions at its end that
/// `permutation` does not name, transposed.
struct StoredLayout {
  /// Shape of the block; empty if it is the tensor's own, in which case the rest is empty, too.
  llvm::SmallVector<int64_t, 4> shape;
  /// First index and extent along each dimension of the block; empty if all of it is used.
  llvm::SmallVector<int64_t, 4> offsets, sizes;
  /// Dimension i of the tensor is dimension `permutation[i]` of the slice.
  llvm::SmallVector<int64_t, 4> permutation;

  bool isPlain() const { return shape.empty(); }
};

/// An entry of a zip archive that holds the bytes of a tensor.
struct ZipMember {
  std::string name;
  /// Where the archive's directory lists it: a key, and how to find it again.
  uint64_t position = 0;
  /// Where its bytes start, and how many there are in the file and once unpacked.
  uint64_t dataOffset = 0, packedBytes = 0, bytes = 0;
  uint32_t crc = 0;
  /// Whether it must be inflated before it can be used.
  bool deflated = false;
};

/// A tensor of a checkpoint file: what it is called and where its bytes lie.
struct TensorInfo {
  /// The name under Hugging Face's conventions.
  std::string name;
  /// Safetensors' tag of the element type: "F32", "I64", ...
  std::string dtype;
  llvm::SmallVector<int64_t, 4> shape;
  std::string file;
  /// First byte, counted from the start of the file (of the unpacked member, if that is deflated), and number of bytes
  /// of the block that `layout` describes.
  uint64_t offset = 0;
  uint64_t bytes = 0;
  StoredLayout layout;
  /// Set for tensors of zip archives.
  std::optional<ZipMember> member;
  /// The name in the file, where that is another one.
  std::string storedName;

  llvm::ArrayRef<int64_t> storedShape() const { return layout.isPlain() ? shape : layout.shape; }
};

/// Bits of one element, 0 if the tag is unknown.
uint64_t elementBits(llvm::StringRef dtype);

/// Product of sizes that are not negative, or none if it has more than 63 bits.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// Makes dimension i of `tensor` what was dimension `permutation[i]`.
void transposeTensor(TensorInfo &tensor, llvm::ArrayRef<int64_t> permutation);

/// A view of numbers that lie one after the other.
struct StridedView {
  llvm::SmallVector<int64_t, 4> sizes, strides;
  /// The first number, counted from the first one stored.
  int64_t offset = 0;
};

/// Sets shape, layout, offset and bytes of `tensor` to those of `view` of a storage of `elements` numbers that starts
/// at byte `storageOffset`; `tensor.dtype` must be known.  Views that are a slice of a row-major block with its
/// dimensions in any order have a layout: that is what transposing, splitting and narrowing make.  Error, a phrase to
/// follow the tensor's name: a view that leaves the storage, repeats numbers, or is no such slice.
llvm::Error setStridedView(TensorInfo &tensor, const StridedView &view, int64_t elements, uint64_t storageOffset);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_TENSORINFO_H
