//===- Phases.h - The line from the dialect to LLVM -------------*- C++ -*-===//
//
// import -> simplify -> outline -> linalg -> schedule -> bufferize -> threads -> memory -> llvm.  A straight line: no
// option forks inside a phase, and another kind of target composes other phases.  Each ends with a check of what holds
// at its exit (`convbert-verify-phase`).
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_PIPELINES_PHASES_H
#define CONVBERT_LIB_PIPELINES_PHASES_H

#include "lib/Pipelines/Options.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::convbert {

/// Nothing: the importer does this phase.  It has a name so that a module can stop at, or start from, it.
void populateImport(OpPassManager &pm, const PipelineOptions &options);
/// convbert -> convbert: block ops to step ops, fused ops, parameter-only chains moved to where globals are loaded.
void populateSimplify(OpPassManager &pm, const PipelineOptions &options);
/// convbert -> host code on memrefs, and kernels with memref operands and tensor bodies.
void populateOutline(OpPassManager &pm, const PipelineOptions &options);
/// Kernel bodies -> linalg.
void populateLinalg(OpPassManager &pm, const PipelineOptions &options);
/// Kernel bodies: tiled, unrolled, vectorised by one transform sequence a kernel.
void populateSchedule(OpPassManager &pm, const PipelineOptions &options);
/// Kernel bodies: tensors -> memrefs, never across function boundaries.
void populateBufferize(OpPassManager &pm, const PipelineOptions &options);
/// Kernels -> task functions and dispatchers.
void populateThreads(OpPassManager &pm, const PipelineOptions &options);
/// Temporaries -> scratch argument; prefetches.
void populateMemory(OpPassManager &pm, const PipelineOptions &options);
/// -> LLVM dialect.
void populateLLVM(OpPassManager &pm, const PipelineOptions &options);

/// A phase of the line.
struct Phase {
  StringRef name;        ///< as in --compile-to=NAME
  StringRef pipeline;    ///< registered pipeline, e.g. "convbert-bufferize-cpu"; empty for `import`
  StringRef description; ///< one line
  void (*populate)(OpPassManager &, const PipelineOptions &);
};

/// All phases in order.
ArrayRef<Phase> getPhases();

/// The phase called `name`, or null.
const Phase *findPhase(StringRef name);

/// Names of all phases in order, separated by ", ".
std::string getPhaseNames();

} // namespace mlir::convbert

#endif // CONVBERT_LIB_PIPELINES_PHASES_H
