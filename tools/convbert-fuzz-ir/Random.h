//===- Random.h - Random numbers that are the same everywhere ---*- C++ -*-===//

#ifndef CONVBERT_TOOLS_FUZZIR_RANDOM_H
#define CONVBERT_TOOLS_FUZZIR_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cassert>
#include <cstdint>

namespace mlir::convbert::fuzz {

/// SplitMix64: a seed gives the same module on every machine, which the standard library's distributions do not
/// promise.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// A number from 0 to `count - 1`.
  int64_t below(int64_t count) { return count <= 1 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(count)); }
  /// A number from `low` to `high`.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T> const T &pick(llvm::ArrayRef<T> choices) {
    assert(!choices.empty());
    return choices[below(choices.size())];
  }
  template <typename T> T pick(std::initializer_list<T> choices) { return *(choices.begin() + below(choices.size())); }

private:
  uint64_t state;
};

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_RANDOM_H
