//===- convbert-opt.cpp - Run passes on a module --------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tools/ToolMain.h"

int main(int argc, char **argv) {
  mlir::convbert::initTool("convbert-opt");
  mlir::convbert::hideOptions();
  mlir::DialectRegistry registry;
  mlir::convbert::registerAll(registry);
  mlir::convbert::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "ConvBERT optimizer driver\n", registry));
}
