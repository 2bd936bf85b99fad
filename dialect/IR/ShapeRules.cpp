//===- ShapeRules.cpp - Shape rules shared by inference and verifiers -------===//

#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

RankedTensorType convbert::withFeatures(RankedTensorType type, int64_t features) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = features;
  return type.clone(shape);
}

int64_t convbert::getFeatures(Value value) { return cast<RankedTensorType>(value.getType()).getShape().back(); }

int64_t convbert::getOutFeatures(RankedTensorType weight, WeightLayout layout) {
  return weight.getDimSize(layout == WeightLayout::OutIn ? 0 : 1);
}

int64_t convbert::getInFeatures(RankedTensorType weight, WeightLayout layout) {
  return weight.getDimSize(layout == WeightLayout::OutIn ? 1 : 0);
}

static std::string extent(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

LogicalResult convbert::requireExtent(EmitError emitError, const Twine &what, int64_t expected, int64_t found) {
  if (expected == found || ShapedType::isDynamic(expected) || ShapedType::isDynamic(found))
    return success();
  return emitError() << "requires " << what << " of " << extent(expected) << ", but found " << extent(found);
}

LogicalResult convbert::requireVector(EmitError emitError, StringRef name, Value value, int64_t size) {
  if (!value)
    return success();
  return requireExtent(emitError, "a size of `" + name + "`", size, getFeatures(value));
}

LogicalResult convbert::requireSameElementType(EmitError emitError, ValueRange values) {
  Type first;
  for (Value value : values) {
    Type element = getElementTypeOrSelf(value);
    if (!isa<FloatType>(element))
      continue;
    if (!first)
      first = element;
    if (element != first)
      return emitError() << "requires equal element types, but found " << first << " and " << element;
  }
  return success();
}

LogicalResult convbert::requirePads(EmitError emitError, ArrayRef<int64_t> pads, int64_t taps) {
  if (pads.size() != 2)
    return emitError() << "requires two pads, but found " << pads.size();
  if (pads[0] < 0 || pads[1] < 0)
    return emitError() << "requires pads that are not negative, but found [" << pads[0] << ", " << pads[1] << "]";
  if (!ShapedType::isDynamic(taps) && pads[0] + pads[1] != taps - 1)
    return emitError() << "requires pads that keep the number of tokens (low + high = " << taps - 1 << "), but found ["
                       << pads[0] << ", " << pads[1] << "]";
  return success();
}
