//===- ConvBERTDialect.cpp - Registration -----------------------===//

#include "dialect/IR/Bytecode.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/ReifyShapes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::convbert;

#include "dialect/IR/ConvBERTDialect.cpp.inc"
#include "dialect/IR/ConvBERTEnums.cpp.inc"
#include "dialect/IR/ConvBERTInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/IR/ConvBERTAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/IR/ConvBERTOps.cpp.inc"

namespace {
/// Operations are pure and have no regions: they may stand anywhere.
struct ConvBERTInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void ConvBERTDialect::initialize() {
  addInterfaces<ConvBERTInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/IR/ConvBERTAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/ConvBERTOps.cpp.inc"
      >();
  addBytecodeInterface(*this);
}
