//===- Array.h - A dense array and its files --------------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_CONVBERT_RUN_ARRAY_H
#define CONVBERT_TOOLS_CONVBERT_RUN_ARRAY_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace mlir::convbert {

/// A row-major, little-endian array.
struct Array {
  /// "bool", "int8" .. "int64", "uint8" .. "uint64", "float16", "bfloat16", "float32" or "float64".
  std::string dtype;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<char> bytes;

  /// Number of elements.
  int64_t size() const;
  /// Element `index` in row-major order, as a double.
  double at(int64_t index) const;
};

/// Bytes of an element of `dtype`; 0 if there is no such one.
int64_t getElementBytes(llvm::StringRef dtype);

/// Bytes of an array.  Fails if a size is negative or the product does not fit 62 bits.
llvm::Expected<int64_t> countBytes(llvm::StringRef dtype, llvm::ArrayRef<int64_t> shape);

/// "float32 [2, 20]".
std::string describe(llvm::StringRef dtype, llvm::ArrayRef<int64_t> shape);

/// `array` with elements of type `dtype`.  Integers and booleans convert to any integer type that holds their values
/// (to bool: 0 and 1), floating-point numbers only to themselves.  `name` is for the message.
llvm::Expected<Array> convertTo(const Array &array, llvm::StringRef dtype, const llvm::Twine &name);

/// Reads a .npy file.  The file may be hostile; objects are refused, not unpickled.
llvm::Expected<Array> readNpy(llvm::StringRef path);
/// The same for bytes in memory; `name` is for messages.
llvm::Expected<Array> parseNpy(llvm::StringRef bytes, const llvm::Twine &name);
/// Writes a .npy file by way of a temporary one.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

/// The arrays of a .npz or .safetensors file, of a directory of .npy files, or of one .npy file, by name.
llvm::Expected<std::map<std::string, Array>> readArrays(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_CONVBERT_RUN_ARRAY_H
