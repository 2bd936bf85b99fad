//===- NumpyArchive.h - Arrays of numpy.savez -------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_NUMPYARCHIVE_H
#define CONVBERT_LIB_IMPORT_NUMPYARCHIVE_H

#include "lib/Import/ByteSource.h"
#include "lib/Import/TensorInfo.h"
#include <vector>

namespace mlir::convbert {

/// Lists the arrays of an .npz file, a zip archive of .npy members: a magic number, a version, a header in the form of
/// a Python dict, the numbers.  No number is read.  Errors name file and member: another header, an element type that
/// no tensor has (big-endian, objects, ...), sizes that contradict each other.
llvm::Expected<std::vector<TensorInfo>> readNumpyArchive(const ByteSource &source);

/// The same for a file.
llvm::Expected<std::vector<TensorInfo>> readNumpyArchive(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_NUMPYARCHIVE_H
