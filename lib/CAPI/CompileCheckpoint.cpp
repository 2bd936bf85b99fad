//===- CompileCheckpoint.cpp - From a directory to a shared object --------===//

#include "lib/CAPI/CompileCheckpoint.h"
#include "lib/CAPI/ObjectCache.h"
#include "lib/Import/Import.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/SharedObject.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace mlir;
using namespace mlir::convbert;
using Clock = std::chrono::steady_clock;

template <typename... Ts> static llvm::Error makeError(Ts &&...parts) {
  std::string message;
  llvm::raw_string_ostream os(message);
  (os << ... << parts);
  return llvm::createStringError(message);
}

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

llvm::Expected<CompileCheckpointOptions> CompileCheckpointOptions::parse(StringRef text) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return makeError("requires options as a JSON object, but found: ", llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return makeError("requires options as a JSON object, but found: ", *json);
  CompileCheckpointOptions options;
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    std::string *text = llvm::StringSwitch<std::string *>(name)
                            .Case("target", &options.target)
                            .Case("cache_dir", &options.cacheDirectory)
                            .Case("dump_dir", &options.dumpDirectory)
                            .Default(nullptr);
    if (text) {
      std::optional<StringRef> given = value.getAsString();
      if (!given)
        return makeError("option '", name, "' requires a string, but found ", value);
      *text = given->str();
    } else if (name == "outputs") {
      const llvm::json::Array *outputs = value.getAsArray();
      if (!outputs)
        return makeError("option 'outputs' requires an array, but found ", value);
      for (const llvm::json::Value &output : *outputs) {
        if (output.getAsString() != StringRef("hidden_states"))
          return makeError("option 'outputs' requires \"hidden_states\", but found ", output);
        options.hiddenStates = true;
      }
    } else {
      return makeError("requires an option 'target', 'outputs', 'cache_dir' or 'dump_dir', but found '", name, "'");
    }
  }
  return options;
}

namespace {
/// Collects the errors of a context instead of printing them.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            add(diagnostic);
          return success();
        }) {}

  /// The first error, and the last: that names the phase and the reproducer.
  llvm::Error take() {
    if (errors.empty())
      return makeError("compilation failed without a message; this is a bug of the compiler");
    return errors.size() == 1 ? makeError(errors.front()) : makeError(errors.front(), "; ", errors.back());
  }

private:
  void add(const Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!isa<UnknownLoc>(diagnostic.getLocation()))
      os << diagnostic.getLocation() << ": ";
    os << diagnostic;
    // A diagnostic may quote an operation over several lines.
    errors.push_back(llvm::join(llvm::split(text, '\n'), " "));
  }

  SmallVector<std::string> errors;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Compiles `module` to the shared object `output`.
static llvm::Error compile(ModuleOp module, const CPUTarget &target, StringRef dumpDirectory, StringRef output,
                           PhaseTimes &times) {
  ErrorCollector errors(*module.getContext());
  RunPhasesOptions options;
  options.isa = target.isa;
  options.dumpDirectory = dumpDirectory.str();
  if (failed(runPhases(module, options, times)))
    return errors.take();
  FailureOr<SmallVector<char, 0>> object = emitObject(module, target, times);
  if (failed(object))
    return errors.take();
  Clock::time_point start = Clock::now();
  if (llvm::Error error = linkSharedObject(StringRef(object->data(), object->size()), output))
    return makeError("phase 'link' failed: ", llvm::toString(std::move(error)));
  times.emplace_back("link", millisecondsSince(start));
  return llvm::Error::success();
}

static llvm::json::Array describeWeights(ArrayRef<WeightSource> weights) {
  llvm::json::Array result;
  for (const WeightSource &weight : weights)
    result.push_back(llvm::json::Object{{"name", weight.name},
                                        {"file", weight.file},
                                        {"offset", int64_t(weight.offset)},
                                        {"bytes", int64_t(weight.bytes)}});
  return result;
}

llvm::Expected<std::string> convbert::compileCheckpoint(StringRef directory, const CompileCheckpointOptions &options) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse(options.target);
  if (!target)
    return target.takeError();
  if (llvm::Error error = target->checkHost())
    return error;

  Clock::time_point start = Clock::now();
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  ImportOptions importOptions;
  importOptions.hiddenStates = options.hiddenStates;
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(directory, importOptions, context, message);
  if (failed(model))
    return makeError(message);
  std::string text;
  llvm::raw_string_ostream(text) << *model->module;
  llvm::json::Object result{
      {"weights", describeWeights(model->weights)},
      {"manifest", manifestToJSON(*model->module)},
      {"target", llvm::json::Object{{"name", target->name}, {"isa", target->isa}, {"cpu", target->cpu}}},
      {"import_ms", millisecondsSince(start)}};

  ObjectCache cache(options.cacheDirectory);
  std::string key =
      makeCacheKey({getCompilerIdentity(), target->triple, target->cpu, target->features, target->isa, text});
  PhaseTimes times;
  std::optional<std::string> found = options.dumpDirectory.empty() ? cache.find(key) : std::nullopt;
  std::string object;
  start = Clock::now();
  if (found) {
    object = *found;
  } else {
    llvm::Expected<std::string> path = cache.reserve(key);
    if (!path)
      return path.takeError();
    object = *path;
    if (llvm::Error error = compile(*model->module, *target, options.dumpDirectory, object, times))
      return makeError(directory, ": ", llvm::toString(std::move(error)));
  }
  llvm::json::Object phases;
  for (const auto &[phase, time] : times)
    phases[phase] = time;
  result["object"] = object;
  result["cached"] = found.has_value();
  result["compile_ms"] = found ? 0.0 : millisecondsSince(start);
  result["phases_ms"] = std::move(phases);
  // As text, because the manifest may refer to strings of the context.
  return llvm::formatv("{0}", llvm::json::Value(std::move(result))).str();
}
