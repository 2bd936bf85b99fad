//===- convbert-compile.cpp - Compile a checkpoint or a module ------------===//

#include "lib/Import/Import.h"
#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/SharedObject.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::convbert;
namespace cl = llvm::cl;

static cl::OptionCategory category("convbert-compile options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::value_desc("INPUT"),
                                  cl::desc("<checkpoint directory, or module (- for standard input)>"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::value_desc("FILE"), cl::init("-"),
                                   cl::desc("Where to write the result (default: standard output)"), cl::cat(category));
static cl::opt<std::string> compileTo("compile-to", cl::value_desc("PHASE"), cl::init("so"),
                                      cl::desc("Last phase: import, simplify, outline, linalg, schedule, bufferize, "
                                               "threads, memory, llvm, object or so (default)"),
                                      cl::cat(category));
static cl::opt<std::string> compileFrom("compile-from", cl::value_desc("PHASE"), cl::init("import"),
                                        cl::desc("Phase that a module has been through already (default: import)"),
                                        cl::cat(category));
static cl::opt<std::string> targetName("target", cl::value_desc("NAME"), cl::init("native"),
                                       cl::desc("native (default), x86-64-v3 or x86-64-v4"), cl::cat(category));
static cl::opt<std::string> dumpPhases("dump-phases", cl::value_desc("DIR"),
                                       cl::desc("Leave the module after each phase in DIR"), cl::cat(category));
static cl::opt<bool> printTimes("times", cl::desc("Print the time of each phase to standard error"), cl::cat(category));
static cl::opt<bool> hiddenStates("hidden-states", cl::desc("Also return the hidden states of all layers"),
                                  cl::cat(category));

/// Prints one line and returns the exit code of a refusal.
static int refuse(const llvm::Twine &message) {
  llvm::errs() << "convbert-compile: " << message << "\n";
  return 1;
}

/// The module in `input`, imported if it is a directory.  Empty after a diagnostic.
static OwningOpRef<ModuleOp> readInput(MLIRContext &context) {
  if (!llvm::sys::fs::is_directory(input))
    return parseSourceFile<ModuleOp>(input, &context);
  ImportOptions options;
  options.hiddenStates = hiddenStates;
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(input, options, context, message);
  if (succeeded(model))
    return std::move(model->module);
  refuse(message);
  return {};
}

static llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  return llvm::writeToOutput(output, [&](llvm::raw_ostream &os) {
    print(os);
    return llvm::Error::success();
  });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles a checkpoint, or a module at any phase\n", &llvm::errs()))
    return 2;
  bool toObject = compileTo == "object" || compileTo == "so";
  if (!toObject && !findPhase(compileTo)) {
    refuse("--compile-to requires a phase (" + getPhaseNames() + ", object, so), but found '" + compileTo + "'");
    return 2;
  }
  if (toObject && output == "-") {
    refuse("--compile-to=" + compileTo + " requires a file to write (-o FILE), but found none");
    return 2;
  }
  llvm::Expected<CPUTarget> target = CPUTarget::parse(targetName);
  if (!target)
    return refuse(llvm::toString(target.takeError()));

  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  OwningOpRef<ModuleOp> module = readInput(context);
  if (!module)
    return 1;

  RunPhasesOptions options;
  options.isa = target->isa;
  options.from = compileFrom;
  options.to = toObject ? "llvm" : compileTo.getValue();
  options.dumpDirectory = dumpPhases;
  PhaseTimes times;
  if (failed(runPhases(*module, options, times)))
    return 1;
  llvm::Error error = llvm::Error::success();
  if (!toObject) {
    error = write([&](llvm::raw_ostream &os) {
      module->print(os);
      os << "\n";
    });
  } else {
    FailureOr<SmallVector<char, 0>> object = emitObject(*module, *target, times);
    if (failed(object))
      return 1;
    StringRef bytes(object->data(), object->size());
    error = compileTo == "so" ? linkSharedObject(bytes, output) : write([&](llvm::raw_ostream &os) { os << bytes; });
  }
  if (error)
    return refuse(llvm::toString(std::move(error)));
  if (printTimes)
    for (const auto &[phase, time] : times)
      llvm::errs() << llvm::formatv("{0,-10} {1,8:F1} ms\n", phase, time);
  return 0;
}
