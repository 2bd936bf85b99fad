//===- CompileModule.cpp - From a module's text to a shared object --------===//

#include "lib/CAPI/CompileModule.h"
#include "dialect/IR/ConvBERTOps.h"
#include "lib/CAPI/FunctionManifest.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Pipelines/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {
/// A parsed module and what it lives in; errors are collected, not printed.
struct ParsedModule {
  ParsedModule() : context(makeRegistry()), errors(context) { context.printOpOnDiagnostic(false); }

  llvm::Error parse(StringRef ir) {
    module = parseSourceString<ModuleOp>(ir, &context, "module");
    if (!module)
      return errors.take();
    // It stands for the whole text: no place to point at.
    (*module)->setLoc(UnknownLoc::get(&context));
    return llvm::Error::success();
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAll(registry);
    return registry;
  }

  MLIRContext context;
  ErrorCollector errors;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static llvm::Expected<llvm::json::Object> parseObject(StringRef text) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return makeError("requires options as a JSON object, but found: ", llvm::toString(json.takeError()));
  if (llvm::json::Object *object = json->getAsObject())
    return std::move(*object);
  return makeError("requires options as a JSON object, but found: ", *json);
}

llvm::Expected<std::string> convbert::compileModule(StringRef ir, StringRef optionsJSON) {
  llvm::Expected<llvm::json::Object> members = parseObject(optionsJSON);
  if (!members)
    return members.takeError();
  CompileOptions options;
  options.mayLackKernels = true;
  for (const auto &[key, value] : *members) {
    if (!options.find(key))
      return makeError("requires an option 'target', 'dtype', 'weights', 'cache_dir' or 'dump_dir', but found '",
                       StringRef(key), "'");
    if (llvm::Error error = options.set(key, value))
      return error;
  }
  llvm::Expected<CPUTarget> target = options.getTarget();
  if (!target)
    return target.takeError();

  Clock::time_point start = Clock::now();
  ParsedModule parsed;
  if (llvm::Error error = parsed.parse(ir))
    return error;
  ModuleOp module = *parsed.module;
  if (failed(setFunctionManifest(module)))
    return parsed.errors.take();
  // The entry's name is part of the object's interface.
  if (func::FuncOp entry = findEntry(module); entry.getName() != "forward") {
    if (module.lookupSymbol("forward"))
      return makeError("requires that no private function is called @forward");
    if (failed(SymbolTable::replaceAllSymbolUses(entry, StringAttr::get(&parsed.context, "forward"), module)))
      return parsed.errors.take();
    entry.setName("forward");
  }
  std::string text;
  llvm::raw_string_ostream(text) << module;
  llvm::json::Object result{{"manifest", manifestToJSON(module)}, {"import_ms", millisecondsSince(start)}};
  ObjectCache cache(options.cacheDirectory);
  if (llvm::Error error = compileObject(module, text, "import", *target, options, cache, /*times=*/{}, result))
    return error;
  return llvm::formatv("{0}", llvm::json::Value(std::move(result))).str();
}

llvm::Expected<std::string> convbert::inspectModule(StringRef ir, StringRef optionsJSON) {
  llvm::Expected<llvm::json::Object> members = parseObject(optionsJSON);
  if (!members)
    return members.takeError();
  int64_t batch = 1, length = 1;
  for (const auto &[key, value] : *members) {
    int64_t *option = StringRef(key) == "batch" ? &batch : StringRef(key) == "length" ? &length : nullptr;
    std::optional<int64_t> number = value.getAsInteger();
    if (!option)
      return makeError("requires an option 'batch' or 'length', but found '", StringRef(key), "'");
    if (!number || *number < 1)
      return makeError("option '", StringRef(key), "' requires a number >= 1, but found ", value);
    *option = *number;
  }
  ParsedModule parsed;
  if (llvm::Error error = parsed.parse(ir))
    return error;
  func::FuncOp entry = findEntry(*parsed.module);
  if (!entry)
    return parsed.errors.take();
  llvm::json::Array operations;
  entry.walk([&](CostOpInterface op) {
    ByteCount bytes = op.byteCount(batch, length);
    operations.push_back(llvm::json::Object{{"operation", op->getName().stripDialect()},
                                            {"where", describeLocation(op->getLoc())},
                                            {"parameters", op.parameterCount()},
                                            {"macs", op.macCount(batch, length)},
                                            {"reads", bytes.reads},
                                            {"writes", bytes.writes}});
  });
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::Object{{"operations", std::move(operations)}})).str();
}
