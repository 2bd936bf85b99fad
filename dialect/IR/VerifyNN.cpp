//===- VerifyNN.cpp - Verifiers of embeddings, dense layers, norms, heads ---===//

#include "dialect/IR/Verify.h"

using namespace mlir;
using namespace mlir::convbert;

//===----------------------------------------------------------------------===//
// Step operations
//===----------------------------------------------------------------------===//

int64_t DenseOp::getInFeatures() { return convbert::getInFeatures(getWeight(), getLayout()); }
int64_t DenseOp::getOutFeatures() { return convbert::getOutFeatures(getWeight(), getLayout()); }

CONVBERT_VERIFY(DenseOp) {
  // DENSE-C1, DENSE-C2
  if (failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getX()), op.getInFeatures())) ||
      failed(requireVector(error, "bias", op.getBias(), op.getOutFeatures())))
    return failure();
  // DENSE-C3
  return op.getMultiplier() ? requireShape(error, "multiplier", op.getMultiplier(), op.getResult()) : success();
}

CONVBERT_VERIFY(GroupedDenseOp) {
  int64_t groups = getExtent(op.getWeight(), 0), in = getExtent(op.getWeight(), 1), out = getExtent(op.getWeight(), 2);
  // GROUPED_DENSE-C1, GROUPED_DENSE-C2
  if (failed(requireExtent(error, "groups x input features of `weight`", getFeatures(op.getX()),
                           multiplyExtents(groups, in))))
    return failure();
  return requireVector(error, "bias", op.getBias(), multiplyExtents(groups, out));
}

CONVBERT_VERIFY(LayerNormOp) {
  int64_t width = getFeatures(op.getX());
  // LAYER_NORM-C1
  if (op.getResidual() && failed(requireShape(error, "residual", op.getResidual(), op.getX())))
    return failure();
  // LAYER_NORM-C2, LAYER_NORM-C3
  if (failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)))
    return failure();
  return requireEps(error, op.getEps());
}

//===----------------------------------------------------------------------===//
// Block operations
//===----------------------------------------------------------------------===//

CONVBERT_VERIFY(EmbeddingsOp) {
  int64_t width = getExtent(op.getWord() ? op.getWord() : op.getPosition(), 1);
  bool hasVectors = !getElementTypeOrSelf(op.getIds()).isIntOrIndex();
  Value projection = op.getProjection(), projectionBias = op.getProjectionBias();
  // EMBEDDINGS-C1
  if (failed(requireTokens(error, "token_types", op.getTokenTypes(), op.getIds())) ||
      failed(requireTokens(error, "position_ids", op.getPositionIds(), op.getIds())))
    return failure();
  // EMBEDDINGS-C7
  if (hasVectors && op.getWord())
    return error() << "requires no table of words for vectors, but found one";
  if (!hasVectors && !op.getWord())
    return error() << "requires a table of words for ids, but found none";
  if (hasVectors && failed(requireExtent(error, "the width of the vectors", width, getFeatures(op.getIds()))))
    return failure();
  // EMBEDDINGS-C2, EMBEDDINGS-C3
  if (failed(requireExtent(error, "the width of `position`", width, getExtent(op.getPosition(), 1))) ||
      failed(requireExtent(error, "the width of `type_table`", width, getExtent(op.getTypeTable(), 1))) ||
      failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)))
    return failure();
  // EMBEDDINGS-C4
  if (!projection != !projectionBias) {
    StringRef found = projection ? "projection" : "projection_bias";
    return error() << "requires `projection` and `projection_bias` together, but found `" << found << "` alone";
  }
  // EMBEDDINGS-C5
  if (projection &&
      (failed(requireExtent(error, "the input features of `projection`", width, getExtent(projection, 1))) ||
       failed(requireVector(error, "projection_bias", projectionBias, getExtent(projection, 0)))))
    return failure();
  return requireEps(error, op.getEps()); // EMBEDDINGS-C6
}

