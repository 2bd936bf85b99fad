//===- convbert-import.cpp - Print a checkpoint as a module ---------------===//

#include "lib/Import/Explain.h"
#include "lib/Import/Import.h"
#include "lib/Pipelines/ModuleFile.h"
#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/EntryOptions.h"
#include "tools/ToolMain.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::convbert;
namespace cl = llvm::cl;

static cl::OptionCategory category("convbert-import options");
static cl::opt<std::string> directory(cl::Positional, cl::Required, cl::value_desc("DIR"),
                                      cl::desc("<checkpoint directory>"), cl::cat(category));
static cl::opt<std::string> output("o", cl::value_desc("FILE"), cl::init("-"),
                                   cl::desc("Where to write the module (default: standard output)"), cl::cat(category));
static cl::opt<bool> emitBytecode("emit-bytecode", cl::desc("Write bytecode"), cl::cat(category));
static cl::opt<bool> locations("locations", cl::desc("Write locations, which name layers and parameters"),
                               cl::cat(category));
static EntryOptions entryOptions(category);
static cl::opt<bool> explain("explain",
                             cl::desc("Print what the checkpoint is, and every tensor with type and shape, instead"),
                             cl::cat(category));

/// Prints the explanation; returns the exit code.
static int printExplanation(MLIRContext &context) {
  llvm::Expected<Explanation> explanation = explainCheckpoint(directory, context);
  if (!explanation) {
    llvm::errs() << "convbert-import: " << llvm::toString(explanation.takeError()) << "\n";
    return 1;
  }
  llvm::outs() << explanation->text;
  if (explanation->refusal.empty())
    return 0;
  llvm::errs() << "convbert-import: " << explanation->refusal << "\n";
  return 1;
}

int main(int argc, char **argv) {
  initTool("convbert-import");
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Prints a checkpoint as a module of convbert block operations\n",
                                   &llvm::errs()))
    return 2;
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  if (explain)
    return printExplanation(context);
  ImportOptions options = entryOptions.get();
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(directory, options, context, message);
  if (failed(model)) {
    llvm::errs() << "convbert-import: " << message << "\n";
    return 1;
  }
  for (const std::string &note : model->notes)
    llvm::errs() << "convbert-import: note: " << note << "\n";
  if (llvm::Error error = writeModule(*model->module, output, {emitBytecode, locations})) {
    llvm::errs() << "convbert-import: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
