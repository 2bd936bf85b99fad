//===- WindowRules.h - Windows of convolutions over tokens ------*- C++ -*-===//
//
// Output token t reads input tokens t * stride - low + k * dilation for k = 0 ... taps - 1.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_DIALECT_IR_WINDOWRULES_H
#define CONVBERT_DIALECT_IR_WINDOWRULES_H

#include "dialect/IR/ShapeRules.h"

namespace mlir::convbert {

/// The window of a convolution.
struct Window {
  int64_t taps, stride, dilation;
  ArrayRef<int64_t> pads;

  /// The window of `op`, an operation with the attributes of one, or its adaptor, where `pads` may be missing.
  template <typename Op> static Window get(Op op, int64_t taps) {
    DenseI64ArrayAttr pads = op.getPadsAttr();
    return {taps, static_cast<int64_t>(op.getStride()), static_cast<int64_t>(op.getDilation()),
            pads ? pads.asArrayRef() : ArrayRef<int64_t>()};
  }

  /// Tokens of the result for `length` tokens: floor((length + low + high - (taps - 1) dilation - 1) / stride) + 1.
  /// Dynamic where the length is, and for a window that requireWindow() refuses.
  int64_t getLength(int64_t length) const;

  /// True if there are as many tokens as before, whatever their number, and token t comes from around token t.
  bool keepsTokens() const;
};

/// `stride` and `dilation` must be positive, `pads` two numbers that are not negative, and `length` tokens (any number
/// if dynamic) must give at least one.
LogicalResult requireWindow(EmitError emitError, const Window &window, int64_t length);

/// Output features, input features of a group and taps of a conv1d weight; a weight of each sequence has a dimension
/// more in front.
struct ConvFeatures {
  int64_t out, in, taps;
  static ConvFeatures get(Value weight, WeightLayout layout);
};

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_WINDOWRULES_H
