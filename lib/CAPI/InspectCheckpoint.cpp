//===- InspectCheckpoint.cpp - What a checkpoint is -----------------------===//

#include "lib/CAPI/InspectCheckpoint.h"
#include "lib/Analysis/ModelCost.h"
#include "lib/CAPI/ObjectCache.h"
#include "lib/Import/Import.h"
#include "lib/Import/ManifestJSON.h"
#include "lib/Pipelines/Registration.h"
#include "lib/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::convbert;

/// Costs are polynomials, batch * (c0 + c1 * length + c2 * length^2), and three lengths determine one.
static constexpr int64_t kLengths[] = {1, 2, 3};

/// {"dense": {"count": 35, "macs": [c0, c1, c2]}, ...} of the step operations that `forward` runs.
static llvm::Expected<llvm::json::Object> describeCost(ModuleOp module) {
  auto forward = module.lookupSymbol<FunctionOpInterface>("forward");
  PassManager pm(module.getContext());
  pm.addPass(createDecomposePass());
  if (!forward || failed(pm.run(module)))
    return llvm::createStringError("requires a module with @forward whose blocks decompose");
  std::map<std::string, SmallVector<int64_t, 3>> samples;
  std::map<std::string, int64_t> counts;
  for (int64_t length : kLengths) {
    FailureOr<FunctionCost> cost = computeCost(forward, /*batch=*/1, length);
    if (failed(cost))
      return llvm::createStringError("requires functions whose cost can be computed");
    for (const auto &[name, op] : cost->byOp) {
      samples[name].push_back(op.macs);
      counts[name] = op.count;
    }
  }
  llvm::json::Object result;
  for (const auto &[name, macs] : samples) {
    if (macs.size() != std::size(kLengths))
      continue;
    int64_t square = (macs[2] - 2 * macs[1] + macs[0]) / 2, linear = macs[1] - macs[0] - 3 * square;
    result[StringRef(name).rsplit('.').second.str()] = llvm::json::Object{
        {"count", counts[name]}, {"macs", llvm::json::Array{macs[0] - linear - square, linear, square}}};
  }
  return result;
}

llvm::Expected<std::string> convbert::inspectCheckpoint(StringRef directory, const CompileCheckpointOptions &options) {
  DialectRegistry registry;
  registerAll(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  ObjectCache cache(options.cacheDirectory);
  llvm::Expected<ImportedModel> model = importEntry(directory, options, cache, context);
  if (!model)
    return model.takeError();
  llvm::json::Array weights;
  for (const WeightSource &weight : model->weights)
    weights.push_back(llvm::json::Object{{"name", weight.name},
                                         {"file", weight.file},
                                         {"offset", int64_t(weight.offset)},
                                         {"bytes", int64_t(weight.bytes)}});
  llvm::json::Object result{{"manifest", manifestToJSON(*model->module)},
                            {"weights", std::move(weights)},
                            {"notes", llvm::json::Array(model->notes)},
                            {"parameters", countParameters(*model->module)}};
  // As text, because the manifest may refer to strings of the module, and decomposing changes that.
  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(result))).str();
  llvm::Expected<llvm::json::Object> cost = describeCost(*model->module);
  if (!cost)
    return cost.takeError();
  text.pop_back();
  return text + llvm::formatv(",\"cost\":{0}}", llvm::json::Value(std::move(*cost))).str();
}
