//===- Verify.cpp - Verifiers -----------------------------------------------===//
//
// Every message says what is required and what was found; the numbered constraints are those of dialect/Spec.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

#define VERIFY(OP)                                                                                                     \
  static LogicalResult verifyImpl(OP op, EmitError error);                                                             \
  LogicalResult OP::verify() {                                                                                         \
    auto error = [&] { return emitOpError(); };                                                                        \
    if (failed(requireSameElementType(error, getOperands())))                                                          \
      return failure();                                                                                                \
    return verifyImpl(*this, error);                                                                                   \
  }                                                                                                                    \
  static LogicalResult verifyImpl(OP op, EmitError error)

/// A dense weight against the features it reads and the bias it meets.
static LogicalResult requireWeight(EmitError error, StringRef name, Value weight, WeightLayout layout, int64_t in,
                                   int64_t out) {
  if (failed(requireExtent(error, "input features of `" + name + "`", in, getInFeatures(typeOf(weight), layout))))
    return failure();
  return requireExtent(error, "output features of `" + name + "`", out, getOutFeatures(typeOf(weight), layout));
}

/// `heads` must be positive and divide `features`.
static LogicalResult requireHeads(EmitError error, StringRef what, int64_t heads, int64_t features) {
  if (heads < 1)
    return error() << "requires a positive number of " << what << ", but found " << heads;
  if (features % heads != 0)
    return error() << "requires features that are a multiple of " << what << ", but found " << features << " and "
                   << heads;
  return success();
}

static LogicalResult requireEps(EmitError error, const APFloat &eps) {
  if (eps.isNegative() || eps.isNaN() || eps.isInfinity())
    return error() << "requires an epsilon that is finite and not negative, but found " << eps.convertToDouble();
  return success();
}

//===----------------------------------------------------------------------===//
// Dense layers, norms, heads
//===----------------------------------------------------------------------===//

int64_t DenseOp::getInFeatures() { return convbert::getInFeatures(typeOf(getWeight()), getLayout()); }
int64_t DenseOp::getOutFeatures() { return convbert::getOutFeatures(typeOf(getWeight()), getLayout()); }

VERIFY(DenseOp) {
  if (failed(requireExtent(error, "input features of `weight`", getFeatures(op.getX()), op.getInFeatures())) ||
      failed(requireVector(error, "bias", op.getBias(), op.getOutFeatures())))
    return failure();
  if (Value multiplier = op.getMultiplier())
    if (failed(verifyCompatibleShape(multiplier.getType(), op.getType())))
      return error() << "requires a multiplier of the result's shape, but found " << multiplier.getType();
  return success();
}

VERIFY(GroupedDenseOp) {
  RankedTensorType weight = typeOf(op.getWeight());
  int64_t groups = weight.getDimSize(0);
  if (failed(requireExtent(error, "features of `x` (groups x group width)", groups * weight.getDimSize(1),
                           getFeatures(op.getX()))))
    return failure();
  return requireVector(error, "bias", op.getBias(), groups * weight.getDimSize(2));
}

VERIFY(LayerNormOp) {
  int64_t width = getFeatures(op.getX());
  if (Value residual = op.getResidual())
    if (failed(verifyCompatibleShape(residual.getType(), op.getX().getType())))
      return error() << "requires a residual of the input's shape, but found " << residual.getType();
  if (failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)))
    return failure();
  return requireEps(error, op.getEps());
}

VERIFY(EmbeddingsOp) {
  int64_t width = typeOf(op.getWord()).getDimSize(1);
  if (failed(requireExtent(error, "a width of `position`", width, typeOf(op.getPosition()).getDimSize(1))) ||
      failed(requireExtent(error, "a width of `type`", width, typeOf(op.getTypeTable()).getDimSize(1))) ||
      failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)))
    return failure();
  if (static_cast<bool>(op.getProjection()) != static_cast<bool>(op.getProjectionBias()))
    return error() << "requires projection and projection bias together";
  if (op.getProjection() &&
      (failed(requireExtent(error, "input features of `projection`", width,
                            typeOf(op.getProjection()).getDimSize(1))) ||
       failed(requireVector(error, "projection_bias", op.getProjectionBias(),
                            typeOf(op.getProjection()).getDimSize(0)))))
    return failure();
  return requireEps(error, op.getEps());
}

