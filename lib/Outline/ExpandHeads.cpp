//===- ExpandHeads.cpp - Taps of heads as taps of channels ------------------===//

#include "lib/Outline/ExpandHeads.h"
#include "dialect/IR/ShapeRules.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

/// `H x K` as `C x K`: blocked heads repeat each row `R` times, interleaved ones all rows.
static Value repeatRows(OpBuilder &b, Location loc, Value taps, int64_t channels, HeadMap map) {
  auto type = cast<RankedTensorType>(taps.getType());
  int64_t heads = type.getDimSize(0), count = type.getDimSize(1), size = channels / heads;
  int64_t repeated = map == HeadMap::Blocked ? 1 : 0;
  SmallVector<int64_t> shape{heads, count};
  shape.insert(shape.begin() + repeated, size);
  Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value all = linalg::BroadcastOp::create(b, loc, taps, init, ArrayRef<int64_t>{repeated})->getResult(0);
  return tensor::CollapseShapeOp::create(b, loc, all, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
}

/// The parameters, one row a kernel, whose mix with the weights of each sequence is `mixed`; null if it is no such mix.
static Value getMixed(Value mixed, Value &weights) {
  auto dense = mixed.getDefiningOp<DenseOp>();
  if (!dense || dense.getLayout() != WeightLayout::InOut || dense.getBias() || dense.getMultiplier() ||
      dense.getActivation() != ActivationKind::Identity || (weights && weights != dense.getX()))
    return Value();
  weights = dense.getX();
  return dense.getWeight();
}

// TODO(#8): a product with panels mixed for each sequence, which needs a part of these multiplications.
LogicalResult convbert::expandKernels(RewriterBase &rewriter, Conv1DOp op) {
  auto kernel = op.getWeight().getDefiningOp<tensor::ExpandShapeOp>();
  Value weights, rows = kernel ? getMixed(kernel.getSrc(), weights) : Value();
  Value biases = rows && op.getBias() ? getMixed(op.getBias(), weights) : Value();
  if (!rows || op.getGroups() != 1 || !biases != !op.getBias())
    return op.emitOpError()
           << "requires weights of sequences that are mixed from kernels, with their biases and in one "
              "group, for the CPU kernel";
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ConvFeatures features = ConvFeatures::get(op.getWeight(), op.getLayout());
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t count = type.getDimSize(0);
  // N x (Co x Ci x K) as N Co x Ci x K, and N x (K x Ci x Co) as K x Ci x N Co.
  bool outFirst = op.getLayout() == WeightLayout::OutIn;
  SmallVector<int64_t> shape = outFirst ? SmallVector<int64_t>{count, features.out, features.in, features.taps}
                                        : SmallVector<int64_t>{count, features.taps, features.in, features.out};
  Value stacked = tensor::ExpandShapeOp::create(rewriter, rows.getLoc(), type.clone(shape), rows,
                                                ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}});
  if (!outFirst) {
    SmallVector<int64_t> turned{features.taps, features.in, count, features.out};
    Value init = tensor::EmptyOp::create(rewriter, loc, turned, type.getElementType());
    stacked = linalg::TransposeOp::create(rewriter, rows.getLoc(), stacked, init, ArrayRef<int64_t>{1, 2, 0, 3})
                  ->getResult(0);
  }
  stacked = tensor::CollapseShapeOp::create(rewriter, rows.getLoc(), stacked,
                                            outFirst ? SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}}
                                                     : SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  if (biases)
    biases = tensor::CollapseShapeOp::create(rewriter, biases.getLoc(), biases, ArrayRef<ReassociationIndices>{{0, 1}});
  Value all = Conv1DOp::create(rewriter, loc, op.getX(), stacked, biases, op.getPadsAttr(), op.getStrideAttr(),
                               op.getDilationAttr(), op.getGroupsAttr(), op.getLayoutAttr());
  SmallVector<Operation *> mixes{kernel, kernel.getSrc().getDefiningOp()};
  if (op.getBias())
    mixes.push_back(op.getBias().getDefiningOp());
  rewriter.replaceOpWithNewOp<WeightedSumOp>(op, all, weights);
  for (Operation *mix : mixes)
    if (mix->use_empty())
      rewriter.eraseOp(mix);
  return success();
}

LogicalResult convbert::expandHeads(RewriterBase &rewriter, LightConvOp op) {
  rewriter.setInsertionPointAfter(op);
  Location loc = op.getLoc();
  if (op.getEdge() == Edge::Renorm) {
    if (Value bias = op.getBias()) {
      rewriter.modifyOpInPlace(op, [&] { op.getBiasMutable().clear(); });
      auto sum = AddBiasOp::create(rewriter, loc, op.getResult(), bias);
      rewriter.replaceAllUsesExcept(op.getResult(), sum.getResult(), sum);
    }
    return success();
  }
  if (op.getNormalize() != KernelNorm::None)
    return op.emitOpError() << "requires the softmax of its weights decomposed for the CPU kernel, but found normalize "
                            << stringifyKernelNorm(op.getNormalize());
  Value taps = repeatRows(rewriter, op.getWeight().getLoc(), op.getWeight(), getFeatures(op.getX()), op.getHeadMap());
  Value y = DepthwiseConv1DOp::create(rewriter, loc, op.getX(), taps, /*bias=*/Value(), op.getPadsAttr(),
                                      /*stride=*/rewriter.getI64IntegerAttr(1), op.getDilationAttr(),
                                      WeightLayoutAttr::get(op.getContext(), WeightLayout::OutIn));
  if (op.getBias())
    y = AddBiasOp::create(rewriter, loc, y, op.getBias());
  rewriter.replaceOp(op, y);
  return success();
}
