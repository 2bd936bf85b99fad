//===- Explain.h - What a checkpoint is, in words ---------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_EXPLAIN_H
#define CONVBERT_LIB_IMPORT_EXPLAIN_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::convbert {

struct Explanation {
  /// Lines of text: class, geometry and the rule that it follows, number of parameters, multiply-accumulates by length
  /// beside those of a BERT of the same size, and every tensor (used, ignored, missing, unexpected) with type and
  /// shape.
  std::string text;
  /// Why the checkpoint cannot be imported, one line; empty if it can.
  std::string refusal;
};

/// Explains the checkpoint in `directory`.  Where it cannot be imported, what can be said of it all the same is said.
/// No number is read.  Error (one line): the configuration or a header cannot be read.
llvm::Expected<Explanation> explainCheckpoint(llvm::StringRef directory, MLIRContext &context);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_EXPLAIN_H
