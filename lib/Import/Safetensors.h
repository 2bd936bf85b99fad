//===- Safetensors.h - Headers of safetensors files -------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_SAFETENSORS_H
#define CONVBERT_LIB_IMPORT_SAFETENSORS_H

#include "lib/Import/ByteSource.h"
#include "lib/Import/TensorInfo.h"
#include <vector>

namespace mlir::convbert {

/// Reads the header of a safetensors file and none of its numbers.  Returns the tensors in the order of their bytes.
///
/// The file may be hostile: every number is checked before it is used.  Refused are headers that are cut, too large,
/// no JSON, or with a key twice; unknown element types; shapes whose size overflows or is not that of their bytes; and
/// bytes that overlap, leave gaps, or do not end where the file does (all of which the format forbids).  The one-line
/// error names the file, the tensor, what was found and what is required.
llvm::Expected<std::vector<TensorInfo>> readSafetensorsHeader(const ByteSource &source);

/// The same for a file.
llvm::Expected<std::vector<TensorInfo>> readSafetensorsHeader(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_SAFETENSORS_H
