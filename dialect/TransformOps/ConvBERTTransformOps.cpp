//===- ConvBERTTransformOps.cpp - Transform operations --------------------===//

#include "dialect/TransformOps/ConvBERTTransformOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace mlir;
using namespace mlir::transform;

#define GET_OP_CLASSES
#include "dialect/TransformOps/ConvBERTTransformOps.cpp.inc"

//===----------------------------------------------------------------------===//
// unroll_full
//===----------------------------------------------------------------------===//

void convbert::UnrollFullOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getTargetMutable(), effects);
  modifiesPayload(effects);
}

DiagnosedSilenceableFailure convbert::UnrollFullOp::apply(TransformRewriter &, TransformResults &,
                                                          TransformState &state) {
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto loop = dyn_cast<scf::ForOp>(target);
    if (!loop) {
      DiagnosedSilenceableFailure diag = emitSilenceableError()
                                         << "requires `scf.for`, but found `" << target->getName() << "`";
      diag.attachNote(target->getLoc()) << "this operation";
      return diag;
    }
    if (!loop.getStaticTripCount()) {
      DiagnosedSilenceableFailure diag = emitSilenceableError()
                                         << "requires a constant trip count, but found bounds that are not constant";
      diag.attachNote(loop.getLoc()) << "this loop";
      return diag;
    }
    if (failed(loopUnrollFull(loop))) {
      DiagnosedSilenceableFailure diag = emitSilenceableError() << "could not unroll the loop";
      diag.attachNote(loop.getLoc()) << "this loop";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

//===----------------------------------------------------------------------===//
// expect_count
//===----------------------------------------------------------------------===//

void convbert::ExpectCountOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
}

DiagnosedSilenceableFailure convbert::ExpectCountOp::apply(TransformRewriter &, TransformResults &,
                                                           TransformState &state) {
  SmallVector<Operation *> found = llvm::to_vector(state.getPayloadOps(getTarget()));
  uint64_t least = getCount(), most = getMost().value_or(getCount());
  if (found.size() >= least && found.size() <= most)
    return DiagnosedSilenceableFailure::success();
  DiagnosedDefiniteFailure error = emitDefiniteFailure() << "requires " << least;
  if (most != least)
    error << " to " << most;
  error << " of: " << getWhat() << ", but found " << found.size();
  constexpr size_t kShown = 4; // enough to see what was matched by mistake
  for (Operation *op : ArrayRef(found).take_front(kShown))
    error.attachNote(op->getLoc()) << "found `" << op->getName() << "`";
  return error;
}

//===----------------------------------------------------------------------===//
// Extension
//===----------------------------------------------------------------------===//

namespace {

class ConvBERTTransformExtension : public TransformDialectExtension<ConvBERTTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvBERTTransformExtension)
  using Base::Base;

  void init() {
    declareGeneratedDialect<scf::SCFDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "dialect/TransformOps/ConvBERTTransformOps.cpp.inc"
        >();
  }
};

} // namespace

void convbert::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<ConvBERTTransformExtension>();
}
