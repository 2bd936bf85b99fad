//===- Errors.h - Diagnostics, counted --------------------------*- C++ -*-===//

#ifndef CONVBERT_TOOLS_FUZZIR_ERRORS_H
#define CONVBERT_TOOLS_FUZZIR_ERRORS_H

#include "mlir/IR/Diagnostics.h"

namespace mlir::convbert::fuzz {

/// Takes all diagnostics while it lives; counts errors and keeps the first.
struct Errors {
  explicit Errors(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && count++ == 0)
            first = diagnostic.str();
          return success();
        }) {}

  int64_t count = 0;
  std::string first;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::convbert::fuzz

#endif // CONVBERT_TOOLS_FUZZIR_ERRORS_H
