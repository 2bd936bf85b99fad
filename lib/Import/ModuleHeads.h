//===- ModuleHeads.h - What a model computes from its last layer -*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MODULEHEADS_H
#define CONVBERT_LIB_IMPORT_MODULEHEADS_H

#include "lib/Import/Checkpoint.h"
#include "mlir/IR/Builders.h"

namespace mlir::convbert {

/// A result of `@forward`; its type's dynamic dimensions are, in order, `B` and `T`.
struct ModuleOutput {
  std::string name;
  Value value;
  /// The last dimension, of size 1, is not part of the shape that users see.
  bool dropsUnit = false;
};

/// Adds what the checkpoint's class returns, from the last hidden state `x` (`B x T x D`); names are the library's.
void buildHead(OpBuilder &builder, const Checkpoint &checkpoint, Value x, SmallVectorImpl<ModuleOutput> &outputs);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MODULEHEADS_H
