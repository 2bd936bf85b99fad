//===- convbert-run.cpp - Compile and run a checkpoint or a module --------===//

#include "lib/Import/Import.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Pipelines/ModuleFile.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Target/CPU/CPUTarget.h"
#include "tools/EntryOptions.h"
#include "tools/ToolMain.h"
#include "tools/convbert-run/Binding.h"
#include "tools/convbert-run/CompiledModel.h"
#include "tools/convbert-run/Describe.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>

using namespace mlir;
using namespace mlir::convbert;
namespace cl = llvm::cl;

static cl::OptionCategory category("convbert-run options");
static cl::opt<std::string> input(cl::Positional, cl::Required, cl::value_desc("INPUT"),
                                  cl::desc("<checkpoint directory, or module (- for standard input)>"),
                                  cl::cat(category));
static cl::opt<std::string> entry("entry", cl::value_desc("NAME"), cl::init("forward"),
                                  cl::desc("Function to run (default: forward)"), cl::cat(category));
static cl::list<std::string> inputFiles("input", cl::value_desc("NAME=@FILE.npy"),
                                        cl::desc("An input; those not given are random ids, a mask of ones, positions "
                                                 "from 0 on"),
                                        cl::cat(category));
static cl::opt<std::string>
    inputArchive("inputs", cl::value_desc("FILE|DIR"),
                 cl::desc("Takes inputs by name from a .npz or .safetensors file or a directory "
                          "of .npy files"),
                 cl::cat(category));
static cl::list<std::string> paramFiles("param", cl::value_desc("NAME=@FILE.npy"),
                                        cl::desc("A parameter of a module; those not given are random"),
                                        cl::cat(category));
static cl::opt<std::string>
    paramArchive("params", cl::value_desc("FILE|DIR"),
                 cl::desc("Takes parameters of a module by name from a .npz or .safetensors file "
                          "or a directory of .npy files"),
                 cl::cat(category));
static cl::opt<std::string> shape("shape", cl::value_desc("BxT"),
                                  cl::desc("Sequences and tokens of random inputs (default: 1x16)"), cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::value_desc("N"), cl::init(0),
                              cl::desc("Seed of random inputs and parameters (default: 0)"), cl::cat(category));
static cl::list<std::string> outputFiles("output", cl::value_desc("NAME=@FILE.npy"), cl::desc("Writes an output"),
                                         cl::cat(category));
static cl::opt<std::string> outputDirectory("output-dir", cl::value_desc("DIR"),
                                            cl::desc("Writes every output to DIR/NAME.npy"), cl::cat(category));
static cl::opt<std::string> checkAgainst("check-against", cl::value_desc("FILE|DIR"),
                                         cl::desc("Compares outputs with a .npz or .safetensors file or a directory of "
                                                  ".npy files"),
                                         cl::cat(category));
static cl::opt<double> tolerance("atol", cl::value_desc("X"), cl::init(1e-5),
                                 cl::desc("Difference that --check-against allows (default: 1e-5)"), cl::cat(category));
static cl::opt<unsigned> repeat("repeat", cl::value_desc("N"), cl::init(0),
                                cl::desc("Runs N times more and prints the least and the median time"),
                                cl::cat(category));
static FreedOption freed("threads");
static cl::opt<int> threads("threads", cl::value_desc("N"), cl::init(1),
                            cl::desc("Threads of a run; 0: all CPUs (default: 1)"), cl::cat(category));
static const std::string targetHelp = "CPU to compile for: " + CPUTarget::getNames() + " (default: native)";
static cl::opt<std::string> targetName("target", cl::value_desc("NAME"), cl::init("native"), cl::desc(targetHelp),
                                       cl::cat(category));
static cl::opt<std::string> compileFrom("compile-from", cl::value_desc("PHASE"), cl::init("import"),
                                        cl::desc("Phase that a module has been through already (default: import)"),
                                        cl::cat(category));
static cl::opt<std::string> dumpPhases("dump-phases", cl::value_desc("DIR"),
                                       cl::desc("Leave the module after each phase in DIR"), cl::cat(category));