VERIFY(FeedForwardOp) {
  RankedTensorType w1 = typeOf(op.getW1()), w2 = typeOf(op.getW2());
  int64_t width = getFeatures(op.getX());
  if (w1.getRank() != w2.getRank())
    return error() << "requires weights of equal rank, but found " << w1.getRank() << " and " << w2.getRank();
  bool grouped = w1.getRank() == 3;
  int64_t groups = grouped ? w1.getDimSize(0) : 1;
  int64_t in1 = grouped ? groups * w1.getDimSize(1) : w1.getDimSize(1);
  int64_t out1 = grouped ? groups * w1.getDimSize(2) : w1.getDimSize(0);
  int64_t in2 = grouped ? w2.getDimSize(0) * w2.getDimSize(1) : w2.getDimSize(1);
  int64_t out2 = grouped ? w2.getDimSize(0) * w2.getDimSize(2) : w2.getDimSize(0);
  if (grouped && failed(requireExtent(error, "groups of `w2`", groups, w2.getDimSize(0))))
    return failure();
  if (failed(requireExtent(error, "input features of `w1`", width, in1)) ||
      failed(requireVector(error, "b1", op.getB1(), out1)) ||
      failed(requireExtent(error, "input features of `w2`", out1, in2)) ||
      failed(requireExtent(error, "output features of `w2`", width, out2)))
    return failure();
  return requireVector(error, "b2", op.getB2(), out2);
}

VERIFY(LMHeadOp) {
  RankedTensorType weight = typeOf(op.getWeight()), decoder = typeOf(op.getDecoder());
  int64_t width = weight.getDimSize(0);
  if (failed(requireExtent(error, "input features of `weight`", getFeatures(op.getX()), weight.getDimSize(1))) ||
      failed(requireVector(error, "bias", op.getBias(), width)) ||
      failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)) ||
      failed(requireExtent(error, "a width of `decoder`", width, decoder.getDimSize(1))) ||
      failed(requireVector(error, "decoder_bias", op.getDecoderBias(), decoder.getDimSize(0))))
    return failure();
  return requireEps(error, op.getEps());
}

VERIFY(ClassifierHeadOp) {
  RankedTensorType w1 = typeOf(op.getW1()), w2 = typeOf(op.getW2());
  if (failed(requireExtent(error, "input features of `w1`", getFeatures(op.getX()), w1.getDimSize(1))) ||
      failed(requireVector(error, "b1", op.getB1(), w1.getDimSize(0))) ||
      failed(requireExtent(error, "input features of `w2`", w1.getDimSize(0), w2.getDimSize(1))))
    return failure();
  return requireVector(error, "b2", op.getB2(), w2.getDimSize(0));
}

/// A head that is one dense layer to `outputs` features (any number if dynamic).
template <typename Op>
static LogicalResult verifySingleDense(Op op, EmitError error, int64_t outputs) {
  RankedTensorType weight = typeOf(op.getWeight());
  if (failed(requireWeight(error, "weight", op.getWeight(), WeightLayout::OutIn, getFeatures(op.getX()), outputs)))
    return failure();
  return requireVector(error, "bias", op.getBias(), weight.getDimSize(0));
}
VERIFY(TokenHeadOp) { return verifySingleDense(op, error, ShapedType::kDynamic); }
VERIFY(SpanHeadOp) { return verifySingleDense(op, error, 2); }
VERIFY(ChoiceHeadOp) { return verifySingleDense(op, error, 1); }

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

int64_t DepthwiseConv1DOp::getTaps() { return typeOf(getWeight()).getDimSize(getLayout() == WeightLayout::OutIn); }

