//===- Layers.cpp - Dense layers, norms, embeddings, heads ----------------===//

#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t width(Value v) { return typeOf(v).getShape().back(); }

/// The type of `like` with other features, now and then with other extents that agree with it.
static RankedTensorType sibling(Generator &g, Value like, int64_t features) {
  SmallVector<int64_t> shape(typeOf(like).getShape());
  for (auto [axis, extent] : llvm::enumerate(shape))
    extent = g.loosen(extent, axis);
  shape.back() = features;
  return RankedTensorType::get(shape, typeOf(like).getElementType());
}

static void addDense(Generator &g) {
  Value x = g.activation(0);
  Type element = typeOf(x).getElementType();
  Attribute layout = g.enumCase("layout");
  int64_t out = g.features();
  // Several layers of one input now and then: projections that fuse.
  for (int64_t i = g.random.pick({1, 1, 1, 2, 3}); i > 0; --i) {
    SmallVector<NamedAttribute> attributes{g.attr("layout", layout)};
    if (g.random.chance(20))
      attributes.push_back(g.attr("activation", g.enumCase("activation")));
    g.op("convbert.dense",
         {{x},
          {g.weight(out, width(x), layout, element)},
          g.maybe([&] { return g.weight(out, element); }, 75),
          g.maybe([&] { return g.value(sibling(g, x, out)); }, 10)},
         attributes);
  }
}

static void addGroupedDense(Generator &g) {
  Value x = g.activation(0);
  Type element = typeOf(x).getElementType();
  int64_t groups = g.random.pick({1, 2, 3, 4}), out = g.random.pick({1, 3, 8, 17, 24});
  g.op("convbert.grouped_dense",
       {{x}, {g.weight({groups, std::max<int64_t>(width(x) / groups, 1), out}, element)}, g.maybe([&] {
          return g.weight(groups * out, element);
        })},
       {g.attr("activation", g.enumCase("activation"))});
}

static void addActivation(Generator &g) {
  Value x = g.activation(0);
  g.op("convbert.activation", {{x}}, {g.attr("kind", g.enumCase("activation"))}, x.getType());
}

static void addLayerNorm(Generator &g) {
  Value x = g.activation(0);
  Type element = typeOf(x).getElementType();
  g.op("convbert.layer_norm",
       {{x},
        g.maybe([&] { return g.value(sibling(g, x, width(x))); }, 50),
        {g.weight(width(x), element)},
        {g.weight(width(x), element)}},
       {g.attr("eps", g.eps())});
}

static void addPool(Generator &g) { g.op("convbert.pool", {{g.activation(3)}}, {g.attr("kind", g.enumCase("pool"))}); }

static void addEmbeddings(Generator &g) {
  auto ids = [&] {
    return g.value(g.perToken(g.style == Style::Wild && g.random.chance(20) ? g.b.getI32Type() : g.b.getI64Type()));
  };
  Type element = g.element();
  int64_t width = g.features(), out = g.features();
  Operands projection = g.maybe([&] { return g.weight({out, width}, element); }, 30), bias;
  if (!projection.empty() || g.random.chance(3))
    bias.push_back(g.weight(out, element));
  g.op("convbert.embeddings",
       {{ids()},
        {ids()},
        {ids()},
        {g.weight({g.random.pick({1, 23, 100}), width}, element)},
        {g.weight({g.random.pick({1, 40}), width}, element)},
        {g.weight({g.random.pick({1, 2}), width}, element)},
        {g.weight(width, element)},
        {g.weight(width, element)},
        projection,
        bias},
       {g.attr("eps", g.eps())});
}

static void addFeedForward(Generator &g) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  int64_t in = width(x), hidden = g.features(), groups = g.random.pick({0, 0, 0, 1, 2, 4});
  Value w1, w2;
  if (groups == 0) {
    w1 = g.weight({hidden, in}, element);
    w2 = g.weight({in, hidden}, element);
  } else {
    int64_t part = std::max<int64_t>(in / groups, 1), inner = std::max<int64_t>(hidden / groups, 1);
    hidden = inner * groups;
    w1 = g.weight({groups, part, inner}, element);
    w2 = g.weight({groups, inner, part}, element);
  }
  g.op("convbert.feed_forward", {{x}, {w1}, {g.weight(hidden, element)}, {w2}, {g.weight(in, element)}},
       {g.attr("activation", g.enumCase("activation"))});
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

static void addLMHead(Generator &g) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  int64_t hidden = g.features(), words = g.random.pick({1, 23, 100});
  g.op("convbert.lm_head",
       {{x},
        {g.weight({hidden, width(x)}, element)},
        {g.weight(hidden, element)},
        {g.weight(hidden, element)},
        {g.weight(hidden, element)},
        {g.weight({words, hidden}, element)},
        {g.weight(words, element)}},
       {g.attr("eps", g.eps())});
}

static void addClassifierHead(Generator &g) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  int64_t hidden = g.features(), labels = g.random.pick({1, 2, 20});
  g.op("convbert.classifier_head",
       {{x},
        {g.weight({hidden, width(x)}, element)},
        {g.weight(hidden, element)},
        {g.weight({labels, hidden}, element)},
        {g.weight(labels, element)}},
       {g.attr("activation", g.enumCase("activation"))});
}

/// A head that is one dense layer.
static void addSingleDense(Generator &g, StringRef name, int64_t labels, ArrayRef<NamedAttribute> attributes) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  g.op(name, {{x}, {g.weight({labels, width(x)}, element)}, {g.weight(labels, element)}}, attributes);
}
static void addTokenHead(Generator &g) { addSingleDense(g, "convbert.token_head", g.random.pick({1, 2, 9, 33}), {}); }
static void addSpanHead(Generator &g) { addSingleDense(g, "convbert.span_head", 2, {}); }
static void addChoiceHead(Generator &g) {
  addSingleDense(g, "convbert.choice_head", 1, {g.attr("summary", g.enumCase("pool"))});
}

ArrayRef<Recipe> mlir::convbert::fuzz::getLayerRecipes() {
  static const Recipe recipes[] = {
      {addDense, 6},          {addGroupedDense, 2}, {addActivation, 4},  {addLayerNorm, 4},
      {addPool, 1},           {addEmbeddings, 1},   {addFeedForward, 3}, {addLMHead, 1},
      {addClassifierHead, 1}, {addTokenHead, 1},    {addSpanHead, 1},    {addChoiceHead, 1},
  };
  return recipes;
}

void mlir::convbert::fuzz::buildModelInputs(Generator &g, func::FuncOp function) {
  Type f32 = g.b.getF32Type();
  int64_t width = g.features();
  if (function.isPrivate()) {
    g.add(g.argument(g.tokens(width, f32)));
    if (g.random.chance(60))
      g.add(g.argument(g.perToken(f32)));
    return;
  }
  auto input = [&](Type element) { return g.argument(g.perToken(element)); };
  Value ids = input(g.b.getI64Type()), types = input(g.b.getI64Type()), positions = input(g.b.getI64Type());
  g.op("convbert.attention_bias", {{input(g.b.getI1Type())}}, {});
  auto table = [&](int64_t rows) { return Operands{g.weight({rows, width}, f32)}; };
  g.op("convbert.embeddings",
       {{ids},
        {types},
        {positions},
        table(23),
        table(80),
        table(2),
        {g.weight(width, f32)},
        {g.weight(width, f32)},
        {},
        {}},
       {g.attr("eps", g.b.getF64FloatAttr(1e-12))});
}
