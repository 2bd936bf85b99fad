//===- KernelCalls.cpp - Which kernel computes an operation -----------------===//

#include "dialect/IR/ShapeRules.h"
#include "lib/Outline/FoldedConvs.h"
#include "lib/Outline/KernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::convbert;

namespace {

/// Emits the calls of one operation, whichever it is.
struct Emitter : KernelEmitter {
  static std::string number(const APFloat &value) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.17e", value.convertToDouble());
    return digits;
  }

  LogicalResult emit(DenseOp op) {
    return dense(op.getX(), op.getWeight(), op.getBias(), op.getMultiplier(), op.getActivation(), op.getResult());
  }

  LogicalResult emit(DynamicKernelOp op) {
    if (op.getSpanKey())
      return op.emitOpError() << "requires its span-aware key fused into the layer that makes a factor of the product";
    if (failed(dense(op.getQ(), op.getWeight(), op.getBias(), /*multiplier=*/Value(), ActivationKind::Identity,
                     op.getResult())))
      return failure();
    return op.getNormalize() == KernelNorm::None ? success() : emitTapSoftmax(*this, op);
  }

  LogicalResult emit(LayerNormOp op) {
    int64_t width = getFeatures(op.getX()), padded = llvm::alignTo(width, TileSizes::lanes);
    SmallVector<Value> operands{host.rows(op.getX(), padded)};
    if (op.getResidual())
      operands.push_back(host.rows(op.getResidual(), padded));
    operands.push_back(parameter(op.getGamma()));
    operands.push_back(host.rows(op.getResult(), padded));
    return call(op.getResidual() ? "norm_residual" : "norm", text(width), normParameters(width, padded, op.getEps()),
                operands);
  }

  static TemplateParameters normParameters(int64_t width, int64_t padded, const APFloat &eps) {
    int64_t grain = CostModel::countThreadRows(padded);
    return {{"W", text(padded)}, {"N", text(width)}, {"EPS", number(eps)}, {"GRAIN", text(grain)}};
  }

  LogicalResult emit(EmbeddingsOp op) {
    int64_t width = getFeatures(op.getPosition()), padded = llvm::alignTo(width, TileSizes::lanes);
    bool hasVectors = !op.getWord();
    SmallVector<Value> operands{hasVectors ? host.rows(op.getIds(), padded) : input(op.getIds()),
                                input(op.getTokenTypes()), input(op.getPositionIds())};
    if (!hasVectors)
      operands.push_back(parameter(op.getWord()));
    for (Value table : {op.getPosition(), op.getTypeTable(), op.getGamma()})
      operands.push_back(parameter(table));
    operands.push_back(host.rows(op.getResult(), padded));
    return call(hasVectors ? "embed_vectors" : "embed", text(width), normParameters(width, padded, op.getEps()),
                operands);
  }

  LogicalResult emit(AttentionBiasOp op) {
    return call("attention_bias", "", {}, {input(op.getMask()), host.base(op.getResult())});
  }

  LogicalResult emit(GroupedDenseOp op) { return emitGroups(*this, op); }
  LogicalResult emit(Conv1DOp op) { return emitGroups(*this, op); }
  LogicalResult emit(DepthwiseConv1DOp op) { return emitConvolution(*this, op); }
  LogicalResult emit(ApplyKernelOp op) { return emitConvolution(*this, op); }
  LogicalResult emit(LightConvOp op) { return emitConvolution(*this, op); }

