//===- ModuleHeads.cpp - What a model computes from its last layer --------===//

#include "lib/Import/ModuleHeads.h"
#include "lib/Import/ParameterLoad.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir::convbert {

namespace {

class HeadBuilder {
public:
  HeadBuilder(OpBuilder &builder, const Checkpoint &checkpoint, Value x, SmallVectorImpl<ModuleOutput> &outputs)
      : builder(builder), checkpoint(checkpoint), config(checkpoint.config), x(x), outputs(outputs) {
    p = llvm::map_to_vector(checkpoint.head, [&](const TensorInfo *tensor) {
      return loadParameter(builder, named(tensor->name), *tensor);
    });
  }

  void build();

private:
  Location named(const Twine &name) { return NameLoc::get(builder.getStringAttr(name)); }
  APFloat eps() const { return APFloat(config.layerNormEps); }
  Value dense(Location loc, Value input, unsigned at, ActivationKind activation) {
    return DenseOp::create(builder, loc, input, p[at], p[at + 1], /*multiplier=*/Value(), WeightLayout::OutIn,
                           activation);
  }
  Value classifier(StringRef name, unsigned at, ActivationKind activation) {
    return ClassifierHeadOp::create(builder, named(name), x, p[at], p[at + 1], p[at + 2], p[at + 3], activation);
  }
  Value tokens(StringRef name, unsigned at = 0) {
    return TokenHeadOp::create(builder, named(name), x, p[at], p[at + 1]);
  }
  Value languageModel(StringRef name, ActivationKind activation);
  Value choice();
  void buildBERT();
  void buildReplacedTokens();
  void buildSpan();
  void add(StringRef name, Value value, bool dropsUnit = false) { outputs.push_back({name.str(), value, dropsUnit}); }

  OpBuilder &builder;
  const Checkpoint &checkpoint;
  const Config &config;
  Value x;
  SmallVectorImpl<ModuleOutput> &outputs;
  SmallVector<Value> p;
};

} // namespace

/// With exact GELU that is one block operation.
Value HeadBuilder::languageModel(StringRef name, ActivationKind activation) {
  Location loc = named(name);
  if (activation == ActivationKind::Gelu)
    return LMHeadOp::create(builder, loc, x, p[0], p[1], p[2], p[3], p[4], p[5], eps());
  Value h = dense(loc, x, 0, activation);
  h = LayerNormOp::create(builder, loc, h, /*residual=*/Value(), p[2], p[3], eps());
  return TokenHeadOp::create(builder, loc, h, p[4], p[5]);
}

/// The logit of a sequence.  Without a summary projection and activation that is one block operation.
Value HeadBuilder::choice() {
  Location loc = named("classifier"), summaryLoc = named("sequence_summary");
  if (!config.summaryProjection && config.summaryActivation == ActivationKind::Identity)
    return ChoiceHeadOp::create(builder, loc, x, p[0], p[1], config.summary);
  Value summary = PoolOp::create(builder, summaryLoc, x, config.summary);
  if (!config.summaryProjection) {
    summary = ActivationOp::create(builder, summaryLoc, summary, config.summaryActivation);
    return dense(loc, summary, 0, ActivationKind::Identity);
  }
  summary = dense(summaryLoc, summary, 0, config.summaryActivation);
  return dense(loc, summary, 2, ActivationKind::Identity);
}

void HeadBuilder::buildSpan() {
  auto head = SpanHeadOp::create(builder, named("qa_outputs"), x, p[0], p[1]);
  add("start_logits", head.getStart());
  add("end_logits", head.getEnd());
}

void HeadBuilder::buildReplacedTokens() {
  Location loc = named("discriminator_predictions");
  Value h = dense(loc, x, 0, config.activation);
  add("logits", TokenHeadOp::create(builder, loc, h, p[2], p[3]), /*dropsUnit=*/true);
}

/// The pooler is a dense layer with tanh on the first token.
void HeadBuilder::buildBERT() {
  switch (checkpoint.modelClass) {
  case ModelClass::Model: {
    add("last_hidden_state", x);
    if (p.empty())
      return;
    Location loc = named("pooler");
    add("pooler_output", dense(loc, PoolOp::create(builder, loc, x, PoolKind::First), 0, ActivationKind::Tanh));
    return;
  }
  case ModelClass::MaskedLM:
    return add("logits", languageModel("cls.predictions", config.activation));
  case ModelClass::PreTraining:
    add("prediction_logits", languageModel("cls.predictions", config.activation));
    return add("seq_relationship_logits", classifier("cls.seq_relationship", 6, ActivationKind::Tanh));
  case ModelClass::SequenceClassification:
  case ModelClass::MultipleChoice:
    return add("logits", classifier("classifier", 0, ActivationKind::Tanh));
  default:
    llvm_unreachable("the same in all families");
  }
}

void HeadBuilder::build() {
  ModelClass modelClass = checkpoint.modelClass;
  switch (modelClass) {
  case ModelClass::EncoderOnly:
    add("last_hidden_state", x);
    return p.empty() ? void() : add("logits", tokens("decoder"));
  case ModelClass::TokenClassification:
    return add("logits", tokens("classifier"));
  case ModelClass::QuestionAnswering:
    return buildSpan();
  default:
    break;
  }
  if (config.family == ModelFamily::BERT)
    return buildBERT();
  switch (modelClass) {
  case ModelClass::Model:
    return add("last_hidden_state", x);
  case ModelClass::MaskedLM:
    return add("logits", languageModel("generator_predictions", ActivationKind::Gelu));
  case ModelClass::SequenceClassification:
    // ELECTRA's is GELU whatever the encoder uses.
    return add("logits", classifier("classifier", 0,
                                    config.family == ModelFamily::ELECTRA ? ActivationKind::Gelu : config.activation));
  case ModelClass::MultipleChoice:
    return add("logits", choice());
  case ModelClass::PreTraining:
    return buildReplacedTokens();
  default:
    llvm_unreachable("all classes handled");
  }
}

void buildHead(OpBuilder &builder, const Checkpoint &checkpoint, Value x, SmallVectorImpl<ModuleOutput> &outputs) {
  HeadBuilder(builder, checkpoint, x, outputs).build();
}

} // namespace mlir::convbert
