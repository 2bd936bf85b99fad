//===- CompileModule.h - From a module's text to a shared object -*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_COMPILEMODULE_H
#define CONVBERT_LIB_CAPI_COMPILEMODULE_H

#include "lib/CAPI/CompileObject.h"

namespace mlir::convbert {

/// Compiles the module that `ir` holds as text or bytecode, a function that is no checkpoint, or finds its object in
/// the cache.  Returns the JSON text that convbert-c.h documents, or an error of one line.
llvm::Expected<std::string> compileModule(StringRef ir, StringRef optionsJSON);

/// What the operations of such a module cost.  Returns the JSON text that convbert-c.h documents, or an error of one
/// line.
llvm::Expected<std::string> inspectModule(StringRef ir, StringRef optionsJSON);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_COMPILEMODULE_H
