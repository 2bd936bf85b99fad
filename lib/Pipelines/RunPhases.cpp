//===- RunPhases.cpp - Run a stretch of the line --------------------------===//

#include "lib/Pipelines/RunPhases.h"
#include "lib/Pipelines/Phases.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace mlir::convbert;

/// Saves `module`, as `phase` met it, and says how to replay the failure.
static void reportFailure(ModuleOp module, const Phase &phase, const RunPhasesOptions &options) {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("convbert-" + phase.name, "mlir", path)) {
    module.emitError("phase '") << phase.name << "' failed; no reproducer: the temporary directory is not writable";
    return;
  }
  std::string choices = "isa=" + options.isa;
  if (options.weights != "f32")
    choices = "'" + choices + " weights=" + options.weights + "'";
  std::string command = llvm::formatv("convbert-opt --{0}={1} {2}", phase.pipeline, choices, path);
  std::string header =
      llvm::formatv("// Phase '{0}' fails on this module.  To replay:\n//   {1}\n", phase.name, command);
  ModuleFormat format;
  format.locations = true;
  if (llvm::Error error = writeModule(module, path, format, header))
    module.emitError("phase '") << phase.name << "' failed; no reproducer: " << llvm::toString(std::move(error));
  else
    module.emitError("phase '") << phase.name << "' failed; replay it with: " << command;
}

/// The index of the phase called `name`, or failure with a diagnostic.
static FailureOr<size_t> getIndex(ModuleOp module, StringRef name) {
  if (const Phase *phase = findPhase(name))
    return phase - getPhases().begin();
  return module.emitError("requires the name of a phase (") << getPhaseNames() << "), but found '" << name << "'";
}

LogicalResult convbert::runPhases(ModuleOp module, const RunPhasesOptions &options, PhaseTimes &times) {
  FailureOr<size_t> from = getIndex(module, options.from);
  FailureOr<size_t> to = getIndex(module, options.to);
  if (failed(from) || failed(to))
    return failure();
  if (*from > *to)
    return module.emitError("requires a phase to start from no later than '")
           << options.to << "', but found '" << options.from << "'";
  bool dump = !options.dumpDirectory.empty();
  if (dump)
    if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory))
      return module.emitError("requires a directory for the phases, but found ")
             << options.dumpDirectory << ": " << error.message();

  PipelineOptions pipelineOptions;
  pipelineOptions.isa = options.isa;
  pipelineOptions.weights = options.weights;
  for (size_t i = *from; i <= *to; ++i) {
    const Phase &phase = getPhases()[i];
    if (i > *from) {
      auto start = std::chrono::steady_clock::now();
      OwningOpRef<ModuleOp> before = module.clone();
      PassManager pm(module.getContext());
      phase.populate(pm, pipelineOptions);
      if (failed(pm.run(module))) {
        if (options.savesReproducer)
          reportFailure(*before, phase, options);
        return failure();
      }
      std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
      times.emplace_back(phase.name.str(), time.count());
    }
    if (dump) {
      StringRef extension = options.dumpFormat.bytecode ? "mlirbc" : "mlir";
      std::string path = llvm::formatv("{0}/{1}-{2}.{3}", options.dumpDirectory, i, phase.name, extension);
      if (llvm::Error error = writeModule(module, path, options.dumpFormat))
        return module.emitError(llvm::toString(std::move(error)));
    }
  }
  return success();
}