VERIFY(DepthwiseConv1DOp) {
  if (failed(requireExtent(error, "channels of `weight`", getFeatures(op.getX()),
                           getOutFeatures(typeOf(op.getWeight()), op.getLayout()))))
    return failure();
  return requirePads(error, op.getPads(), op.getTaps());
}

VERIFY(SeparableConv1DOp) {
  RankedTensorType depthwise = typeOf(op.getDepthwise()), pointwise = typeOf(op.getPointwise());
  int64_t channels = getFeatures(op.getX());
  if (failed(requireExtent(error, "channels of `depthwise`", channels, getOutFeatures(depthwise, op.getLayout()))) ||
      failed(requireExtent(error, "input features of `pointwise`", channels, getInFeatures(pointwise, op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), getOutFeatures(pointwise, op.getLayout()))))
    return failure();
  return requirePads(error, op.getPads(), getInFeatures(depthwise, op.getLayout()));
}

VERIFY(DynamicKernelOp) {
  int64_t features = getOutFeatures(typeOf(op.getWeight()), op.getLayout());
  if (failed(requireHeads(error, "heads", op.getHeads(), features)) ||
      failed(requireExtent(error, "input features of `weight`", getFeatures(op.getQ()),
                           getInFeatures(typeOf(op.getWeight()), op.getLayout()))))
    return failure();
  return requireVector(error, "bias", op.getBias(), features);
}

VERIFY(ApplyKernelOp) {
  RankedTensorType taps = typeOf(op.getTaps());
  if (failed(requireHeads(error, "heads", taps.getDimSize(2), getFeatures(op.getV()))))
    return failure();
  return requirePads(error, op.getPads(), taps.getDimSize(3));
}

