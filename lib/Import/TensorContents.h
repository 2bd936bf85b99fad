//===- TensorContents.h - Are the numbers what they should be? --*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_TENSORCONTENTS_H
#define CONVBERT_LIB_IMPORT_TENSORCONTENTS_H

#include "lib/Import/Checkpoint.h"
#include <functional>

namespace mlir::convbert {

/// Gives a directory to put unpacked weights in.
using DirectoryProvider = std::function<llvm::Expected<std::string>()>;

/// Looks for numbers that are not finite in bytes that come piece by piece.
class FiniteScan {
public:
  /// `dtype` is F32, F16 or BF16; other types hold finite numbers.
  explicit FiniteScan(llvm::StringRef dtype);

  /// An element that is not finite: its index since the start, and "nan", "inf" or "-inf".
  struct Finding {
    uint64_t index;
    const char *what;
  };

  /// Takes the next bytes and calls `report` for what it finds until that returns false.
  void feed(llvm::StringRef bytes, llvm::function_ref<bool(const Finding &)> report);

private:
  unsigned width;
  uint64_t exponent; // the exponent bits of every lane of 64 bits
  uint64_t step;     // the lowest exponent bit of every lane
  uint64_t position = 0;
  std::string carried; // the start of an element whose end has not come
};

/// Reads the numbers of all parameters once, in pieces, and refuses (one line: file, tensor, index) those that are not
/// finite: a model with one of them has answers that are not numbers.  Compares checksums where there are some (zip).
/// Deflated parameters are unpacked into a file of the directory that `unpackTo` gives, and point there afterwards;
/// without `unpackTo` they are only checked.
llvm::Error checkContents(Checkpoint &checkpoint, const DirectoryProvider &unpackTo);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_TENSORCONTENTS_H
