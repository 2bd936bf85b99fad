//===- Checker.h - What must hold for any valid module ----------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_FUZZIR_CHECKER_H
#define CONVBERT_TOOLS_FUZZIR_CHECKER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "tools/convbert-fuzz-ir/Generator.h"
#include "tools/convbert-fuzz-ir/Journal.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace mlir::convbert::fuzz {

/// The project's passes and pipelines, by name, without options.
struct Registered {
  SmallVector<std::string> passes, pipelines;
  llvm::StringSet<> onFunctions; ///< passes that need func.func(...) around them
  /// From MLIR's registry; to be called before standard output is used.
  static Registered list();
};

/// Exit code of a worker that has found a pass which leaves invalid IR: what comes after it means nothing.
constexpr int kStopped = 3;

class Checker {
public:
  Checker(MLIRContext &context, Journal &journal, const DialectRegistry &registry, const Registered &registered)
      : context(context), journal(journal), registry(registry), registered(registered) {}

  /// Makes the module of `seed` and tries on it whatever there is.
  void check(uint64_t seed);

  /// Runs `pipeline`, or what needs none, on `subject` once more.
  void replay(const Subject &subject, ModuleOp module, const std::string &pipeline);

  /// `subject` made again; null if that fails.
  OwningOpRef<ModuleOp> build(const Subject &subject);

private:
  /// Printed, parsed and printed again, modules are equal; as text, in generic form and as bytecode.
  void checkRoundTrip(const Subject &subject, ModuleOp module);
  /// What operations say about costs, shapes and heads makes sense.
  void checkInterfaces(const Subject &subject, ModuleOp module, Random &random);
  /// Every pass and one pipeline, each on a copy.
  void checkPasses(const Subject &subject, ModuleOp module, Random &random, int64_t percent);
  /// The line of phases from `simplify` on, as far as it goes.
  void checkPhases(Subject subject, OwningOpRef<ModuleOp> module, Random &random);
  /// One pass or pipeline in a context that has loaded no more than the module needs, as tools do: a pass must name the
  /// dialects that it brings in.
  void checkFresh(const Subject &subject, ModuleOp module, Random &random);
  /// Runs `pipeline`; true if it succeeds.
  bool run(const Subject &subject, ModuleOp module, const std::string &pipeline);
  PassManager &getPassManager(const std::string &pipeline);
  void countCoverage(ModuleOp module);
  /// Changes `module` as `subject.mutation` says.
  void change(const Subject &subject, ModuleOp module);
  /// `name` with options at random, for passes that have some.
  std::string withOptions(StringRef name, Random &random);

  MLIRContext &context;
  Journal &journal;
  const DialectRegistry &registry;
  const Registered &registered;
  std::map<std::string, std::unique_ptr<PassManager>> managers;
};

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_CHECKER_H
