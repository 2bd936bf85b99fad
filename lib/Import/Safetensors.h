//===- Safetensors.h - Headers of safetensors files -------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_SAFETENSORS_H
#define CONVBERT_LIB_IMPORT_SAFETENSORS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::convbert {

/// A tensor of a checkpoint file: what it is called and where its bytes lie.
struct TensorInfo {
  std::string name;
  /// The file's own tag: "F32", "I64", ...
  std::string dtype;
  llvm::SmallVector<int64_t, 4> shape;
  std::string file;
  /// First byte, counted from the start of the file, and number of bytes.
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Reads the header of a safetensors file and none of its numbers.  Returns the tensors in the order of their bytes.
///
/// The file may be hostile: every number is checked before it is used.  Refused are headers that are cut, too large,
/// no JSON, or with a key twice; unknown element types; shapes whose size overflows or is not that of their bytes; and
/// bytes that overlap, leave gaps, or do not end where the file does (all of which the format forbids).  The one-line
/// error names the file, the tensor, what was found and what is required.
llvm::Expected<std::vector<TensorInfo>> readSafetensorsHeader(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_SAFETENSORS_H
