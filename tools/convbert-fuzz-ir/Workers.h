//===- Workers.h - Checks in processes that may die -------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_FUZZIR_WORKERS_H
#define CONVBERT_TOOLS_FUZZIR_WORKERS_H

#include "mlir/IR/DialectRegistry.h"
#include "tools/convbert-fuzz-ir/Checker.h"
#include <string>

namespace mlir::convbert::fuzz {

struct Options {
  uint64_t seed = 1;
  int64_t seconds = 10;  ///< wall clock
  int64_t count = 0;     ///< modules; 0: as many as the time allows
  int64_t limit = 20;    ///< seconds of a processor that one pass may take
  std::string directory; ///< for reproducers; made on the first finding
};

/// Something that must not happen, the same in any number of modules.
struct Finding {
  std::string kind, pass, message, pipeline;
  Subject subject; ///< of the smallest module
  std::string file;
  int64_t times = 0, size = 0;
  bool replays = false; ///< alone, in a new process; otherwise it took the modules before it
};

struct Report {
  std::map<std::string, int64_t> counts;
  std::vector<Finding> findings;
};

/// Checks the module of one seed in this process, for a debugger; findings and counts go to standard output.
void checkHere(const DialectRegistry &registry, const Registered &registered, uint64_t seed);

/// Checks modules from `options.seed` on.  Workers are forked and replaced when they die, so nothing stops the run.
Report runWorkers(const DialectRegistry &registry, const Registered &registered, const Options &options);

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_WORKERS_H
