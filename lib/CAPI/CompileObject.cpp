//===- CompileObject.cpp - From a module to a shared object ---------------===//

#include "lib/CAPI/CompileObject.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/SharedObject.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::convbert;

std::string *CompileOptions::find(StringRef name) {
  return llvm::StringSwitch<std::string *>(name)
      .Case("target", &target)
      .Case("weights", &weights)
      .Case("dtype", &dtype)
      .Case("cache_dir", &cacheDirectory)
      .Case("dump_dir", &dumpDirectory)
      .Default(nullptr);
}

llvm::Error CompileOptions::set(StringRef name, const llvm::json::Value &value) {
  std::optional<StringRef> given = value.getAsString();
  if (!given)
    return makeError("option '", name, "' requires a string, but found ", value);
  *find(name) = given->str();
  if (name == "weights" && weights != "f32" && weights != "bf16")
    return makeError("option 'weights' requires \"f32\" or \"bf16\", but found ", value);
  return llvm::Error::success();
}

llvm::Expected<CPUTarget> CompileOptions::getTarget() const {
  llvm::Expected<CPUTarget> found = CPUTarget::parse(target);
  if (!found)
    return found.takeError();
  if (llvm::Error error = found->setProductType(dtype))
    return error;
  if (llvm::Error error = found->checkHost())
    return error;
  return found;
}

/// A diagnostic as one line.
static std::string describe(const Diagnostic &diagnostic) {
  std::string where = describeLocation(diagnostic.getLocation()), text = diagnostic.str();
  // A diagnostic may quote an operation over several lines.
  text = llvm::join(llvm::split(text, '\n'), " ");
  return where.empty() ? text : where + ": " + text;
}

ErrorCollector::ErrorCollector(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          errors.push_back(describe(diagnostic));
        return success();
      }) {}

llvm::Error ErrorCollector::take() {
  if (errors.empty())
    return makeError("compilation failed without a message; this is a bug of the compiler");
  return errors.size() == 1 ? makeError(errors.front()) : makeError(errors.front(), "; ", errors.back());
}

llvm::Error ErrorCollector::takeFirst() {
  errors.resize(std::min<size_t>(errors.size(), 1));
  return take();
}

using ObjectCode = SmallVector<char, 0>;

/// Compiles `module` to an object file.
static llvm::Expected<ObjectCode> compile(ModuleOp module, const CPUTarget &target, StringRef from,
                                          const CompileOptions &options, PhaseTimes &times) {
  ErrorCollector errors(*module.getContext());
  RunPhasesOptions phases;
  phases.isa = target.isa;
  phases.weights = options.weights;
  phases.from = from.str();
  phases.dumpDirectory = options.dumpDirectory;
  if (options.mayLackKernels) {
    phases.to = "outline";
    phases.savesReproducer = false;
    if (failed(runPhases(module, phases, times)))
      return errors.takeFirst();
    phases.from = std::exchange(phases.to, "llvm");
    phases.savesReproducer = true;
  }
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

llvm::Error convbert::compileObject(ModuleOp module, StringRef text, StringRef from, const CPUTarget &target,
                                    const CompileOptions &options, const ObjectCache &cache, PhaseTimes times,
                                    llvm::json::Object &result) {
  result["target"] = llvm::json::Object{{"name", target.name}, {"isa", target.isa}, {"cpu", target.cpu}};
  result["dtype"] = options.dtype;
  result["stored_weights"] = options.dtype == "bfloat16" ? "bf16" : options.weights;
  std::string key = makeCacheKey(
      {getCompilerIdentity(), target.triple, target.cpu, target.features, target.isa, options.weights, text});
  std::optional<std::string> found = options.dumpDirectory.empty() ? cache.find(key) : std::nullopt;
  Clock::time_point start = Clock::now();
  if (found) {
    result["object"] = *found;
  } else {
    llvm::Expected<ObjectCode> code = compile(module, target, from, options, times);
    if (!code)
      return code.takeError();
    llvm::Expected<std::string> path = link(StringRef(code->data(), code->size()), cache, key, times);
    if (!path)
      return path.takeError();
    result["object"] = *path;
  }
  result["cached"] = found.has_value();
  result["compile_ms"] = found ? 0.0 : millisecondsSince(start);
  llvm::json::Object phases;
  for (const auto &[phase, time] : times)
    phases[phase] = time;
  result["phases_ms"] = std::move(phases);
  return llvm::Error::success();
}
