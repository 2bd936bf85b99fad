//===- CompileCheckpoint.cpp - From a directory to a shared object --------===//

#include "lib/CAPI/CompileCheckpoint.h"
#include "lib/CAPI/ObjectCache.h"
#include "lib/CAPI/StepOutputs.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/SharedObject.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
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

/// Sets the flags that `value`, an array of names, names.
static llvm::Error setFlags(StringRef option, const llvm::json::Value &value,
                            ArrayRef<std::pair<StringRef, bool *>> flags) {
  const llvm::json::Array *names = value.getAsArray();
  if (!names)
    return makeError("option '", option, "' requires an array, but found ", value);
  for (const llvm::json::Value &name : *names) {
    auto flag = llvm::find_if(flags, [&](const auto &flag) { return name.getAsString() == flag.first; });
    if (flag == flags.end())
      return makeError(
          "option '", option, "' requires ",
          llvm::join(llvm::map_range(flags, [](auto &flag) { return ("\"" + flag.first + "\"").str(); }), ", "),
          ", but found ", name);
    *flag->second = true;
  }
  return llvm::Error::success();
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
                            .Case("weights", &options.weights)
                            .Case("dtype", &options.dtype)
                            .Case("cache_dir", &options.cacheDirectory)
                            .Case("dump_dir", &options.dumpDirectory)
                            .Default(nullptr);
    if (text) {
      std::optional<StringRef> given = value.getAsString();
      if (!given)
        return makeError("option '", name, "' requires a string, but found ", value);
      *text = given->str();
      if (name == "weights" && *text != "f32" && *text != "bf16")
        return makeError("option 'weights' requires \"f32\" or \"bf16\", but found ", value);
    } else if (name == "outputs") {
      ImportOptions &entry = options.entry;
      if (llvm::Error error = setFlags(name, value,
                                       {{"hidden_states", &entry.hiddenStates},
                                        {"attentions", &entry.attentions},
                                        {"conv_kernels", &entry.convKernels},
                                        {"steps", &options.steps}}))
        return error;
    } else if (name == "inputs") {
      if (llvm::Error error = setFlags(
              name, value, {{"head_mask", &options.entry.headMask}, {"inputs_embeds", &options.entry.inputsEmbeds}}))
        return error;
    } else {
      return makeError(
          "requires an option 'target', 'dtype', 'weights', 'outputs', 'inputs', 'cache_dir' or 'dump_dir', "
          "but found '",
          name, "'");
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
            errors.push_back(describe(diagnostic));
          return success();
        }) {}

  /// The first error, and the last: that names the phase and the reproducer.
  llvm::Error take() {
    if (errors.empty())
      return makeError("compilation failed without a message; this is a bug of the compiler");
    return errors.size() == 1 ? makeError(errors.front()) : makeError(errors.front(), "; ", errors.back());
  }

private:
  static std::string describe(const Diagnostic &diagnostic) {
    std::string where = describeLocation(diagnostic.getLocation()), text = diagnostic.str();
    // A diagnostic may quote an operation over several lines.
    text = llvm::join(llvm::split(text, '\n'), " ");
    return where.empty() ? text : where + ": " + text;
  }

  SmallVector<std::string> errors;
  ScopedDiagnosticHandler handler;
};
} // namespace

using ObjectCode = SmallVector<char, 0>;

/// Compiles `module` to an object file.
static llvm::Expected<ObjectCode> compile(ModuleOp module, const CPUTarget &target, StringRef from,
                                          const CompileCheckpointOptions &options, PhaseTimes &times) {
  ErrorCollector errors(*module.getContext());
  RunPhasesOptions phases;
  phases.isa = target.isa;
  phases.weights = options.weights;
  phases.from = from.str();
  phases.dumpDirectory = options.dumpDirectory;
  if (failed(runPhases(module, phases, times)))
    return errors.take();
  FailureOr<ObjectCode> object = emitObject(module, target, times);
  if (failed(object))
    return errors.take();
  return std::move(*object);
}

/// Links `object` and makes it the entry at `path`.
static llvm::Error linkEntry(StringRef object, StringRef path) {
  llvm::SmallString<128> built;
  llvm::sys::fs::createUniquePath(path + ".%%%%%%%%", built, /*MakeAbsolute=*/false);
  if (llvm::Error error = linkSharedObject(object, built))
    return error;
  return ObjectCache::publish(built, path);
}

