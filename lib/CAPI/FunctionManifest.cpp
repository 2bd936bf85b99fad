//===- FunctionManifest.cpp - What a function takes and gives -------------===//

#include "lib/CAPI/FunctionManifest.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ShapeRules.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Outline/Lengths.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;
using namespace mlir::convbert;

func::FuncOp convbert::findEntry(ModuleOp module) {
  func::FuncOp entry;
  for (auto fn : module.getOps<func::FuncOp>()) {
    if (fn.isPrivate())
      continue;
    if (entry)
      return module.emitError() << "requires exactly one public function, but found @" << entry.getName() << " and @"
                                << fn.getName(),
             nullptr;
    entry = fn;
  }
  if (!entry || entry.isExternal())
    module.emitError() << "requires exactly one public function with a body, but found none";
  return entry && !entry.isExternal() ? entry : func::FuncOp();
}

/// Rows of the smallest table that `ids` number rows of; nothing if some use is no such table.
static std::optional<int64_t> getLimit(Value ids) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (OpOperand &use : ids.getUses()) {
    auto embeddings = dyn_cast<EmbeddingsOp>(use.getOwner());
    if (!embeddings)
      return std::nullopt;
    // The first three operands are numbers of rows; one value may be several of them.
    Value table = &use == &embeddings.getIdsMutable()          ? embeddings.getWord()
                  : &use == &embeddings.getTokenTypesMutable() ? embeddings.getTypeTable()
                                                               : embeddings.getPosition();
    limit = std::min(limit, getExtent(table, 0));
  }
  return limit;
}

/// The entry of the manifest for an argument, or null after an error.
static Attribute describeInput(Builder &b, func::FuncOp fn, BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  auto name = fn.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "convbert.name");
  std::string text = name ? name.str() : "input" + std::to_string(argument.getArgNumber());
  Type element = type ? type.getElementType() : Type();
  if (!type || !(element.isF32() || element.isInteger(1) || element.isInteger(64)))
    return fn.emitOpError() << "requires inputs that are tensors of f32, i1 or i64, but found " << argument.getType()
                            << " for " << text,
           nullptr;
  NamedAttrList item(cast<DictionaryAttr>(makeManifestEntry(b, text, type)));
  if (element.isInteger(64)) {
    std::optional<int64_t> limit = getLimit(argument);
    if (!limit)
      return fn.emitOpError() << "requires integers that number rows of tables alone, but found another use of "
                              << text,
             nullptr;
    item.set("limit", b.getI64IntegerAttr(*limit));
  }
  return item.getDictionary(b.getContext());
}

/// The entry of the manifest for a result, whose tokens are those of a call behind `steps`.
static Attribute describeOutput(Builder &b, StringRef name, RankedTensorType type, ArrayRef<LengthStep> steps) {
  NamedAttrList item(cast<DictionaryAttr>(makeManifestEntry(b, name, type)));
  SmallVector<Attribute> shape(cast<ArrayAttr>(item.get("shape")).getValue()), pairs;
  for (LengthStep step : steps)
    pairs.push_back(b.getI64ArrayAttr({step.extra, step.stride}));
  for (Attribute &size : shape)
    if (!steps.empty() && size == b.getStringAttr("T"))
      size = b.getDictionaryAttr(b.getNamedAttr("tokens", b.getArrayAttr(pairs)));
  item.set("shape", b.getArrayAttr(shape));
  return item.getDictionary(b.getContext());
}

/// The least number of tokens of a call that leaves one in every length of the function.
static int64_t getLeastTokens(const Lengths &lengths) {
  int64_t least = 1;
  for (unsigned number = 0; number < lengths.size(); ++number) {
    int64_t tokens = 1;
    for (LengthStep step : llvm::reverse(lengths.getChain(number))) {
      if (llvm::MulOverflow(tokens - 1, step.stride, tokens) || llvm::SubOverflow(tokens, step.extra, tokens))
        return std::numeric_limits<int64_t>::max();
      tokens = std::max<int64_t>(1, tokens);
    }
    least = std::max(least, tokens);
  }
  return least;
}

LogicalResult convbert::setFunctionManifest(ModuleOp module) {
  func::FuncOp entry = findEntry(module);
  if (!entry || !entry.getBody().hasOneBlock())
    return entry
               ? entry.emitOpError() << "requires a body of one block, but found " << entry.getBody().getBlocks().size()
               : failure();
  Builder b(module.getContext());
  SmallVector<Attribute> inputs, outputs, parameters;
  for (BlockArgument argument : entry.getArguments()) {
    inputs.push_back(describeInput(b, entry, argument));
    if (!inputs.back())
      return failure();
  }
  FailureOr<Lengths> lengths = Lengths::compute(entry);
  if (failed(lengths))
    return failure();
  Operation *returned = entry.getBody().front().getTerminator();
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isF32())
      return entry.emitOpError() << "requires results that are tensors of f32, but found " << type;
    auto name = entry.getResultAttrOfType<StringAttr>(i, "convbert.name");
    outputs.push_back(describeOutput(b, name ? name.str() : "output" + std::to_string(i), tensor,
                                     lengths->getChain(lengths->get(returned->getOperand(i)))));
  }
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    auto type = dyn_cast<RankedTensorType>(global.getType());
    Type element = type ? type.getElementType() : Type();
    if (!type || !type.hasStaticShape() || !(element.isF32() || element.isF16() || element.isBF16()))
      return global.emitOpError() << "requires static tensors of f32, f16 or bf16, but found " << global.getType();
    parameters.push_back(makeManifestEntry(b, global.getSymName(), type));
  }
  NamedAttrList manifest;
  manifest.set("model_class", b.getStringAttr(entry.getName()));
  manifest.set("min_row_pitch", b.getI64IntegerAttr(kMinRowPitch));
  manifest.set("least_tokens", b.getI64IntegerAttr(getLeastTokens(*lengths)));
  manifest.set("inputs", b.getArrayAttr(inputs));
  manifest.set("outputs", b.getArrayAttr(outputs));
  manifest.set("parameters", b.getArrayAttr(parameters));
  module->setAttr(kManifestAttrName, manifest.getDictionary(b.getContext()));
  return success();
}
