//===- FunctionManifest.h - What a function takes and gives -----*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_FUNCTIONMANIFEST_H
#define CONVBERT_LIB_CAPI_FUNCTIONMANIFEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::convbert {

/// The only public function of `module`, or null after an error.
func::FuncOp findEntry(ModuleOp module);

/// Sets the manifest of a module that no importer made, from the types of its public function and its globals.  Names
/// are those of `convbert.name` or `input0`, `output0` and so on; inputs that number rows of tables get the `limit` of
/// the smallest one.  Reports and fails on types that an entry does not take or give.
LogicalResult setFunctionManifest(ModuleOp module);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_FUNCTIONMANIFEST_H
