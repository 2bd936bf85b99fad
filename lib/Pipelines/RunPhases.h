//===- RunPhases.h - Run a stretch of the line ------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_PIPELINES_RUNPHASES_H
#define CONVBERT_LIB_PIPELINES_RUNPHASES_H

#include "lib/Pipelines/ModuleFile.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::convbert {

struct RunPhasesOptions {
  std::string isa = "avx2";
  /// What the weights of matrix products are stored as: f32 or bf16.
  std::string weights = "f32";
  /// The last phase that the module has been through already.
  std::string from = "import";
  /// The last phase to run.
  std::string to = "llvm";
  /// Where to leave the module after each phase as NN-name.mlir; empty: nowhere.  Made if it does not exist.
  std::string dumpDirectory;
  /// How: NN-name.mlir, or NN-name.mlirbc for bytecode.
  ModuleFormat dumpFormat;
  /// Whether a failing phase leaves the module and names itself.
  bool savesReproducer = true;
};

/// Milliseconds of each step, in order.
using PhaseTimes = SmallVector<std::pair<std::string, double>>;

/// Runs the phases after `options.from` up to and including `options.to` and appends their times to `times`.
///
/// On failure the diagnostics of the passes are followed by one that names the phase, the file that holds the module
/// as the phase met it, and the command that replays the failure.
LogicalResult runPhases(ModuleOp module, const RunPhasesOptions &options, PhaseTimes &times);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_RUNPHASES_H
