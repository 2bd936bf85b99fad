//===- Phases.cpp - The line from the dialect to LLVM ---------------------===//

#include "lib/Pipelines/Phases.h"
#include "lib/Conversion/ConvBERTToLinalg/Passes.h"
#include "lib/Outline/Passes.h"
#include "lib/Outline/Target.h"
#include "lib/Pipelines/Passes.h"
#include "lib/Schedules/Passes.h"
#include "lib/Transforms/CPU/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::convbert;

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void addCheck(OpPassManager &pm, StringRef phase) {
  VerifyPhaseOptions options;
  options.phase = phase.str();
  pm.addPass(createVerifyPhase(options));
}

void convbert::populateImport(OpPassManager &pm, const PipelineOptions &) {}

void convbert::populateSimplify(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createDecomposePass());
  // Before the projections are one: the scale belongs to the key alone.
  pm.addNestedPass<func::FuncOp>(createFoldScalesPass());
  // A layer that takes an epilogue stays by itself: only plain projections become slices of one.
  pm.addNestedPass<func::FuncOp>(createFuseEpiloguesPass());
  pm.addNestedPass<func::FuncOp>(createFuseProjectionsPass());
  pm.addPass(createHoistParametersPass());
  addCleanup(pm);
  addCheck(pm, "simplify");
}

void convbert::populateOutline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createAbsorbReshapesPass());
  PackParametersPassOptions pack;
  pack.instructionSet = options.isa;
  pack.weights = options.weights;
  pm.addNestedPass<func::FuncOp>(createPackParametersPass(pack));
  pm.addPass(createHoistParametersPass());
  addCleanup(pm);
  OutlinePassOptions outline;
  outline.instructionSet = options.isa;
  pm.addPass(createOutlinePass(outline));
  addCleanup(pm);
  addCheck(pm, "outline");
}

void convbert::populateLinalg(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createConvertConvBERTToLinalg());
  addCleanup(pm);
  addCheck(pm, "linalg");
}

void convbert::populateSchedule(OpPassManager &pm, const PipelineOptions &options) {
  ScheduleKernelsOptions schedule;
  schedule.instructionSet = options.isa;
  pm.addPass(createScheduleKernels(schedule));
  addCleanup(pm);
  addCheck(pm, "schedule");
}

void convbert::populateBufferize(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(bufferization::createOneShotBufferizePass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(memref::createFoldMemRefAliasOpsPass());
  addCleanup(pm);
  // Source and destination of a self-copy are equal only after CSE.
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createLowerCopies());
  addCheck(pm, "bufferize");
}

void convbert::populateThreads(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createFork());
  addCleanup(pm);
  addCheck(pm, "threads");
}

void convbert::populateMemory(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createScratch());
  pm.addNestedPass<func::FuncOp>(createPrefetchPanels());
  addCleanup(pm);
  addCheck(pm, "memory");
}

/// Whether math.fma would become a call of fmaf(); vector.fma, which may round twice, never does.
static bool callsFMA(StringRef isaName) {
  const InstructionSet *isa = InstructionSet::find(isaName);
  return isa && !isa->hasFMA;
}

void convbert::populateLLVM(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createDropMarks());
  pm.addNestedPass<func::FuncOp>(createFlattenTransfers());
  pm.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  addCleanup(pm);
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vectors;
  // Sums of lanes may be taken in any order: the tree that the machine likes best.
  vectors.reassociateFPReductions = true;
  vectors.x86Vector = true;
  if (callsFMA(options.isa))
    pm.addPass(math::createMathExpandOpsPass({{"fma"}}));
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(pm);
  addCheck(pm, "llvm");
}

ArrayRef<Phase> convbert::getPhases() {
  static const Phase phases[] = {
      {"import", "", "a checkpoint as block operations", populateImport},
      {"simplify", "convbert-simplify", "block operations to fused steps; work on parameters alone moves to prepack",
       populateSimplify},
      {"outline", "convbert-outline-cpu", "host code on one workspace, and kernel functions", populateOutline},
      {"linalg", "convbert-linalg-cpu", "kernel bodies to linalg", populateLinalg},
      {"schedule", "convbert-schedule-cpu", "kernel bodies tiled, unrolled and vectorised", populateSchedule},
      {"bufferize", "convbert-bufferize-cpu", "kernel bodies from tensors to memrefs", populateBufferize},
      {"threads", "convbert-threads-cpu", "kernels to task functions and dispatchers", populateThreads},
      {"memory", "convbert-memory-cpu", "temporaries to the scratch argument; prefetches", populateMemory},
      {"llvm", "convbert-llvm-cpu", "to the LLVM dialect", populateLLVM},
  };
  return phases;
}

const Phase *convbert::findPhase(StringRef name) {
  const Phase *phase = llvm::find_if(getPhases(), [&](const Phase &p) { return p.name == name; });
  return phase == getPhases().end() ? nullptr : phase;
}

std::string convbert::getPhaseNames() {
  return llvm::join(llvm::map_range(getPhases(), [](const Phase &phase) { return phase.name; }), ", ");
}
