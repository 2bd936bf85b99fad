//===- Passes.h - Passes from convbert to convbert --------------*- C++ -*-===//

#ifndef CONVBERT_LIB_TRANSFORMS_PASSES_H
#define CONVBERT_LIB_TRANSFORMS_PASSES_H

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::convbert {

#define GEN_PASS_DECL
#include "lib/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"

} // namespace mlir::convbert

#endif // CONVBERT_LIB_TRANSFORMS_PASSES_H
