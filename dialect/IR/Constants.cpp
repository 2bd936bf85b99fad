//===- Constants.cpp - What folds ask of constants --------------------------===//

#include "dialect/IR/Constants.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::convbert;

/// True if all elements are; a splat is one.
static bool allElements(DenseFPElementsAttr elements, llvm::function_ref<bool(const APFloat &)> is) {
  if (elements.isSplat())
    return is(elements.getSplatValue<APFloat>());
  return llvm::all_of(elements.getValues<APFloat>(), is);
}

bool convbert::isOne(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  return elements && allElements(elements, [](const APFloat &value) { return value.isExactlyValue(1.0); });
}

bool convbert::isOne(Value value) {
  if (!value)
    return false;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return matchPattern(splat.getInput(), m_OneFloat());
  Attribute attr;
  return matchPattern(value, m_Constant(&attr)) && isOne(attr);
}

bool convbert::isZero(Value value) {
  DenseFPElementsAttr elements;
  return value && matchPattern(value, m_Constant(&elements)) &&
         allElements(elements, [](const APFloat &number) { return number.isZero(); });
}

bool convbert::isConstantOverTaps(Value bias, int64_t taps) {
  DenseFPElementsAttr elements;
  if (!bias || !matchPattern(bias, m_Constant(&elements)))
    return false;
  if (elements.isSplat())
    return elements.getSplatValue<APFloat>().isFinite();
  SmallVector<APFloat> values(elements.getValues<APFloat>());
  for (auto [i, value] : llvm::enumerate(values))
    if (!value.isFinite() || !value.bitwiseIsEqual(values[i - i % taps]))
      return false;
  return true;
}

static APFloat round(double number, const llvm::fltSemantics &semantics) {
  APFloat value(number);
  bool losesInfo;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

DenseFPElementsAttr convbert::foldSoftmax(DenseFPElementsAttr logits, int64_t taps) {
  if (!allElements(logits, [](const APFloat &value) { return value.isFinite(); }))
    return {};
  const llvm::fltSemantics &semantics = cast<FloatType>(logits.getElementType()).getFloatSemantics();
  if (logits.isSplat())
    return cast<DenseFPElementsAttr>(DenseElementsAttr::get(logits.getType(), round(1.0 / taps, semantics)));
  SmallVector<double> values;
  for (const APFloat &value : logits.getValues<APFloat>())
    values.push_back(value.convertToDouble());
  SmallVector<APFloat> rounded;
  for (MutableArrayRef<double> left(values); !left.empty(); left = left.drop_front(taps)) {
    MutableArrayRef<double> head = left.take_front(taps);
    double greatest = *llvm::max_element(head), sum = 0;
    for (double &value : head)
      sum += value = std::exp(value - greatest);
    for (double value : head)
      rounded.push_back(round(value / sum, semantics));
  }
  return cast<DenseFPElementsAttr>(DenseElementsAttr::get(logits.getType(), rounded));
}
