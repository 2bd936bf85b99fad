//===- convbert-import.cpp - Print a checkpoint as a module ---------------===//

#include "lib/Import/Import.h"
#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::convbert;
namespace cl = llvm::cl;

static cl::OptionCategory category("convbert-import options");
static cl::opt<std::string> directory(cl::Positional, cl::Required, cl::value_desc("DIR"),
                                      cl::desc("<checkpoint directory>"), cl::cat(category));
static cl::opt<std::string> output("o", cl::value_desc("FILE"), cl::init("-"),
                                   cl::desc("Where to write the module (default: standard output)"), cl::cat(category));
static cl::opt<bool> hiddenStates("hidden-states", cl::desc("Also return the hidden states of all layers"),
                                  cl::cat(category));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Prints a checkpoint as a module of convbert block operations\n",
                                   &llvm::errs()))
    return 2;
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  ImportOptions options;
  options.hiddenStates = hiddenStates;
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(directory, options, context, message);
  if (failed(model)) {
    llvm::errs() << "convbert-import: " << message << "\n";
    return 1;
  }
  llvm::Error error = llvm::writeToOutput(output, [&](llvm::raw_ostream &os) {
    model->module->print(os);
    os << "\n";
    return llvm::Error::success();
  });
  if (error) {
    llvm::errs() << "convbert-import: " << output << ": " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
