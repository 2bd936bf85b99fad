//===- KernelTemplates.h - Kernel functions as text with parameters -*- C++ -*-===//
//
// A kernel function is a page of IR whose loops and views do not depend on the model, and a handful of numbers that do.
// The pages are files, kernels/*.mlir.in, with @NAME@ where a number belongs; their headers say what each means.  A
// line that starts with @?NAME@ is there only if the instance has the parameter NAME, one with @!NAME@ only if it has
// not, and one with @*NAME@ as often as NAME says, with 0, 1, ... where @#@ stands.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_KERNELTEMPLATES_H
#define CONVBERT_LIB_OUTLINE_KERNELTEMPLATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::convbert {

/// Values of the parameters of a template.
using TemplateParameters = SmallVector<std::pair<StringRef, std::string>>;

class KernelTemplates {
public:
  explicit KernelTemplates(ModuleOp module) : module(module) {}

  /// The kernel function made from template `name`; made on first use, then shared.  `suffix` tells instances of a
  /// template apart in symbol names.  Reports and returns null if the text does not parse.
  func::FuncOp get(StringRef name, StringRef suffix, const TemplateParameters &parameters);

  unsigned getNumKernels() const { return instances.size(); }

private:
  ModuleOp module;
  /// By instantiated text: equal kernels are one function.
  llvm::StringMap<func::FuncOp> instances;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_KERNELTEMPLATES_H
