//===- Plugin.cpp - The dialect and the passes in another mlir-opt --------===//
//
//   mlir-opt --load-dialect-plugin=libconvbert.so --load-pass-plugin=libconvbert.so --pass-pipeline='...'
//
// The other program has upstream's dialects and passes, so only ours are added.
//
//===----------------------------------------------------------------------===//

#include "lib/Pipelines/Registration.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ConvBERT", CONVBERT_VERSION,
          [](DialectRegistry *registry) { convbert::registerOwn(*registry); }};
}

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "ConvBERT", CONVBERT_VERSION, [] { convbert::registerOwnPasses(); }};
}
