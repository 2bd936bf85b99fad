//===- Activations.h - Activations by the names of configurations -*- C++ -*-===//

#ifndef CONVBERT_DIALECT_IR_ACTIVATIONS_H
#define CONVBERT_DIALECT_IR_ACTIVATIONS_H

#include "dialect/IR/ConvBERTOps.h"

namespace mlir::convbert {

/// The function that Hugging Face's configurations call `name` (`gelu_fast` and `gelu_pytorch_tanh` are both
/// `gelu_new`), or nothing: for `prelu` and `xielu`, which have parameters, too.
std::optional<ActivationKind> parseActivationName(StringRef name);

/// All names that parseActivationName() knows, sorted, for messages.
ArrayRef<StringRef> getActivationNames();

} // namespace mlir::convbert

#endif // CONVBERT_DIALECT_IR_ACTIVATIONS_H
