//===- JIT.h - An object file, linked into this process ---------*- C++ -*-===//

#ifndef CONVBERT_LIB_TARGET_CPU_JIT_H
#define CONVBERT_LIB_TARGET_CPU_JIT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::convbert {

/// Compiled code in this process, without a file and without a linker.  Lives as long as its functions are called.
class JITObject {
public:
  /// Links `object` (the bytes of an object file; see emitObject()).  It may refer to what a shared object may refer to
  /// (checkUndefinedSymbols()); libomp is loaded if it is not in the process yet.  With `perf`, profilers are told what
  /// the code's functions are called (see addPerfSupport()).
  static llvm::Expected<std::unique_ptr<JITObject>> load(StringRef object, bool perf = false);
  ~JITObject();

  /// The function `name`, or an error that names it.
  template <typename Fn> llvm::Expected<Fn *> lookup(StringRef name) const {
    llvm::Expected<void *> address = lookupAddress(name);
    if (!address)
      return address.takeError();
    return reinterpret_cast<Fn *>(*address);
  }

private:
  explicit JITObject(std::unique_ptr<llvm::orc::LLJIT> jit);
  llvm::Expected<void *> lookupAddress(StringRef name) const;

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_JIT_H
