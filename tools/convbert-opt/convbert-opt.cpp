//===- convbert-opt.cpp - Run passes on a module --------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::convbert::registerAll(registry);
  mlir::convbert::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "ConvBERT optimizer driver\n", registry));
}
