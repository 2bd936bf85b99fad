//===- WindowRules.cpp - Windows of convolutions over tokens ----------------===//

#include "dialect/IR/WindowRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::convbert;

/// Tokens, pads included, beyond the first window: the last place of the window.  Nothing where a number overflows.
static std::optional<int64_t> getSpan(const Window &window, int64_t length) {
  int64_t padded, reach, span;
  if (llvm::AddOverflow(window.pads[0], window.pads[1], padded) || llvm::AddOverflow(padded, length, padded) ||
      llvm::MulOverflow(window.taps - 1, window.dilation, reach) || llvm::SubOverflow(padded - 1, reach, span))
    return std::nullopt;
  return span;
}

/// True if the numbers of the window are in their ranges.
static bool isRegular(const Window &window) {
  return window.stride > 0 && window.dilation > 0 && window.taps > 0 && window.pads.size() == 2 &&
         window.pads[0] >= 0 && window.pads[1] >= 0;
}

int64_t Window::getLength(int64_t length) const {
  if (ShapedType::isDynamic(length) || !isRegular(*this))
    return ShapedType::kDynamic;
  std::optional<int64_t> span = getSpan(*this, length);
  return span && *span >= 0 ? *span / stride + 1 : ShapedType::kDynamic;
}

bool Window::keepsTokens() const { return stride == 1 && isRegular(*this) && getSpan(*this, 1) == 0; }

LogicalResult convbert::requireWindow(EmitError emitError, const Window &window, int64_t length) {
  if (window.stride < 1)
    return emitError() << "requires a positive stride, but found " << window.stride;
  if (window.dilation < 1)
    return emitError() << "requires a positive dilation, but found " << window.dilation;
  if (window.pads.size() != 2)
    return emitError() << "requires two pads, but found " << window.pads.size();
  int64_t low = window.pads[0], high = window.pads[1];
  if (low < 0 || high < 0)
    return emitError() << "requires pads that are not negative, but found [" << low << ", " << high << "]";
  std::optional<int64_t> span = getSpan(window, ShapedType::isDynamic(length) ? 1 : length);
  if (!span)
    return emitError() << "requires a window whose extent is a number, but found pads [" << low << ", " << high
                       << "] and " << window.taps << " taps with dilation " << window.dilation;
  if (!ShapedType::isDynamic(length) && *span < 0)
    return emitError() << "requires at least " << length - *span << " tokens for " << window.taps
                       << " taps with dilation " << window.dilation << " and pads [" << low << ", " << high
                       << "], but found " << length;
  return success();
}

ConvFeatures ConvFeatures::get(Value weight, WeightLayout layout) {
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  int64_t first = type ? type.getRank() - 3 : 0;
  int64_t a = getExtent(weight, first), b = getExtent(weight, first + 1), c = getExtent(weight, first + 2);
  return layout == WeightLayout::OutIn ? ConvFeatures{a, b, c} : ConvFeatures{c, b, a};
}
