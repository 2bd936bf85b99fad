//===- PerfSupport.h - Names of linked code for `perf` ----------*- C++ -*-===//

#ifndef CONVBERT_LIB_TARGET_CPU_PERFSUPPORT_H
#define CONVBERT_LIB_TARGET_CPU_PERFSUPPORT_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::convbert {

/// Where `perf report` looks for the names of functions that process `pid` has put into memory: /tmp/perf-PID.map.
std::string getPerfMapPath(int pid);

/// Makes `jit` tell `perf` of all code that it links from now on: names in the perf map, names and bytes in a jitdump
/// (below $JITDUMPDIR, or the home directory).  Fails if one of the two cannot be written.
llvm::Error addPerfSupport(llvm::orc::LLJIT &jit);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TARGET_CPU_PERFSUPPORT_H
