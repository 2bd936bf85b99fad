//===- CompileCheckpoint.cpp - From a directory to a shared object --------===//

#include "lib/CAPI/CompileCheckpoint.h"
#include "lib/CAPI/StepOutputs.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::convbert;

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
    if (options.find(name)) {
      if (llvm::Error error = options.set(name, value))
        return error;
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
  llvm::Expected<CPUTarget> target = options.getTarget();
  if (!target)
    return target.takeError();

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
  llvm::json::Object result{{"weights", describeWeights(model->weights)},
                            {"files", describeFiles(model->files)},
                            {"notes", llvm::json::Array(model->notes)},
                            {"manifest", manifestToJSON(*model->module)},
                            {"import_ms", millisecondsSince(start)}};

  if (options.steps)
    result["steps"] = std::move(steps);
  if (llvm::Error error = compileObject(*model->module, text, firstPhase, *target, options, cache, times, result))
    return makeError(directory, ": ", llvm::toString(std::move(error)));
  // As text, because the manifest may refer to strings of the context.
  return llvm::formatv("{0}", llvm::json::Value(std::move(result))).str();
}