VERIFY(SpanDynamicConvOp) {
  int64_t features = getOutFeatures(typeOf(op.getWeight()), op.getLayout()), width = getFeatures(op.getQ());
  if (failed(requireExtent(error, "features of `span_key`", width, getFeatures(op.getSpanKey()))) ||
      failed(requireHeads(error, "heads", op.getHeads(), getFeatures(op.getV()))) ||
      failed(requireHeads(error, "heads", op.getHeads(), features)) ||
      failed(requireExtent(error, "input features of `weight`", width,
                           getInFeatures(typeOf(op.getWeight()), op.getLayout()))) ||
      failed(requireVector(error, "bias", op.getBias(), features)))
    return failure();
  return requirePads(error, op.getPads(), features / op.getHeads());
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

VERIFY(SelfAttentionOp) {
  if (failed(requireHeads(error, "heads", op.getHeads(), getFeatures(op.getQ()))) ||
      failed(requireHeads(error, "heads", op.getHeads(), getFeatures(op.getV()))) ||
      failed(requireExtent(error, "features of `k`", getFeatures(op.getQ()), getFeatures(op.getK()))))
    return failure();
  if (Value bias = op.getBias())
    return requireExtent(error, "keys of `bias`", typeOf(op.getK()).getDimSize(1), typeOf(bias).getDimSize(1));
  return success();
}

int64_t MixedAttentionOp::getTaps() { return convbert::getInFeatures(typeOf(getWd()), getLayout()); }

VERIFY(MixedAttentionOp) {
  WeightLayout layout = op.getLayout();
  int64_t width = getFeatures(op.getX()), size = op.getHeadSize();
  if (op.getAttnHeads() < 1 || op.getConvHeads() < 1 || size < 1)
    return error() << "requires positive head counts and head size, but found " << op.getAttnHeads() << ", "
                   << op.getConvHeads() << " and " << size;
  int64_t attn = op.getAttnHeads() * size, conv = op.getConvHeads() * size, taps = op.getTaps();
  if (taps % 2 == 0)
    return error() << "requires an odd number of taps, but found " << taps;
  if (failed(requireWeight(error, "wq", op.getWq(), layout, width, std::max(attn, conv))) ||
      failed(requireVector(error, "bq", op.getBq(), std::max(attn, conv))) ||
      failed(requireWeight(error, "wk", op.getWk(), layout, width, attn)) ||
      failed(requireVector(error, "bk", op.getBk(), attn)) ||
      failed(requireWeight(error, "wv", op.getWv(), layout, width, attn)) ||
      failed(requireVector(error, "bv", op.getBv(), attn)) ||
      failed(requireExtent(error, "channels of `wd`", width, getOutFeatures(typeOf(op.getWd()), layout))) ||
      failed(requireWeight(error, "wp", op.getWp(), layout, width, conv)) ||
      failed(requireVector(error, "bp", op.getBp(), conv)) ||
      failed(requireWeight(error, "wf", op.getWf(), layout, conv, op.getConvHeads() * taps)) ||
      failed(requireVector(error, "bf", op.getBf(), op.getConvHeads() * taps)) ||
      failed(requireWeight(error, "wc", op.getWc(), layout, width, conv)) ||
      failed(requireVector(error, "bc", op.getBc(), conv)) ||
      failed(requireExtent(error, "input features of `wo`", attn + conv, getInFeatures(typeOf(op.getWo()), layout))))
    return failure();
  return requireVector(error, "bo", op.getBo(), getOutFeatures(typeOf(op.getWo()), layout));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

VERIFY(PackedDenseOp) {
  RankedTensorType rows = typeOf(op.getRows()), panels = typeOf(op.getPanels()), bias = typeOf(op.getBias());
  if (rows.isDynamicDim(1) || panels.isDynamicDim(2))
    return error() << "requires static tile sizes, but found " << rows << " and " << panels;
  if (failed(requireExtent(error, "depth of `panels`", rows.getDimSize(2), panels.getDimSize(1))) ||
      failed(requireExtent(error, "panels of `bias`", panels.getDimSize(0), bias.getDimSize(0))))
    return failure();
  return requireExtent(error, "a panel width of `bias`", panels.getDimSize(2), bias.getDimSize(1));
}

VERIFY(NormTileOp) {
  int64_t padded = typeOf(op.getParams()).getDimSize(1);
  if (failed(requireExtent(error, "rows of `params`", 2, typeOf(op.getParams()).getDimSize(0))))
    return failure();
  for (Value addend : op.getAddends())
    if (failed(requireExtent(error, "a padded width of every addend", padded, getFeatures(addend))))
      return failure();
  if (static_cast<int64_t>(op.getWidth()) < 1 || static_cast<int64_t>(op.getWidth()) > padded)
    return error() << "requires a width between 1 and " << padded << ", but found " << op.getWidth();
  return requireEps(error, op.getEps());
}

VERIFY(DepthwiseTileOp) {
  return requireExtent(error, "channels of `taps`", getFeatures(op.getX()), getFeatures(op.getTaps()));
}

VERIFY(SpanTileOp) {
  RankedTensorType logits = typeOf(op.getLogits()), v = typeOf(op.getV());
  if (failed(requireExtent(error, "tokens of `v`", logits.getDimSize(0) + logits.getDimSize(1) - 1, v.getDimSize(0))))
    return failure();
  if (v.getDimSize(1) > logits.getDimSize(2))
    return error() << "requires at least " << v.getDimSize(1) << " heads of logits, but found " << logits.getDimSize(2);
  return success();
}

VERIFY(AttentionTileOp) {
  RankedTensorType q = typeOf(op.getQ()), keys = typeOf(op.getKeys()), values = typeOf(op.getValues());
  RankedTensorType bias = typeOf(op.getBias()), scores = typeOf(op.getScores());
  if (failed(requireExtent(error, "a head size of `keys`", q.getDimSize(1), keys.getDimSize(1))) ||
      failed(requireExtent(error, "a panel width of `values`", keys.getDimSize(2), values.getDimSize(1))) ||
      failed(requireExtent(error, "a panel width of `bias`", keys.getDimSize(2), bias.getDimSize(1))) ||
      failed(requireExtent(error, "rows of `scores`", q.getDimSize(0), scores.getDimSize(0))))
    return failure();
  return requireExtent(error, "a panel width of `scores`", keys.getDimSize(2), scores.getDimSize(2));
}
