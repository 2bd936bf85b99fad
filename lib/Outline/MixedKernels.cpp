//===- MixedKernels.cpp - Kernels mixed for each sequence -------------------===//

#include "lib/Outline/MixedKernels.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// The matrix product that is a mix of the rows of a parameter, or null.
static DenseOp getMix(Value mixed) {
  auto dense = mixed.getDefiningOp<DenseOp>();
  bool isMix = dense && dense.getLayout() == WeightLayout::InOut && !dense.getBias() && !dense.getMultiplier() &&
               dense.getActivation() == ActivationKind::Identity;
  return isMix ? dense : DenseOp();
}

FailureOr<MixedKernels> MixedKernels::get(Conv1DOp op) {
  auto view = op.getWeight().getDefiningOp<tensor::ExpandShapeOp>();
  DenseOp kernel = view ? getMix(view.getSrc()) : DenseOp(), bias = op.getBias() ? getMix(op.getBias()) : DenseOp();
  if (!kernel || op.getGroups() != 1 || !bias != !op.getBias() || (bias && bias.getX() != kernel.getX()))
    return failure();
  return MixedKernels{kernel.getX(), kernel, bias};
}

bool convbert::isMixedParameter(Value value) {
  if (!isa_and_nonnull<DenseOp, tensor::ExpandShapeOp>(value.getDefiningOp()) || value.use_empty())
    return false;
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (auto conv = dyn_cast<Conv1DOp>(use.getOwner()))
      return conv.hasSequenceWeights() && use.get() != conv.getX();
    auto view = dyn_cast<tensor::ExpandShapeOp>(use.getOwner());
    return view && isMixedParameter(view.getResult());
  });
}

LogicalResult convbert::isolateMix(RewriterBase &rewriter, Conv1DOp op) {
  FailureOr<MixedKernels> mixed = MixedKernels::get(op);
  if (failed(mixed))
    return op.emitOpError()
           << "requires weights of sequences that are mixed from kernels, with their biases and in one "
              "group, for the CPU kernel";
  rewriter.setInsertionPoint(op);
  // The view asks for its batch: there is one in a function.
  for (Operation *user : llvm::to_vector(mixed->kernel->getUsers()))
    if (auto dim = dyn_cast<tensor::DimOp>(user); dim && dim.getConstantIndex() == 0)
      rewriter.modifyOpInPlace(dim, [&] { dim.getSourceMutable().assign(mixed->weights); });
  Operation *view = op.getWeight().getDefiningOp();
  SmallVector<Operation *> old{view, mixed->kernel};
  Operation *kernel = rewriter.clone(*mixed->kernel), *own = rewriter.clone(*view);
  own->setOperand(0, kernel->getResult(0));
  Value bias;
  if (mixed->bias) {
    old.push_back(mixed->bias);
    bias = rewriter.clone(*mixed->bias)->getResult(0);
  } else {
    // The kernel of the product adds one.
    auto rows = cast<RankedTensorType>(mixed->kernel.getWeight().getType());
    int64_t out = ConvFeatures::get(op.getWeight(), op.getLayout()).out;
    auto type = RankedTensorType::get({rows.getDimSize(0), out}, rows.getElementType());
    Value zeros = arith::ConstantOp::create(rewriter, op.getLoc(), cast<TypedAttr>(rewriter.getZeroAttr(type)));
    auto mix = cast<DenseOp>(rewriter.clone(*mixed->kernel));
    mix.getWeightMutable().assign(zeros);
    mix.getResult().setType(
        RankedTensorType::get({ShapedType::kDynamic, out}, cast<RankedTensorType>(mix.getType()).getElementType()));
    bias = mix.getResult();
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getWeightMutable().assign(own->getResult(0));
    op.getBiasMutable().assign(bias);
  });
  for (Operation *mix : old)
    if (mix->use_empty())
      rewriter.eraseOp(mix);
  return success();
}
