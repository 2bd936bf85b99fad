//===- CPUTarget.h - What code is generated for -----------------*- C++ -*-===//

#ifndef CONVBERT_LIB_TARGET_CPU_CPUTARGET_H
#define CONVBERT_LIB_TARGET_CPU_CPUTARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Host.h"
#include <string>

namespace mlir::convbert {

/// LLVM's names of CPU features, and whether a machine has them.
using HostFeatures = llvm::StringMap<bool>;

/// A CPU to compile for.
struct CPUTarget {
  std::string name;         ///< as given: "native", "x86-64-v3", "x86-64-v4" or "x86-64-v4-bf16"
  std::string isa;          ///< instruction set of the schedules: "avx2", "avx512" or "avx512bf16"
  std::string triple;       ///< of LLVM
  std::string cpu;          ///< of LLVM, e.g. "znver3"
  std::string features;     ///< of LLVM, e.g. "+avx2,-sse4a"; empty: what `cpu` implies
  bool hasBFloat16 = false; ///< AVX512_BF16 may be used

  /// Chooses the type of matrix products: "float32" or "bfloat16".  Fails, in one sentence, for another one and if the
  /// target has no instructions for it.
  llvm::Error setProductType(StringRef type);

  /// The target called `name`.  Fails if there is none of that name, or if `native` finds no AVX2 on this machine,
  /// which has the features `host`.
  static llvm::Expected<CPUTarget> parse(StringRef name, const HostFeatures &host = llvm::sys::getHostCPUFeatures());

  /// Fails, in one sentence, if this machine, which has the features `host`, cannot run code for the target.
  llvm::Error checkHost(const HostFeatures &host = llvm::sys::getHostCPUFeatures()) const;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_CPUTARGET_H
