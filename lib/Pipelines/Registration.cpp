//===- Registration.cpp - Everything a tool can parse and run -------------===//

#include "lib/Pipelines/Registration.h"
#include "dialect/IR/ConvBERTDialect.h"
#include "dialect/TransformOps/ConvBERTTransformOps.h"
#include "lib/Analysis/Passes.h"
#include "lib/Conversion/ConvBERTToLinalg/Passes.h"
#include "lib/Outline/Passes.h"
#include "lib/Pipelines/Passes.h"
#include "lib/Pipelines/Phases.h"
#include "lib/Schedules/Passes.h"
#include "lib/Transforms/CPU/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

void convbert::registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registerOwn(registry);
}

void convbert::registerOwn(DialectRegistry &registry) {
  registry.insert<ConvBERTDialect>();
  registerTransformExtension(registry);
}

void convbert::registerAllPasses() {
  mlir::registerAllPasses();
  registerOwnPasses();
}

void convbert::registerOwnPasses() {
  registerConvBERTAnalysisPasses();
  registerConvBERTTransformsPasses();
  registerConvBERTOutlinePasses();
  registerConvBERTToLinalgPasses();
  registerConvBERTSchedulesPasses();
  registerConvBERTCPUPasses();
  registerConvBERTPipelinesPasses();
  registerPipelines();
}

void convbert::registerPipelines() {
  for (const Phase &phase : getPhases())
    if (!phase.pipeline.empty())
      PassPipelineRegistration<PipelineOptions>(phase.pipeline, phase.description, phase.populate);
  PassPipelineRegistration<PipelineOptions>("convbert-cpu", "all phases after import",
                                            [](OpPassManager &pm, const PipelineOptions &options) {
                                              for (const Phase &phase : getPhases())
                                                phase.populate(pm, options);
                                            });
}