/// Links `object` and makes it the entry `key` of `cache`; returns its path.
static llvm::Expected<std::string> link(StringRef object, const ObjectCache &cache, StringRef key, PhaseTimes &times) {
  Clock::time_point start = Clock::now();
  llvm::Expected<std::string> path = cache.reserve(key);
  if (!path)
    return path.takeError();
  llvm::Error error = linkEntry(object, *path);
  if (error) {
    // The disk may be full; elsewhere there may be room.
    path = ObjectCache::reserveTemporary();
    llvm::Error again = path ? linkEntry(object, *path) : path.takeError();
    bool failed = static_cast<bool>(again);
    llvm::consumeError(std::move(again));
    if (failed)
      return makeError("phase 'link' failed: ", llvm::toString(std::move(error)));
    llvm::consumeError(std::move(error));
  }
  times.emplace_back("link", millisecondsSince(start));
  return path;
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

static llvm::json::Object describeFiles(const std::map<std::string, FileStamp> &files) {
  llvm::json::Object result;
  for (const auto &[path, stamp] : files)
    result[path] = llvm::json::Object{{"bytes", int64_t(stamp.bytes)}, {"modified", int64_t(stamp.modified)}};
  return result;
}

llvm::Expected<ImportedModel> convbert::importEntry(StringRef directory, const CompileCheckpointOptions &options,
                                                    const ObjectCache &cache, MLIRContext &context) {
  ImportOptions importOptions = options.entry;
  importOptions.unpackDirectory = [&]() -> llvm::Expected<std::string> {
    llvm::Expected<std::string> place = cache.reserve("weights");
    return place ? llvm::sys::path::parent_path(*place).str() : std::move(place);
  };
  std::string message;
  FailureOr<ImportedModel> model = importCheckpoint(directory, importOptions, context, message);
  if (failed(model))
    return makeError(message);
  return std::move(*model);
}

llvm::Expected<std::string> convbert::compileCheckpoint(StringRef directory, const CompileCheckpointOptions &options) {
  llvm::Expected<CPUTarget> target = CPUTarget::parse(options.target);
  if (!target)
    return target.takeError();
  if (llvm::Error error = target->setProductType(options.dtype))
    return error;
  if (llvm::Error error = target->checkHost())
    return error;

  Clock::time_point start = Clock::now();
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  ObjectCache cache(options.cacheDirectory);
  llvm::Expected<ImportedModel> model = importEntry(directory, options, cache, context);
  if (!model)
    return model.takeError();
  PhaseTimes times;
  std::string firstPhase = "import", steps;
  if (options.steps) {
    ErrorCollector errors(context);
    if (failed(returnSteps(*model->module, times)))
      return makeError(directory, ": ", llvm::toString(errors.take()));
    llvm::raw_string_ostream os(steps);
    (*model->module)->print(os, OpPrintingFlags().printGenericOpForm().useLocalScope());
    firstPhase = "simplify";
  }
  std::string text;
  llvm::raw_string_ostream(text) << *model->module;
  llvm::json::Object result{
      {"weights", describeWeights(model->weights)},
      {"files", describeFiles(model->files)},
      {"notes", llvm::json::Array(model->notes)},
      {"manifest", manifestToJSON(*model->module)},
      {"target", llvm::json::Object{{"name", target->name}, {"isa", target->isa}, {"cpu", target->cpu}}},
      {"dtype", options.dtype},
      {"stored_weights", options.dtype == "bfloat16" ? "bf16" : options.weights},
      {"import_ms", millisecondsSince(start)}};

  std::string key = makeCacheKey(
      {getCompilerIdentity(), target->triple, target->cpu, target->features, target->isa, options.weights, text});
  if (options.steps)
    result["steps"] = std::move(steps);
  std::optional<std::string> found = options.dumpDirectory.empty() ? cache.find(key) : std::nullopt;
  std::string object;
  start = Clock::now();
  if (found) {
    object = *found;
  } else {
    llvm::Expected<ObjectCode> code = compile(*model->module, *target, firstPhase, options, times);
    if (!code)
      return makeError(directory, ": ", llvm::toString(code.takeError()));
    llvm::Expected<std::string> path = link(StringRef(code->data(), code->size()), cache, key, times);
    if (!path)
      return makeError(directory, ": ", llvm::toString(path.takeError()));
    object = *path;
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
