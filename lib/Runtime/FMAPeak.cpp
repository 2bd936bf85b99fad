#include "lib/Runtime/FMAPeak.h"

#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <iterator>
#include <thread>
#include <vector>

using namespace convbert::rt;
using Clock = std::chrono::steady_clock;

/// Independent sums: enough to hide the latency of a multiply-add (4 cycles, two a cycle), few enough for 16 registers.
static constexpr int kSums = 12;
/// Multiply-adds of each sum in one go: some 10 microseconds.
static constexpr int kRounds = 4096;
/// Goes of one sample.  The best sample counts: others share the machine.
static constexpr int kGoes = 200;

/// Without multiply-adds: a product and a sum.
static void roundsSSE(float *sink) {
  __m128 sums[kSums], factor = _mm_set1_ps(0.999f), addend = _mm_set1_ps(1e-3f);
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm_set1_ps(static_cast<float>(i));
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm_add_ps(_mm_mul_ps(sums[i], factor), addend);
      asm volatile("" : "+x"(sums[i]));
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    _mm_storeu_ps(sink, _mm_add_ps(_mm_loadu_ps(sink), sums[i]));
}

__attribute__((target("avx2,fma"))) static void roundsAVX2(float *sink) {
  __m256 sums[kSums], factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(1e-3f);
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm256_fmadd_ps(sums[i], factor, addend);
      asm volatile("" : "+x"(sums[i])); // neither dropped nor merged with the next round
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    _mm256_storeu_ps(sink, _mm256_add_ps(_mm256_loadu_ps(sink), sums[i]));
}

__attribute__((target("avx512f"))) static void roundsAVX512(float *sink) {
  __m512 sums[kSums], factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(1e-3f);
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_fmadd_ps(sums[i], factor, addend);
      asm volatile("" : "+v"(sums[i]));
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    _mm512_storeu_ps(sink, _mm512_add_ps(_mm512_loadu_ps(sink), sums[i]));
}

/// Products of pairs of bf16, added to f32.
__attribute__((target("avx512f,avx512bf16"))) static void roundsBFloat16(float *sink) {
  __m512 sums[kSums];
  __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3f), _mm512_set1_ps(-1e-3f));
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_dpbf16_ps(sums[i], factor, factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i)
    _mm512_storeu_ps(sink, _mm512_add_ps(_mm512_loadu_ps(sink), sums[i]));
}

/// 1e9 operations a second of one thread.
static double measureOne(void (*rounds)(float *), int products, double seconds) {
  float sink[16] = {};
  auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto begin = Clock::now();
  double best = 0;
  do {
    auto start = Clock::now();
    for (int i = 0; i < kGoes; ++i)
      rounds(sink);
    best = std::max(best, 2.0 * products * kSums * kRounds * kGoes / since(start) * 1e-9);
  } while (since(begin) < seconds);
  return best;
}

namespace {
/// How an instruction set multiplies and adds.
struct Loop {
  const char *isa;
  bool (*isSupported)();
  void (*rounds)(float *);
  int products; ///< of one instruction
};
} // namespace

static constexpr Loop kLoops[] = {
    {"generic", [] { return true; }, roundsSSE, 4},
    {"avx2", [] { return __builtin_cpu_supports("fma") != 0; }, roundsAVX2, 8},
    {"avx512", [] { return __builtin_cpu_supports("avx512f") != 0; }, roundsAVX512, 16},
    {"avx512bf16", [] { return __builtin_cpu_supports("avx512bf16") != 0; }, roundsBFloat16, 32},
};

double convbert::rt::measureFMAPeak(const std::string &isa, int threads, double seconds) {
  const Loop *loop = std::find_if(std::begin(kLoops), std::end(kLoops), [&](const Loop &l) { return l.isa == isa; });
  if (loop == std::end(kLoops) || !loop->isSupported())
    return 0;
  std::vector<double> results(threads);
  auto work = [&](int i) { results[i] = measureOne(loop->rounds, loop->products, seconds); };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back(work, i);
  work(0);
  for (std::thread &other : others)
    other.join();
  double sum = 0;
  for (double result : results)
    sum += result;
  return sum;
}
