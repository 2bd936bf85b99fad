//===- convbert-compile.cpp - Compile a checkpoint or a module ------------===//

#include "lib/Import/Import.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Pipelines/Remarks.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/SharedObject.h"
#include "tools/EntryOptions.h"
#include "tools/ToolMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::convbert;
namespace cl = llvm::cl;

static cl::OptionCategory category("convbert-compile options");
static cl::opt<std::string> input(cl::Positional, cl::value_desc("INPUT"),
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
static cl::opt<bool> listPhases("list-phases", cl::desc("Print name, pipeline and purpose of each phase"),
                                cl::cat(category));
static const std::string targetHelp = "CPU to compile for: " + CPUTarget::getNames() + " (default: native)";
static cl::opt<std::string> targetName("target", cl::value_desc("NAME"), cl::init("native"), cl::desc(targetHelp),
                                       cl::cat(category));
static cl::opt<std::string> dtype("dtype", cl::value_desc("TYPE"), cl::init("float32"),
                                  cl::desc("What matrix products multiply: float32 (default), or bfloat16, which "
                                           "requires a target with AVX512_BF16; sums are float32"),
                                  cl::cat(category));
static cl::opt<std::string> weights("weights", cl::value_desc("TYPE"), cl::init("f32"),
                                    cl::desc("What the weights of matrix products are stored as: f32 (default) or "
                                             "bf16, which halves the memory traffic; arithmetic stays f32"),
                                    cl::cat(category));
static cl::opt<std::string> dumpPhases("dump-phases", cl::value_desc("DIR"),
                                       cl::desc("Leave the module after each phase in DIR"), cl::cat(category));
static cl::opt<bool> emitBytecode("emit-bytecode", cl::desc("Write modules as bytecode, also those of --dump-phases"),
                                  cl::cat(category));
static cl::opt<bool> locations("locations", cl::desc("Write modules with locations, which name layers and parameters"),
                               cl::cat(category));
static cl::opt<std::string> remarksFilter("remarks-filter", cl::value_desc("REGEX"),
                                          cl::desc("Say which kernel and which schedule each operation got, and why: "
                                                   "remarks of categories that REGEX matches as a whole "
                                                   "(convbert-outline, convbert-schedule)"),
                                          cl::cat(category));
static cl::opt<std::string> remarksFile("remarks-file", cl::value_desc("FILE"),
                                        cl::desc("Write remarks to a YAML file instead of standard error"),
                                        cl::cat(category));
static cl::opt<bool> printTimes("times", cl::desc("Print the time of each phase to standard error"), cl::cat(category));
static EntryOptions entryOptions(category);

/// Prints one line and returns the exit code of a refusal.
static int refuse(const llvm::Twine &message) {
  llvm::errs() << "convbert-compile: " << message << "\n";
  return 1;
}

/// The module in `input`, imported if it is a directory.  Null after a diagnostic.
static llvm::Expected<OwningOpRef<ModuleOp>> readInput(llvm::SourceMgr &sources, MLIRContext &context) {
  if (!llvm::sys::fs::is_directory(input))
    return readModule(input, sources, context);
  ImportOptions options = entryOptions.get();
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(input, options, context, message);
  if (failed(model))
    return llvm::createStringError(message);
  return std::move(model->module);
}

/// Writes the code of `module`, which has been through phase `llvm`.
static llvm::Expected<bool> writeObject(ModuleOp module, const CPUTarget &target, PhaseTimes &times) {
  FailureOr<SmallVector<char, 0>> object = emitObject(module, target, times);
  if (failed(object))
    return false;
  StringRef bytes(object->data(), object->size());
  llvm::Error error =
      compileTo == "so" ? linkSharedObject(bytes, output) : llvm::writeToOutput(output, [&](llvm::raw_ostream &os) {
        os << bytes;
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  return true;
}

/// Everything after the options; whether it succeeded, where a failure has been diagnosed.
static llvm::Expected<bool> run(llvm::SourceMgr &sources, MLIRContext &context, bool toObject) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse(targetName);
  if (!target)
    return target.takeError();
  if (llvm::Error error = target->setProductType(dtype))
    return std::move(error);
  if (remarksFilter.getNumOccurrences() || !remarksFile.empty())
    if (llvm::Error error = enableRemarks(context, remarksFilter, remarksFile))
      return std::move(error);
  llvm::Expected<OwningOpRef<ModuleOp>> module = readInput(sources, context);
  if (!module)
    return module.takeError();
  if (!*module)
    return false;

  ModuleFormat format{emitBytecode, locations};
  RunPhasesOptions options;
  options.isa = target->isa;
  options.weights = weights;
  options.from = compileFrom;
  options.to = toObject ? "llvm" : compileTo.getValue();
  options.dumpDirectory = dumpPhases;
  options.dumpFormat = format;
  PhaseTimes times;
  if (failed(runPhases(**module, options, times)))
    return false;
  if (toObject) {
    llvm::Expected<bool> written = writeObject(**module, *target, times);
    if (!written || !*written)
      return written;
  } else if (llvm::Error error = writeModule(**module, output, format)) {
    return std::move(error);
  }
  if (printTimes)
    for (const auto &[phase, time] : times)
      llvm::errs() << llvm::formatv("{0,-10} {1,8:F1} ms\n", phase, time);
  return true;
}

int main(int argc, char **argv) {
  initTool("convbert-compile");
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles a checkpoint, or a module at any phase\n", &llvm::errs()))
    return 2;
  if (listPhases) {
    for (const Phase &phase : getPhases())
      llvm::outs() << phase.name << "\t" << phase.pipeline << "\t" << phase.description << "\n";
    return 0;
  }
  if (input.empty()) {
    refuse("requires a checkpoint directory or a module, but found none (see --help)");
    return 2;
  }
  if (weights != "f32" && weights != "bf16") {
    refuse("--weights requires f32 or bf16, but found '" + weights + "'");
    return 2;
  }
  bool toObject = compileTo == "object" || compileTo == "so";
  if (!toObject && !findPhase(compileTo)) {
    refuse("--compile-to requires a phase (" + getPhaseNames() + ", object, so), but found '" + compileTo + "'");
    return 2;
  }
  if (toObject && output == "-") {
    refuse("--compile-to=" + compileTo + " requires a file to write (-o FILE), but found none");
    return 2;
  }
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  NamedDiagnosticHandler namedDiagnostics(context, "convbert-compile");
  llvm::Expected<bool> done = run(sources, context, toObject);
  if (!done)
    return refuse(llvm::toString(done.takeError()));
  return *done ? 0 : 1;
}