static cl::opt<bool> perf("perf", cl::desc("Name kernels for `perf`: write /tmp/perf-PID.map and a jitdump"),
                          cl::cat(category));
static EntryOptions entryOptions(category);

static llvm::Error makeError(const llvm::Twine &message) { return llvm::createStringError(message); }

/// The arrays of `archive` that `wants` takes, and those of NAME=@FILE in `files`, which come first.
static llvm::Expected<Arrays> readGiven(ArrayRef<std::string> files, StringRef archive, StringRef option,
                                        llvm::function_ref<bool(StringRef)> wants) {
  Arrays arrays;
  for (StringRef file : files) {
    auto [name, path] = file.split("=@");
    if (name.empty() || path.empty())
      return makeError("--" + option + " requires NAME=@FILE.npy, but found '" + file + "'");
    llvm::Expected<Array> array = readNpy(path);
    if (!array)
      return array.takeError();
    if (!arrays.emplace(name.str(), std::move(*array)).second)
      return makeError("--" + option + " requires a name once, but found '" + name + "' twice");
  }
  if (archive.empty())
    return arrays;
  llvm::Expected<Arrays> more = readArrays(archive);
  if (!more)
    return more;
  size_t count = arrays.size();
  for (auto &[name, array] : *more)
    if (wants(name))
      arrays.emplace(name, std::move(array));
  if (arrays.size() == count && files.empty())
    return makeError(archive + ": requires arrays that the module asks for, but found none of those names");
  return arrays;
}

namespace {
/// A directory that is made when it is asked for and goes with this object.
class TemporaryDirectory {
public:
  ~TemporaryDirectory() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  llvm::Expected<std::string> get() {
    if (path.empty())
      if (std::error_code code = llvm::sys::fs::createUniqueDirectory("convbert-run", path))
        return makeError("requires a writable temporary directory, but found none: " + code.message());
    return path.str().str();
  }

private:
  llvm::SmallString<128> path;
};
} // namespace

/// Imports or parses `input`.  Null after a diagnostic, or with an error.
static llvm::Expected<ImportedModel> readInput(llvm::SourceMgr &sources, MLIRContext &context,
                                               TemporaryDirectory &unpacked) {
  ImportedModel model;
  if (!llvm::sys::fs::is_directory(input)) {
    llvm::Expected<OwningOpRef<ModuleOp>> module = readModule(input, sources, context);
    if (!module)
      return module.takeError();
    model.module = std::move(*module);
    return model;
  }
  ImportOptions options = entryOptions.get();
  options.unpackDirectory = [&] { return unpacked.get(); };
  std::string message;
  FailureOr<ImportedModel> imported = importCheckpoint(input, options, context, message);
  if (failed(imported))
    return makeError(message);
  return std::move(*imported);
}

static llvm::Error writeOutputs(const Arrays &outputs) {
  for (StringRef file : outputFiles) {
    auto [name, path] = file.split("=@");
    auto found = outputs.find(name.str());
    if (found == outputs.end() || path.empty())
      return makeError("--output requires NAME=@FILE.npy with the name of an output, but found '" + file + "'");
    if (llvm::Error error = writeNpy(path, found->second))
      return error;
  }
  if (outputDirectory.empty())
    return llvm::Error::success();
  if (std::error_code code = llvm::sys::fs::create_directories(outputDirectory))
    return makeError("--output-dir requires a directory, but found " + outputDirectory + ": " + code.message());
  for (const auto &[name, array] : outputs)
    if (llvm::Error error = writeNpy(outputDirectory + "/" + name + ".npy", array))
      return error;
  return llvm::Error::success();
}

/// Whether the outputs are as --check-against says.
static llvm::Expected<bool> check(const Arrays &outputs) {
  llvm::Expected<Arrays> expected = readArrays(checkAgainst);
  if (!expected)
    return expected.takeError();
  bool right = true, any = false;
  for (const auto &[name, array] : outputs) {
    auto found = expected->find(name);
    if (found == expected->end())
      continue;
    llvm::Expected<bool> same = checkOutput(name, array, found->second, tolerance, llvm::outs());
    if (!same)
      return same;
    any = true;
    right &= *same;
  }
  if (!any)
    return makeError(checkAgainst + ": requires an array with the name of an output, but found none");
  return right;
}

