// What this CPU could do if it only multiplied and added: the figure that benchmarks are a share of.
#pragma once

#include <string>

namespace convbert::rt {

/// Floating-point operations (two a multiply-add) in 1e9 a second on vectors of `isa` ("generic", SSE's products and
/// sums, "avx2" and "avx512": float32, "avx512bf16": products of bfloat16 with sums in float32), with all operands in
/// registers, summed over `threads` threads that run for about `seconds` each.  0 if this CPU lacks the instructions.
double measureFMAPeak(const std::string &isa, int threads, double seconds);

} // namespace convbert::rt
