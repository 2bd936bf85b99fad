//===- ModuleBuilder.h - A checkpoint as block operations -------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_MODULEBUILDER_H
#define CONVBERT_LIB_IMPORT_MODULEBUILDER_H

#include "lib/Import/Checkpoint.h"
#include "lib/Import/Import.h"

namespace mlir::convbert {

/// Builds the module that `importCheckpoint` describes.  Loads the dialects that it needs.
OwningOpRef<ModuleOp> buildModule(const Checkpoint &checkpoint, const ImportOptions &options, MLIRContext &context);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_MODULEBUILDER_H
