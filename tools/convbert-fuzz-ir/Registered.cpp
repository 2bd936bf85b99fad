//===- Registered.cpp - The project's passes and pipelines ----------------===//

#include "lib/Pipelines/Phases.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tools/convbert-fuzz-ir/Checker.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <unistd.h>

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;

/// What MLIR prints about its registry: there is no other way to ask for all names.
static std::string printRegistry() {
  std::string text;
  FILE *file = std::tmpfile();
  if (!file)
    return text;
  llvm::outs().flush();
  int output = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  printRegisteredPasses();
  llvm::outs().flush();
  dup2(output, STDOUT_FILENO);
  close(output);
  std::rewind(file);
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, size);
  std::fclose(file);
  return text;
}

Registered Registered::list() {
  Registered result;
  SmallVector<StringRef> lines;
  std::string text = printRegistry();
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines) {
    line = line.ltrim();
    if (!line.consume_front("--convbert-"))
      continue;
    result.passes.push_back(("convbert-" + line.take_until([](char c) { return c == ' ' || c == '='; })).str());
    OpPassManager onModules(ModuleOp::getOperationName());
    if (failed(parsePassPipeline(result.passes.back(), onModules, llvm::nulls())))
      result.onFunctions.insert(result.passes.back());
  }
  for (const Phase &phase : getPhases())
    if (!phase.pipeline.empty())
      result.pipelines.push_back(phase.pipeline.str());
  result.pipelines.push_back("convbert-cpu");
  // What stands before the lowering of single operations.
  result.pipelines.push_back("func.func(convbert-decompose,convbert-to-linalg)");
  result.pipelines.push_back(
      "func.func(convbert-decompose,convbert-fuse-epilogues,convbert-to-linalg),canonicalize,cse");
  return result;
}
