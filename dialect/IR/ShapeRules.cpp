//===- ShapeRules.cpp - Shape rules shared by inference and verifiers -------===//

#include "dialect/IR/ShapeRules.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

int64_t convbert::getExtent(Value value, int64_t dim) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && dim >= 0 && dim < type.getRank() ? type.getDimSize(dim) : ShapedType::kDynamic;
}

int64_t convbert::multiplyExtents(int64_t a, int64_t b) {
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
    return ShapedType::kDynamic;
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t convbert::addExtents(int64_t a, int64_t b) {
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b))
    return ShapedType::kDynamic;
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
}

RankedTensorType convbert::withFeatures(RankedTensorType type, int64_t features) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = features;
  return type.clone(shape);
}

SmallVector<int64_t> convbert::getSlices(std::optional<ArrayRef<int64_t>> given, int64_t count) {
  if (given)
    return SmallVector<int64_t>(*given);
  return llvm::to_vector(llvm::seq<int64_t>(0, std::max<int64_t>(count, 0)));
}

int64_t convbert::getFeatures(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? getExtent(value, type.getRank() - 1) : ShapedType::kDynamic;
}

int64_t convbert::getOutFeatures(Value weight, WeightLayout layout) {
  return getExtent(weight, layout == WeightLayout::OutIn ? 0 : 1);
}

int64_t convbert::getOutFeatures(RankedTensorType weight, WeightLayout layout) {
  return weight.getDimSize(layout == WeightLayout::OutIn ? 0 : 1);
}

int64_t convbert::getInFeatures(Value weight, WeightLayout layout) {
  return getExtent(weight, layout == WeightLayout::OutIn ? 1 : 0);
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

LogicalResult convbert::requireExtent(EmitError emitError, const Twine &what, int64_t expected, int64_t found) {
  if (expected == found || ShapedType::isDynamic(expected) || ShapedType::isDynamic(found))
    return success();
  return emitError() << "requires " << what << " to be " << expected << ", but found " << found;
}

LogicalResult convbert::requireVector(EmitError emitError, StringRef name, Value value, int64_t size) {
  if (!value)
    return success();
  return requireExtent(emitError, "the size of `" + name + "`", size, getExtent(value, 0));
}

LogicalResult convbert::requireTokens(EmitError emitError, StringRef name, Value value, Value like) {
  if (failed(requireExtent(emitError, "the batch of `" + name + "`", getExtent(like, 0), getExtent(value, 0))))
    return failure();
  return requireExtent(emitError, "the length of `" + name + "`", getExtent(like, 1), getExtent(value, 1));
}

LogicalResult convbert::requireShape(EmitError emitError, StringRef name, Value value, Value like) {
  if (succeeded(verifyCompatibleShape(value.getType(), like.getType())))
    return success();
  return emitError() << "requires `" << name << "` to have the shape of " << like.getType() << ", but found "
                     << value.getType();
}

LogicalResult convbert::requireWeight(EmitError emitError, StringRef name, Value weight, WeightLayout layout,
                                      int64_t in, int64_t out) {
  if (failed(requireExtent(emitError, "the input features of `" + name + "`", in, getInFeatures(weight, layout))))
    return failure();
  return requireExtent(emitError, "the output features of `" + name + "`", out, getOutFeatures(weight, layout));
}

LogicalResult convbert::requireHeads(EmitError emitError, StringRef what, int64_t heads, int64_t features) {
  if (heads < 1)
    return emitError() << "requires a positive number of heads, but found " << heads;
  if (features % heads != 0)
    return emitError() << "requires " << what << " to be a multiple of the " << heads << " heads, but found "
                       << features;
  return success();
}

LogicalResult convbert::requireSlices(EmitError emitError, StringRef name, std::optional<ArrayRef<int64_t>> given,
                                      int64_t count, int64_t available) {
  auto requireSlice = [&](int64_t slice) -> LogicalResult {
    if (slice >= 0 && slice < available)
      return success();
    return emitError() << "requires `" << name << "` to name slices of the query below " << available << ", but found "
                       << slice;
  };
  if (!given)
    return count > 0 ? requireSlice(count - 1) : success();
  if (static_cast<int64_t>(given->size()) != count)
    return emitError() << "requires `" << name << "` to have " << count << " entries, but found " << given->size();
  return failure(llvm::any_of(*given, [&](int64_t slice) { return failed(requireSlice(slice)); }));
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

LogicalResult convbert::requireElementTypes(EmitError emitError, ValueRange operands, Value bias) {
  SmallVector<Value> others;
  for (Value operand : operands)
    if (operand != bias)
      others.push_back(operand);
  if (failed(requireSameElementType(emitError, others)))
    return failure();
  if (!bias)
    return success();
  Type found = getElementTypeOrSelf(bias), element = getElementTypeOrSelf(operands.front());
  if (found.isF32() || found == element)
    return success();
  return emitError() << "requires a bias of f32 or " << element << ", but found " << found;
}

LogicalResult convbert::requirePads(EmitError emitError, ArrayRef<int64_t> pads, int64_t taps, int64_t dilation) {
  if (pads.size() != 2)
    return emitError() << "requires two pads, but found " << pads.size();
  int64_t low = pads[0], high = pads[1];
  if (low < 0 || high < 0)
    return emitError() << "requires pads that are not negative, but found [" << low << ", " << high << "]";
  int64_t reach = multiplyExtents(taps - 1, dilation);
  if (reach - low != high)
    return emitError() << "requires pads that keep the number of tokens (low + high = " << reach << "), but found ["
                       << low << ", " << high << "]";
  return success();
}

LogicalResult convbert::requireEps(EmitError emitError, const APFloat &eps) {
  if (eps.isNegative() || !eps.isFinite())
    return emitError() << "requires an epsilon that is finite and not negative, but found " << eps.convertToDouble();
  return success();
}
