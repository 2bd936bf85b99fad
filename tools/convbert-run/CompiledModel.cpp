//===- CompiledModel.cpp - A module compiled in this process --------------===//

#include "tools/convbert-run/CompiledModel.h"
#include "lib/Pipelines/RunPhases.h"
#include "lib/Target/CPU/EmitObject.h"
#include "tools/convbert-run/Describe.h"
#include "llvm/Support/FormatVariadic.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::convbert;
namespace json = llvm::json;

llvm::Expected<CompiledModel::Description> CompiledModel::describe(ModuleOp module, StringRef entry) {
  llvm::Expected<json::Object> manifest = describeModule(module, entry);
  if (!manifest)
    return manifest.takeError();
  Description description;
  std::pair<StringRef, std::vector<ArrayType> &> lists[] = {
      {"inputs", description.inputs}, {"outputs", description.outputs}, {"parameters", description.parameters}};
  for (auto &[key, list] : lists) {
    llvm::Expected<std::vector<ArrayType>> types = parseArrayTypes(*manifest, key);
    if (!types)
      return types.takeError();
    list = std::move(*types);
  }
  description.manifest = std::move(*manifest);
  return description;
}

/// An error with the message that a function of the runtime left.
static llvm::Error takeError(char *message) {
  llvm::Error error = llvm::createStringError(message ? message : "the runtime failed without a message");
  convbert_rt_string_free(message);
  return error;
}

/// The functions of `code`; its entry is called `entry`.
static llvm::Expected<convbert_rt_functions> lookup(const JITObject &code, StringRef entry) {
  convbert_rt_functions functions;
  llvm::Error error = llvm::Error::success();
  auto bind = [&](auto *&function, StringRef name) {
    if (error)
      return;
    auto found = code.lookup<std::remove_reference_t<decltype(*function)>>(("_mlir_ciface_" + name).str());
    if (found)
      function = *found;
    else
      error = found.takeError();
  };
  bind(functions.packed_bytes, "packed_bytes");
  bind(functions.prepack_steps, "prepack_steps");
  bind(functions.workspace_bytes, "workspace_bytes");
  bind(functions.prepack, "prepack");
  bind(functions.forward, entry);
  if (error)
    return error;
  return functions;
}

llvm::Expected<std::unique_ptr<CompiledModel>> CompiledModel::create(ModuleOp module, const Description &description,
                                                                     ArrayRef<WeightSource> weights,
                                                                     const CompileOptions &options) {
  RunPhasesOptions phases;
  phases.isa = options.target.isa;
  phases.from = options.compileFrom;
  phases.dumpDirectory = options.dumpDirectory;
  PhaseTimes times;
  if (failed(runPhases(module, phases, times)))
    return nullptr;
  FailureOr<SmallVector<char, 0>> object = emitObject(module, options.target, times);
  if (failed(object))
    return nullptr;
  std::unique_ptr<CompiledModel> result(new CompiledModel);
  auto code = JITObject::load(StringRef(object->data(), object->size()), options.perf);
  if (!code)
    return code.takeError();
  result->code = std::move(*code);
  llvm::Expected<convbert_rt_functions> functions = lookup(*result->code, options.entry);
  if (!functions)
    return functions.takeError();

  json::Array sources;
  for (const WeightSource &weight : weights)
    sources.push_back(
        json::Object{{"file", weight.file}, {"offset", int64_t(weight.offset)}, {"bytes", int64_t(weight.bytes)}});
  json::Object root{
      {"object", "(in process)"}, {"manifest", json::Object(description.manifest)}, {"weights", std::move(sources)}};
  char *message = nullptr;
  std::string text = llvm::formatv("{0}", json::Value(std::move(root)));
  if (convbert_rt_load_functions(text.c_str(), &*functions, options.threads, &result->model, &message))
    return takeError(message);
  result->outputTypes = description.outputs;
  return result;
}

CompiledModel::~CompiledModel() { convbert_rt_free(model); }

llvm::Expected<Arrays> CompiledModel::start(BatchSize batch, std::vector<std::optional<Array>> given) {
  size = batch;
  inputs = std::move(given);
  outputs.clear();
  // Refused here, since the system would kill rather than refuse.
  double memory = double(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE), total = 0;
  for (const ArrayType &type : outputTypes) {
    SmallVector<int64_t, 4> shape = type.instantiate(size.batch, size.length);
    llvm::Expected<int64_t> bytes = countBytes(type.dtype, shape);
    if (!bytes)
      return bytes.takeError();
    if ((total += *bytes) > memory)
      return llvm::createStringError(type.name + ": requires more memory than this machine has for " +
                                     mlir::convbert::describe(type.dtype, shape));
    outputs.push_back({type.dtype, shape, std::vector<char>(*bytes)});
  }
  if (llvm::Error error = run())
    return error;
  Arrays result;
  for (auto [type, array] : llvm::zip_equal(outputTypes, outputs))
    result[type.name] = array;
  return result;
}

llvm::Error CompiledModel::run() {
  SmallVector<const void *> in;
  SmallVector<void *> out;
  for (const std::optional<Array> &array : inputs)
    in.push_back(array ? array->bytes.data() : nullptr);
  for (Array &array : outputs)
    out.push_back(array.bytes.data());
  char *message = nullptr;
  if (convbert_rt_forward(model, size.batch, size.length, /*lengths=*/nullptr, in.data(), out.data(), &message))
    return takeError(message);
  return llvm::Error::success();
}