CONVBERT_VERIFY(FeedForwardOp) {
  int64_t width = getFeatures(op.getX());
  auto rank = [](Value weight) { return cast<RankedTensorType>(weight.getType()).getRank(); };
  // FEED_FORWARD-C1
  if (rank(op.getW1()) != rank(op.getW2()))
    return error() << "requires weights of equal rank, but found " << rank(op.getW1()) << " and " << rank(op.getW2());
  bool grouped = rank(op.getW1()) == 3;
  int64_t groups = grouped ? getExtent(op.getW1(), 0) : 1;
  // FEED_FORWARD-C2
  if (grouped && failed(requireExtent(error, "the groups of `w2`", groups, getExtent(op.getW2(), 0))))
    return failure();
  // Rank 2 is out x in, rank 3 is groups x in x out.
  auto in = [&](Value weight) { return multiplyExtents(groups, getExtent(weight, 1)); };
  auto out = [&](Value weight) { return multiplyExtents(groups, getExtent(weight, grouped ? 2 : 0)); };
  // FEED_FORWARD-C3, FEED_FORWARD-C4
  if (failed(requireExtent(error, "the input features of `w1`", width, in(op.getW1()))) ||
      failed(requireVector(error, "b1", op.getB1(), out(op.getW1()))) ||
      failed(requireExtent(error, "the input features of `w2`", out(op.getW1()), in(op.getW2()))) ||
      failed(requireExtent(error, "the output features of `w2`", width, out(op.getW2()))))
    return failure();
  return requireVector(error, "b2", op.getB2(), width);
}

CONVBERT_VERIFY(LMHeadOp) {
  int64_t width = getExtent(op.getWeight(), 0);
  // LM_HEAD-C1 to LM_HEAD-C4
  if (failed(requireExtent(error, "the input features of `weight`", getFeatures(op.getX()),
                           getExtent(op.getWeight(), 1))) ||
      failed(requireVector(error, "bias", op.getBias(), width)) ||
      failed(requireVector(error, "gamma", op.getGamma(), width)) ||
      failed(requireVector(error, "beta", op.getBeta(), width)) ||
      failed(requireExtent(error, "the input features of `decoder`", width, getExtent(op.getDecoder(), 1))) ||
      failed(requireVector(error, "decoder_bias", op.getDecoderBias(), getExtent(op.getDecoder(), 0))))
    return failure();
  return requireEps(error, op.getEps());
}

CONVBERT_VERIFY(ClassifierHeadOp) {
  int64_t hidden = getExtent(op.getW1(), 0);
  // CLASSIFIER_HEAD-C1, CLASSIFIER_HEAD-C2
  if (failed(requireExtent(error, "the input features of `w1`", getFeatures(op.getX()), getExtent(op.getW1(), 1))) ||
      failed(requireVector(error, "b1", op.getB1(), hidden)) ||
      failed(requireExtent(error, "the input features of `w2`", hidden, getExtent(op.getW2(), 1))))
    return failure();
  return requireVector(error, "b2", op.getB2(), getExtent(op.getW2(), 0));
}

/// A head that is one dense layer to `outputs` features (any number if dynamic).
template <typename Op> static LogicalResult verifySingleDense(Op op, EmitError error, int64_t outputs) {
  if (failed(requireWeight(error, "weight", op.getWeight(), WeightLayout::OutIn, getFeatures(op.getX()), outputs)))
    return failure();
  return requireVector(error, "bias", op.getBias(), getExtent(op.getWeight(), 0));
}
// TOKEN_HEAD-C1, TOKEN_HEAD-C2
CONVBERT_VERIFY(TokenHeadOp) { return verifySingleDense(op, error, ShapedType::kDynamic); }
// SPAN_HEAD-C1, SPAN_HEAD-C2
CONVBERT_VERIFY(SpanHeadOp) { return verifySingleDense(op, error, 2); }
// CHOICE_HEAD-C1, CHOICE_HEAD-C2
CONVBERT_VERIFY(ChoiceHeadOp) { return verifySingleDense(op, error, 1); }
