//===- convbert-reduce.cpp - Make a failing module small ------------------===//
//
//   convbert-reduce big.mlir --reduction-tree='traversal-mode=0 test=./still-fails.sh' -o small.mlir
//
// The script gets a file name and returns 1 as long as the module is interesting.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "tools/ToolMain.h"

int main(int argc, char **argv) {
  mlir::convbert::initTool("convbert-reduce");
  mlir::convbert::hideOptions();
  mlir::DialectRegistry registry;
  mlir::convbert::registerAll(registry);
  mlir::convbert::registerAllPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
