//===- Describe.cpp - What a module takes and gives -----------------------===//

#include "tools/convbert-run/Describe.h"
#include "dialect/IR/ConvBERTOps.h"
#include "lib/Import/ManifestJSON.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::convbert;
namespace json = llvm::json;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "float32", "int64", "bool" ...; empty for types without a name.
static std::string getDType(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isBF16())
    return "bfloat16";
  if (isa<IntegerType>(type))
    return (type.isUnsignedInteger() ? "uint" : "int") + std::to_string(type.getIntOrFloatBitWidth());
  return type.isF16() || type.isF32() || type.isF64() ? "float" + std::to_string(type.getIntOrFloatBitWidth()) : "";
}

/// {"name", "dtype", "shape"}: the first dynamic size is the batch, the second the length.
static llvm::Expected<json::Object> describeTensor(const llvm::Twine &name, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::string dtype = tensor ? getDType(tensor.getElementType()) : "";
  if (dtype.empty() || tensor.getNumDynamicDims() > 2)
    return llvm::createStringError(name + ": requires a tensor of numbers with at most two dynamic sizes, but found " +
                                   print(type));
  json::Array shape;
  bool hasBatch = false;
  for (int64_t size : tensor.getShape()) {
    if (!ShapedType::isDynamic(size))
      shape.push_back(size);
    else
      shape.push_back(std::exchange(hasBatch, true) ? "T" : "B");
  }
  return json::Object{{"name", name.str()}, {"dtype", dtype}, {"shape", std::move(shape)}};
}

/// The ids that look up a table are called after the table; others have the name that the IR gives them.
static std::string getInputName(func::FuncOp fn, unsigned index) {
  for (Operation *user : fn.getArgument(index).getUsers())
    if (auto embeddings = dyn_cast<EmbeddingsOp>(user)) {
      Value ids = fn.getArgument(index);
      return embeddings.getIds() == ids          ? (embeddings.getWord() ? "input_ids" : "inputs_embeds")
             : embeddings.getTokenTypes() == ids ? "token_type_ids"
                                                 : "position_ids";
    }
  auto name = fn.getArgAttrOfType<StringAttr>(index, "convbert.name");
  return name ? name.str() : "arg" + std::to_string(index);
}

static llvm::Expected<json::Object> describeFunction(ModuleOp module, func::FuncOp fn) {
  json::Object manifest;
  json::Array inputs, outputs, parameters;
  auto addTo = [](json::Array &array, llvm::Expected<json::Object> object) -> llvm::Error {
    if (!object)
      return object.takeError();
    array.push_back(std::move(*object));
    return llvm::Error::success();
  };
  for (auto [i, type] : llvm::enumerate(fn.getArgumentTypes()))
    if (llvm::Error error = addTo(inputs, describeTensor(getInputName(fn, i), type)))
      return error;
  for (auto [i, type] : llvm::enumerate(fn.getResultTypes())) {
    auto name = fn.getResultAttrOfType<StringAttr>(i, "convbert.name");
    if (llvm::Error error = addTo(outputs, describeTensor(name ? name.str() : "result" + std::to_string(i), type)))
      return error;
  }
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (llvm::Error error = addTo(parameters, describeTensor(global.getSymName(), global.getType())))
      return error;
  manifest["inputs"] = std::move(inputs);
  manifest["outputs"] = std::move(outputs);
  manifest["parameters"] = std::move(parameters);

  int64_t words = INT64_MAX, positions = INT64_MAX, types = INT64_MAX;
  module.walk([&](EmbeddingsOp op) {
    auto limit = [](int64_t &most, Value table) {
      most = std::min(most, cast<RankedTensorType>(table.getType()).getDimSize(0));
    };
    if (op.getWord())
      limit(words, op.getWord());
    limit(positions, op.getPosition());
    limit(types, op.getTypeTable());
  });
  manifest["vocab_size"] = words;
  manifest["max_positions"] = positions;
  manifest["type_vocab_size"] = types;
  manifest["min_row_pitch"] = 8;
  return manifest;
}

llvm::Expected<json::Object> convbert::describeModule(ModuleOp module, StringRef entry) {
  if (!module.lookupSymbol(entry)) {
    SmallVector<StringRef> names;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic())
        names.push_back(function.getName());
    return llvm::createStringError("requires a function @" + entry + ", but found " +
                                   (names.empty() ? "no public one" : "@" + llvm::join(names, ", @")));
  }
  auto fn = module.lookupSymbol<func::FuncOp>(entry);
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (fn && llvm::any_of(fn.getArgumentTypes(), isTensor) && !fn.isExternal())
    return describeFunction(module, fn);
  json::Value manifest = manifestToJSON(module);
  if (const json::Object *object = manifest.getAsObject())
    return *object;
  return llvm::createStringError("requires a function @" + entry +
                                 " that takes tensors, or a module with the attribute convbert.manifest, but found "
                                 "neither");
}
