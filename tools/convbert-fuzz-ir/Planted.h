//===- Planted.h - A pass that misbehaves -----------------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_FUZZIR_PLANTED_H
#define CONVBERT_TOOLS_FUZZIR_PLANTED_H

#include "llvm/ADT/StringRef.h"

namespace mlir::convbert::fuzz {

/// Registers `convbert-planted`, which on a module with a `convbert.dense` does one of: crash, hang, silent (fail
/// without a diagnostic), ignored (succeed after an error), invalid (leave IR that does not verify).  A fuzzer that has
/// found nothing proves nothing unless it finds this.  False if there is no such misbehaviour.
bool plantPass(llvm::StringRef misbehaviour);

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_PLANTED_H
