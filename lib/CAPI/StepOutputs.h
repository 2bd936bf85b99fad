//===- StepOutputs.h - A module that returns all that it computes -*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_STEPOUTPUTS_H
#define CONVBERT_LIB_CAPI_STEPOUTPUTS_H

#include "lib/Pipelines/RunPhases.h"

namespace mlir::convbert {

/// Takes an imported module through phase simplify, inlines its layers and makes all steps results.  Its manifest lists
/// them, each with the operation that computes it ("op") and where that is ("where": layer and step).
LogicalResult returnSteps(ModuleOp module, PhaseTimes &times);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_STEPOUTPUTS_H
