//===- ManifestJSON.cpp - What a module says about itself -------*- C++ -*-===//

#include "lib/Import/ManifestJSON.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::convbert {

Attribute makeManifestEntry(Builder &builder, StringRef name, RankedTensorType type) {
  SmallVector<Attribute> shape;
  unsigned dynamic = 0;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? Attribute(builder.getStringAttr(dynamic++ ? "T" : "B"))
                                                : Attribute(builder.getI64IntegerAttr(size)));
  Type element = type.getElementType();
  StringRef dtype = element.isF32()        ? "float32"
                    : element.isF16()      ? "float16"
                    : element.isBF16()     ? "bfloat16"
                    : element.isInteger(1) ? "bool"
                                           : "int64";
  return builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(name)),
                                    builder.getNamedAttr("dtype", builder.getStringAttr(dtype)),
                                    builder.getNamedAttr("shape", builder.getArrayAttr(shape))});
}

/// Dictionaries, arrays, strings, integers and booleans; anything else becomes null.
static llvm::json::Value toJSON(Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue().str()] = toJSON(entry.getValue());
    return object;
  }
  if (auto elements = dyn_cast<ArrayAttr>(attribute)) {
    llvm::json::Array array;
    for (Attribute element : elements)
      array.push_back(toJSON(element));
    return array;
  }
  if (auto string = dyn_cast<StringAttr>(attribute))
    return string.getValue().str();
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().getSExtValue();
  return nullptr;
}

llvm::json::Value manifestToJSON(ModuleOp module) {
  auto manifest = module->getAttrOfType<DictionaryAttr>(kManifestAttrName);
  return manifest ? toJSON(manifest) : llvm::json::Value(nullptr);
}

} // namespace mlir::convbert
