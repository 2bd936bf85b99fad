//===- StepOutputs.cpp - A module that returns all that it computes -------===//

#include "lib/CAPI/StepOutputs.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Diagnostics.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::convbert;

/// Where an operation is: its name in the layer, behind that of the layer.
static std::string describeStep(Location location) {
  auto inlined = dyn_cast<CallSiteLoc>(location);
  return inlined ? describeStep(inlined.getCaller()) + ": " + describeStep(inlined.getCallee())
                 : describeLocation(location);
}

/// Lists all results of the entry in the manifest, with "op" and "where".
static void describeResults(ModuleOp module) {
  Builder b(module.getContext());
  for (auto fn : module.getOps<func::FuncOp>()) {
    if (fn.isPrivate())
      continue;
    auto manifest = module->getAttrOfType<DictionaryAttr>(kManifestAttrName);
    auto known = manifest.getAs<ArrayAttr>("outputs");
    SmallVector<Attribute> outputs;
    for (OpOperand &operand : fn.getBody().back().getTerminator()->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      auto name = fn.getResultAttrOfType<StringAttr>(i, "convbert.name");
      NamedAttrList entry(i < known.size() ? cast<DictionaryAttr>(known[i])
                                           : cast<DictionaryAttr>(makeManifestEntry(
                                                 b, name, cast<RankedTensorType>(operand.get().getType()))));
      if (Operation *op = operand.get().getDefiningOp()) {
        entry.set("op", b.getStringAttr(op->getName().getStringRef()));
        entry.set("where", b.getStringAttr(describeStep(op->getLoc())));
      }
      outputs.push_back(entry.getDictionary(module.getContext()));
    }
    NamedAttrList all(manifest);
    all.set("outputs", b.getArrayAttr(outputs));
    module->setAttr(kManifestAttrName, all.getDictionary(module.getContext()));
  }
}

LogicalResult convbert::returnSteps(ModuleOp module, PhaseTimes &times) {
  RunPhasesOptions options;
  options.to = "simplify";
  if (failed(runPhases(module, options, times)))
    return failure();
  PassManager pm(module.getContext());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createReturnStepsPass());
  if (failed(pm.run(module)))
    return failure();
  describeResults(module);
  return success();
}