  LogicalResult emit(SelfAttentionOp op) {
    if (op.getBias() && host.getBuffer(op.getBias()).kind != RowKind::Key)
      return op.emitOpError() << "requires a key bias made by convbert.attention_bias for the CPU kernel";
    if (getFeatures(op.getV()) != getFeatures(op.getK()))
      return op.emitOpError() << "requires values as wide as keys for the CPU kernel, but found "
                              << getFeatures(op.getV()) << " and " << getFeatures(op.getK()) << " features";
    int64_t heads = static_cast<int64_t>(op.getHeads()), pitch = host.getPlan().getView(op.getK()).width / heads;
    TemplateParameters parameters{
        {"NR", text(host.getTiles().keyPanel)}, {"DP", text(pitch)}, {"NR_DP", text(pitch * host.getTiles().keyPanel)}};
    std::string suffix = "d" + text(pitch);
    // A scale that could not be folded into the weights of the key.
    if (op.getScale().convertToDouble() != 1.0) {
      suffix += "_scale";
      parameters.push_back({"SCALE", number(op.getScale())});
    }
    unsigned length = host.getLength(op.getK());
    if (!op.getBias() && host.startPlainBias(length) && failed(call("plain_bias", "", {}, {host.plainBias(length)})))
      return failure();
    if (op.getHeadMask()) {
      suffix += "_head_mask";
      parameters.push_back({"HEAD_MASK", ""});
    }
    if (op.getProbabilities()) {
      suffix += "_probabilities";
      parameters.push_back({"PROBABILITIES", ""});
    }
    // One call for each run of heads that read neighbouring slices of the query.
    for (int64_t begin = 0, end; begin < heads; begin = end) {
      end = op.getQueryHeads() ? begin + 1 : heads;
      while (end < heads && op.getQuerySlice(end) == op.getQuerySlice(end - 1) + 1)
        ++end;
      auto run = [&](Value value, int64_t slice) { return host.rows(value, (end - begin) * pitch, slice * pitch); };
      SmallVector<Value> operands{run(op.getQ(), op.getQuerySlice(begin)), run(op.getK(), begin), run(op.getV(), begin),
                                  op.getBias() ? host.base(op.getBias()) : host.plainBias(length),
                                  run(op.getResult(), begin)};
      if (op.getHeadMask())
        operands.push_back(host.slice(input(op.getHeadMask()), 0, begin, end - begin));
      if (op.getProbabilities())
        operands.push_back(host.slice(host.base(op.getProbabilities()), 1, begin, end - begin));
      if (failed(call("attention", suffix, parameters, operands)))
        return failure();
    }
    return success();
  }

  LogicalResult emit(ActivationOp op) {
    int64_t padded = llvm::alignTo(getFeatures(op.getX()), TileSizes::lanes);
    std::string kind = stringifyActivationKind(op.getKind()).str();
    return call("activation", kind + "_" + text(padded), {{"W", text(padded)}, {"ACT", kind}},
                {host.rows(op.getX(), padded), host.rows(op.getResult(), padded)});
  }

