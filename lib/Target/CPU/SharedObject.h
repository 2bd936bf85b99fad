//===- SharedObject.h - From an object file to a shared object --*- C++ -*-===//

#ifndef CONVBERT_LIB_TARGET_CPU_SHAREDOBJECT_H
#define CONVBERT_LIB_TARGET_CPU_SHAREDOBJECT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::convbert {

/// Fails if the object file `object` refers to anything but the OpenMP entry points, the heap and memory functions of
/// the C library, and scalar functions of the mathematics library.
llvm::Error checkUndefinedSymbols(StringRef object);

/// Links `object` (the bytes of an object file) to the shared object `output` with lld: exports `_mlir_ciface_*`
/// alone, needs libomp.so.5 (and libm.so.6 if it calls it).  No library has to be installed for that.  Writes to a
/// temporary name in the directory of `output` and renames.
llvm::Error linkSharedObject(StringRef object, StringRef output);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_SHAREDOBJECT_H
