//===- CompiledModel.h - A module compiled in this process ------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_CONVBERT_RUN_COMPILEDMODEL_H
#define CONVBERT_TOOLS_CONVBERT_RUN_COMPILEDMODEL_H

#include "lib/Runtime/convbert-rt.h"
#include "lib/Target/CPU/CPUTarget.h"
#include "lib/Target/CPU/JIT.h"
#include "tools/convbert-run/Binding.h"

namespace mlir::convbert {

struct CompileOptions {
  std::string entry, compileFrom, dumpDirectory;
  CPUTarget target;
  int threads;
  bool perf; ///< tells profilers what functions are called
};

class CompiledModel {
public:
  /// What a module takes and gives.
  struct Description {
    llvm::json::Object manifest;
    std::vector<ArrayType> inputs, outputs, parameters;
  };
  static llvm::Expected<Description> describe(ModuleOp module, StringRef entry);

  /// Compiles `module` and packs the parameters that lie at `weights`.  Null after a diagnostic of a phase.
  static llvm::Expected<std::unique_ptr<CompiledModel>> create(ModuleOp module, const Description &description,
                                                               ArrayRef<WeightSource> weights,
                                                               const CompileOptions &options);
  ~CompiledModel();

  /// Runs once on `inputs` (in the manifest's order; absent ones are what the model takes for granted), which are kept
  /// for run().  Returns the outputs by name.
  llvm::Expected<Arrays> start(BatchSize size, std::vector<std::optional<Array>> inputs);
  /// Runs once more.
  llvm::Error run();

  int getThreads() const { return convbert_rt_threads(model); }

private:
  CompiledModel() = default;

  std::unique_ptr<JITObject> code;
  convbert_rt_model *model = nullptr;
  std::vector<ArrayType> outputTypes;
  BatchSize size;
  std::vector<std::optional<Array>> inputs;
  std::vector<Array> outputs;
};

} // namespace mlir::convbert

#endif // CONVBERT_TOOLS_CONVBERT_RUN_COMPILEDMODEL_H
