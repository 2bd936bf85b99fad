//===- convbert-lsp-server.cpp - Language server for editors --------------===//
//
// Started by the editor, speaks the Language Server Protocol on its standard streams: diagnostics, completion, types on
// hover, definitions and uses, for MLIR files with operations of all upstream dialects and of this project.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/ToolMain.h"

int main(int argc, char **argv) {
  mlir::convbert::initTool("convbert-lsp-server");
  mlir::convbert::hideOptions();
  mlir::DialectRegistry registry;
  mlir::convbert::registerAll(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