  /// Sums and products of activations, element by element.
  template <typename Op> LogicalResult emit(Op op) {
    int64_t padded = llvm::alignTo(host.getPlan().getView(op.getResult()).width, TileSizes::lanes);
    std::string name = op->getName().stripDialect().str();
    return call("binary", name + "_" + text(padded), {{"W", text(padded)}, {"OP", name}},
                {host.rows(op.getLhs(), padded), host.rows(op.getRhs(), padded), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(ScaleHeadsOp op) {
    int64_t heads = cast<RankedTensorType>(op.getScales().getType()).getDimSize(0);
    int64_t pitch = host.getPlan().getView(op.getX()).width / heads;
    return call("scale_heads", "d" + text(pitch), {{"DP", text(pitch)}},
                {host.rows(op.getX()), input(op.getScales()), host.rows(op.getResult())});
  }

  LogicalResult emit(AddBiasOp op) {
    int64_t padded = llvm::alignTo(host.getPlan().getView(op.getX()).width, TileSizes::lanes);
    return call("add_bias", text(padded), {{"W", text(padded)}},
                {host.rows(op.getX(), padded), parameter(op.getBias()), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(ScaleChannelsOp op) {
    int64_t padded = llvm::alignTo(getFeatures(op.getX()), TileSizes::lanes);
    return call("scale_channels", text(padded), {{"W", text(padded)}},
                {host.rows(op.getX(), padded), host.rows(op.getGate(), padded), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(SoftmaxOp op) {
    int64_t width = getFeatures(op.getX());
    return call("softmax", text(width), {{"W", text(width)}, {"TEMPERATURE", number(op.getTemperature())}},
                {host.rows(op.getX()), host.rows(op.getResult())});
  }

  LogicalResult emit(WeightedSumOp op) {
    int64_t width = getFeatures(op.getResult()), padded = llvm::alignTo(width, TileSizes::lanes);
    int64_t count = getFeatures(op.getWeights());
    return call("weighted_sum", text(count) + "_" + text(width),
                {{"N", text(count)}, {"C", text(width)}, {"WIDTH", text(padded)}},
                {host.rows(op.getX()), host.rows(op.getWeights()), host.rows(op.getResult(), padded)});
  }

  LogicalResult emit(SelectBranchesOp op) {
    if (isFoldedConv(op.getBranches().front()))
      return emitFolded(*this, op);
    size_t branches = op.getBranches().size();
    int64_t padded = llvm::alignTo(getFeatures(op.getResult()), TileSizes::lanes);
    SmallVector<Value> operands;
    for (Value value : op->getOperands())
      operands.push_back(host.rows(value, padded));
    operands.push_back(host.rows(op.getResult(), padded));
    TemplateParameters parameters = branchParameters(branches, "tensor<1x8x16xf32>");
    parameters.push_back({"W", text(padded)});
    return call("select_branches", text(branches) + "_" + text(padded), parameters, operands);
  }

  LogicalResult emit(MaskTokensOp op) {
    int64_t width = host.getPlan().getView(op.getX()).width;
    return call("mask_tokens", text(width), {{"W", text(width)}, {"WHOLE", text(width / 16 * 16)}},
                {host.rows(op.getX()), input(op.getMask()), host.rows(op.getResult())});
  }

  LogicalResult emit(PoolOp op) {
    if (isFoldedConv(op.getX()))
      return emitFolded(*this, op);
    int64_t width = getFeatures(op.getX());
    if (op.getKind() == PoolKind::Mean) {
      int64_t padded = llvm::alignTo(width, TileSizes::lanes);
      TemplateParameters parameters{{"W", text(padded)}, {"V", text(CostModel::getSumFeatures(padded))}};
      SmallVector<Value> operands{host.rows(op.getX(), padded), host.rows(op.getResult(), padded)};
      if (op.getMask()) {
        parameters.push_back({"MASK", ""});
        operands.push_back(input(op.getMask()));
      }
      return call("pool_mean", text(padded) + (op.getMask() ? "_mask" : ""), parameters, operands);
    }
    return call("pool", text(width), {{"W", text(width)}, {"LAST", op.getKind() == PoolKind::Last ? "true" : "false"}},
                {host.rows(op.getX()), host.rows(op.getResult())});
  }
};

} // namespace

/// Calls `action` with the operation as what it is; `otherwise` if it has no kernel.
template <typename Result, typename Action> static Result dispatch(Operation *op, Action action, Result otherwise) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .template Case<DenseOp, DynamicKernelOp, GroupedDenseOp, LayerNormOp, EmbeddingsOp, AttentionBiasOp, Conv1DOp,
                     DepthwiseConv1DOp, ApplyKernelOp, LightConvOp, SelfAttentionOp, ActivationOp, MaskTokensOp,
                     ScaleHeadsOp, PoolOp, AddBiasOp, ScaleChannelsOp, SelectBranchesOp, SoftmaxOp, WeightedSumOp,
                     arith::AddFOp, arith::MulFOp, arith::SubFOp>(action)
      .Default(otherwise);
}

bool convbert::hasKernel(Operation *op) {
  return dispatch(op, [](auto) { return true; }, false);
}

LogicalResult convbert::emitKernelCalls(Operation *op, HostBuilder &host, KernelTemplates &kernels,
                                        const OperandLookup &lookup) {
  Emitter emitter{{op, host, kernels, lookup}};
  return dispatch<LogicalResult>(op, [&](auto concrete) { return emitter.emit(concrete); }, failure());
}