static llvm::Error measure(CompiledModel &model, BatchSize size) {
  std::vector<double> times;
  for (unsigned i = 0; i < repeat; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = model.run())
      return error;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  llvm::sort(times);
  llvm::outs() << llvm::formatv("time: least {0:F3} ms, median {1:F3} ms of {2} runs of {3}x{4}, threads {5}\n",
                                times.front(), times[times.size() / 2], times.size(), size.batch, size.length,
                                model.getThreads());
  return llvm::Error::success();
}

/// Everything after the options; the value is the exit code.
static llvm::Expected<int> run(llvm::SourceMgr &sources, MLIRContext &context) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse(targetName);
  if (!target)
    return target.takeError();
  if (llvm::Error error = target->checkHost())
    return error;
  std::optional<BatchSize> size;
  if (!shape.empty()) {
    llvm::Expected<BatchSize> parsed = BatchSize::parse(shape);
    if (!parsed)
      return parsed.takeError();
    size = *parsed;
  }
  TemporaryDirectory unpacked;
  llvm::Expected<ImportedModel> imported = readInput(sources, context, unpacked);
  if (!imported)
    return imported.takeError();
  if (!imported->module)
    return 1;
  llvm::Expected<CompiledModel::Description> described = CompiledModel::describe(*imported->module, entry);
  if (!described)
    return described.takeError();

  // All that can be refused is refused before the long part.
  auto isIn = [](ArrayRef<ArrayType> types) {
    return [types](StringRef name) { return llvm::any_of(types, [&](const ArrayType &t) { return t.name == name; }); };
  };
  llvm::Expected<Arrays> given = readGiven(inputFiles, inputArchive, "input", isIn(described->inputs));
  if (!given)
    return given.takeError();
  auto inputs = bindInputs(described->inputs, std::move(*given), described->manifest, seed, size);
  if (!inputs)
    return inputs.takeError();
  ParameterFile parameterFile;
  if (imported->weights.empty()) {
    llvm::Expected<Arrays> params = readGiven(paramFiles, paramArchive, "param", isIn(described->parameters));
    if (!params)
      return params.takeError();
    auto weights = parameterFile.fill(described->parameters, std::move(*params), seed);
    if (!weights)
      return weights.takeError();
    imported->weights = std::move(*weights);
  } else if (!paramFiles.empty() || !paramArchive.empty()) {
    return makeError("--param requires a module, but found a checkpoint, which has its parameters");
  }

  CompileOptions options{entry, compileFrom, dumpPhases, *target, threads, perf};
  auto model = CompiledModel::create(*imported->module, *described, imported->weights, options);
  if (!model)
    return model.takeError();
  if (!*model)
    return 1; // after a diagnostic
  llvm::Expected<Arrays> outputs = (*model)->start(*size, std::move(*inputs));
  if (!outputs)
    return outputs.takeError();
  if (llvm::Error error = writeOutputs(*outputs))
    return error;
  for (const ArrayType &type : described->outputs)
    summarize(type.name, outputs->at(type.name), llvm::outs());
  bool right = true;
  if (!checkAgainst.empty()) {
    llvm::Expected<bool> same = check(*outputs);
    if (!same)
      return same.takeError();
    right = *same;
  }
  if (repeat)
    if (llvm::Error error = measure(**model, *size))
      return error;
  return right ? 0 : 1;
}

int main(int argc, char **argv) {
  initTool("convbert-run");
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles a checkpoint or a module in this process and runs it\n",
                                   &llvm::errs()))
    return 2;
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  NamedDiagnosticHandler namedDiagnostics(context, "convbert-run");
  llvm::Expected<int> code = run(sources, context);
  if (code)
    return *code;
  llvm::errs() << "convbert-run: " << llvm::toString(code.takeError()) << "\n";
  return 1;
}
