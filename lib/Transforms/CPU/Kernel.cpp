//===- Kernel.cpp - How kernels are marked --------------------------------===//

#include "lib/Transforms/CPU/Kernel.h"

using namespace mlir;
using namespace mlir::convbert;

bool convbert::isPackKernel(func::FuncOp function) {
  auto kind = function->getAttrOfType<StringAttr>(kKernelAttr);
  return kind && kind.getValue() == "pack";
}

BlockArgument convbert::getMarkedArgument(func::FuncOp function, StringRef attribute) {
  if (function.isExternal())
    return {};
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attribute))
      return argument;
  return {};
}

BlockArgument convbert::getShapeArgument(func::FuncOp function) {
  if (function.isExternal())
    return {};
  for (BlockArgument argument : llvm::reverse(function.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (type && type.getRank() == 1 && type.isDynamicDim(0) && type.getElementType().isInteger(64) &&
        type.getLayout().isIdentity())
      return argument;
  }
  return {};
}
