//===- DecomposeConv.cpp - DecomposeOpInterface: batch norm, kernel attention -===//

#include "dialect/IR/Decompose.h"
#include "dialect/IR/Parameters.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::convbert;

using Values = FailureOr<SmallVector<Value>>;

bool BatchNormOp::isDecomposable() {
  Type element = getElementTypeOrSelf(getX());
  return element.isF32() || element.isF64();
}

/// A convolution of one tap: scale and shift of each feature.
Values BatchNormOp::decompose(OpBuilder &b) {
  auto [scale, shift] = buildScaleAndShift(b, *this);
  auto type = cast<RankedTensorType>(scale.getType());
  Value weight = tensor::ExpandShapeOp::create(b, getLoc(), type.clone({type.getDimSize(0), 1}), scale,
                                               ArrayRef<ReassociationIndices>{{0, 1}});
  Value y = DepthwiseConv1DOp::create(b, getLoc(), getX(), weight, shift, b.getDenseI64ArrayAttr({0, 0}),
                                      /*stride=*/b.getI64IntegerAttr(1), /*dilation=*/b.getI64IntegerAttr(1),
                                      WeightLayoutAttr::get(b.getContext(), WeightLayout::OutIn));
  return SmallVector<Value>{y};
}

namespace {
/// Builds the steps of one operation.
struct KernelAttentionBuilder {
  KernelAttentionConvOp op;
  OpBuilder &b;
  Location loc = op.getLoc();
  int64_t count = op.getKernelCount();
  ConvFeatures features = ConvFeatures::get(op.getKernels(), op.getLayout());

  /// The weights of the kernels, `B x N`.
  Value gate() {
    WeightLayout layout = op.getLayout();
    Location at = nameStep(loc, "gate");
    Value mean = PoolOp::create(b, at, op.getX(), PoolKind::Mean);
    Value hidden = buildDense(b, at, mean, op.getF1(), op.getB1(), layout, ActivationKind::Relu);
    return SoftmaxOp::create(b, at, buildDense(b, at, hidden, op.getF2(), op.getB2(), layout), op.getTemperature());
  }

  Value conv(Value weight, Value bias) {
    return Conv1DOp::create(b, nameStep(loc, "conv"), op.getX(), weight, bias, op.getPadsAttr(), op.getStrideAttr(),
                            op.getDilationAttr(), /*groups=*/b.getI64IntegerAttr(1), op.getLayoutAttr());
  }

  /// One kernel a sequence: their mix is a matrix product of the weights and the kernels, each one row.
  Value mixKernels(Value weights) {
    auto type = cast<RankedTensorType>(op.getKernels().getType());
    Location at = nameStep(loc, "mix");
    Value rows =
        tensor::CollapseShapeOp::create(b, at, op.getKernels(), ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}});
    Value mixed = buildDense(b, at, weights, rows, /*bias=*/Value(), WeightLayout::InOut);
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), shape);
    shape[0] = cast<RankedTensorType>(mixed.getType()).getDimSize(0);
    sizes[0] = tensor::getMixedSize(b, at, mixed, 0);
    Value kernel = tensor::ExpandShapeOp::create(b, at, type.clone(shape), mixed,
                                                 ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}}, sizes);
    Value bias = op.getBiases();
    return conv(kernel, bias ? buildDense(b, at, weights, bias, Value(), WeightLayout::InOut) : Value());
  }

  /// One convolution with the output features of all kernels, kernel after kernel, then the sum of those.
  Value mixOutputs(Value weights) {
    Value kernels = op.getKernels(), bias = op.getBiases();
    if (op.getLayout() == WeightLayout::InOut) { // N x K x Ci x Co to K x Ci x N x Co
      auto type = cast<RankedTensorType>(kernels.getType());
      Value init =
          tensor::EmptyOp::create(b, loc, {features.taps, features.in, count, features.out}, type.getElementType());
      kernels = linalg::TransposeOp::create(b, loc, kernels, init, ArrayRef<int64_t>{1, 2, 0, 3}).getResult().front();
    }
    SmallVector<ReassociationIndices> groups = op.getLayout() == WeightLayout::OutIn
                                                   ? SmallVector<ReassociationIndices>{{0, 1}, {2}, {3}}
                                                   : SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}};
    Value stacked = tensor::CollapseShapeOp::create(b, loc, kernels, groups);
    if (bias)
      bias = tensor::CollapseShapeOp::create(b, loc, bias, ArrayRef<ReassociationIndices>{{0, 1}});
    return WeightedSumOp::create(b, nameStep(loc, "mix"), conv(stacked, bias), weights);
  }
};
} // namespace

Values KernelAttentionConvOp::decompose(OpBuilder &b) {
  KernelAttentionBuilder builder{*this, b};
  Aggregate form = getAggregate() == Aggregate::Auto ? chooseAggregate(getExtent(getX(), 1)) : getAggregate();
  Value weights = builder.gate();
  return SmallVector<Value>{form == Aggregate::Kernels ? builder.mixKernels(weights) : builder.mixOutputs(weights)};
}
