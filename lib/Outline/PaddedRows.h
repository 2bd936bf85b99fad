//===- PaddedRows.h - Rows that a convolution multiplies --------*- C++ -*-===//

#ifndef CONVBERT_LIB_OUTLINE_PADDEDROWS_H
#define CONVBERT_LIB_OUTLINE_PADDEDROWS_H

#include "dialect/IR/WindowRules.h"
#include <numeric>

namespace mlir::convbert {

/// How the padded copy of a sequence is ordered so that windows are rows that lie behind each other.
///
/// A convolution of every `dilation`-th token is `phases` convolutions without dilation: token r + q phases of the
/// result reads tokens r stride + (q step + k) dilation of the padded sequence, so the tokens r stride + m dilation
/// lie behind each other, for one r after the other, and window q of phase r begins at row q step of them.
struct PaddedRows {
  int64_t phases; ///< dilation / gcd(stride, dilation)
  int64_t step;   ///< stride / gcd(stride, dilation), rows from window to window
  int64_t extra;  ///< windows' worth of rows that the last window of a phase reaches beyond its own

  static PaddedRows get(const Window &window) {
    int64_t common = std::gcd(window.stride, window.dilation), step = window.stride / common;
    return {window.dilation / common, step, static_cast<int64_t>(llvm::divideCeil(window.taps, step)) - 1};
  }

  /// Windows of a sequence of n tokens, made ones, take at most n + getSpare(): every phase is rounded up.
  int64_t getSpare() const { return phases - 1 + phases * extra; }
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_PADDEDROWS_H
