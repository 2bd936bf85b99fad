//===- FiniteScan.cpp - Search for numbers that are not finite --*- C++ -*-===//

#include "lib/Import/TensorContents.h"
#include <cstring>

namespace mlir::convbert {

/// `lane` repeated over 64 bits.
static uint64_t spread(uint64_t lane, unsigned width) {
  uint64_t result = 0;
  for (unsigned bit = 0; bit < 64; bit += 8 * width)
    result |= lane << bit;
  return result;
}

FiniteScan::FiniteScan(llvm::StringRef dtype) : width(elementBits(dtype) / 8), exponent(0), step(0) {
  if (dtype == "F32") {
    exponent = spread(0x7f800000, 4);
    step = spread(0x00800000, 4);
  } else if (dtype == "F16") {
    exponent = spread(0x7c00, 2);
    step = spread(0x0400, 2);
  } else if (dtype == "BF16") {
    exponent = spread(0x7f80, 2);
    step = spread(0x0080, 2);
  }
}

void FiniteScan::feed(llvm::StringRef bytes, llvm::function_ref<bool(const Finding &)> report) {
  if (exponent == 0)
    return;
  const uint64_t sign = spread(uint64_t(1) << (8 * width - 1), width);
  // Adding the lowest exponent bit carries into the sign bit just where all exponent bits are set.
  auto notFinite = [&](uint64_t word) { return ((word & exponent) + step) & sign; };
  auto examine = [&](const char *element) {
    uint64_t word = 0;
    std::memcpy(&word, element, width);
    uint64_t lane = width == 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * width)) - 1;
    bool more = true;
    if (notFinite(word) & lane) {
      bool fraction = word & ~exponent & ~sign & lane;
      more = report({position, fraction ? "nan" : (word & sign & lane) ? "-inf" : "inf"});
    }
    ++position;
    return more;
  };
  if (!carried.empty()) {
    size_t missing = std::min(width - carried.size(), bytes.size());
    carried += bytes.take_front(missing);
    bytes = bytes.drop_front(missing);
    if (carried.size() < width)
      return;
    if (!examine(carried.data()))
      return;
    carried.clear();
  }
  constexpr size_t block = 256;
  while (bytes.size() >= block) {
    uint64_t any = 0;
    for (size_t i = 0; i < block; i += 8) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i, 8);
      any |= notFinite(word);
    }
    if (!any) {
      position += block / width;
    } else {
      for (size_t i = 0; i < block; i += width)
        if (!examine(bytes.data() + i))
          return;
    }
    bytes = bytes.drop_front(block);
  }
  for (; bytes.size() >= width; bytes = bytes.drop_front(width))
    if (!examine(bytes.data()))
      return;
  carried = bytes.str();
}

} // namespace mlir::convbert
