//===- Fuzzer.cpp - libFuzzer's entry, one program a target ---------------===//

#include "test/fuzz/FuzzTargets.h"

using namespace mlir::convbert::fuzz;

/// CONVBERT_FUZZ_TARGET is the index of the program's target.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kTargets[CONVBERT_FUZZ_TARGET].run({reinterpret_cast<const char *>(data), size});
  return 0;
}
