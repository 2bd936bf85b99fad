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

struct CPULevel;

/// A CPU to compile for.
struct CPUTarget {
  std::string name;                ///< as given: "native" or the name of a level (getNames())
  std::string isa;                 ///< instruction set of the schedules, of lib/Outline/Target.h
  std::string triple;              ///< of LLVM
  std::string cpu;                 ///< of LLVM, e.g. "znver3"
  std::string features;            ///< of LLVM, e.g. "+avx2,-sse4a"; empty: what `cpu` implies
  const CPULevel *level = nullptr; ///< what code may use at most; never null after parse()

  /// Chooses the type of matrix products: "float32" or "bfloat16".  Fails, in one sentence, for another one and if the
  /// target has no instructions for it.
  llvm::Error setProductType(StringRef type);

  /// The target called `name`.  Fails if there is none of that name, or if `native` finds this machine, which has the
  /// features `host`, below all levels.
  static llvm::Expected<CPUTarget> parse(StringRef name, const HostFeatures &host = llvm::sys::getHostCPUFeatures());

  /// All names, as `quote`d name, ... or name.
  static std::string getNames(StringRef quote = "");

  /// Fails, in one sentence, if this machine, which has the features `host`, cannot run code for the target.
  llvm::Error checkHost(const HostFeatures &host = llvm::sys::getHostCPUFeatures()) const;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_CPUTARGET_H
