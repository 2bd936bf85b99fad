//===- Mixing.cpp - Convolutions and attention ----------------------------===//

#include "tools/convbert-fuzz-ir/Generator.h"
#include <cmath>

using namespace mlir;
using namespace mlir::convbert::fuzz;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t width(Value v) { return typeOf(v).getShape().back(); }

/// The tokens of `x` with further dimensions.
static RankedTensorType ofTokens(Generator &g, Value x, ArrayRef<int64_t> rest, Type element = {}) {
  SmallVector<int64_t> shape{g.loosen(typeOf(x).getDimSize(0), 0), g.loosen(typeOf(x).getDimSize(1), 1)};
  shape.append(rest.begin(), rest.end());
  return RankedTensorType::get(shape, element ? element : typeOf(x).getElementType());
}

/// A head count that divides `features`, most often.
static int64_t headsOf(Generator &g, int64_t features) {
  SmallVector<int64_t> divisors;
  for (int64_t heads : {1, 2, 3, 4, 5, 8, 9})
    if (features % heads == 0)
      divisors.push_back(heads);
  // Kernels pad heads to 16 features, and padded rows do not go everywhere.
  if (g.style == Style::Model && g.random.chance(80))
    for (int64_t heads : llvm::reverse(divisors))
      if (features / heads % 16 == 0)
        return heads;
  return g.style == Style::Wild && g.random.chance(2) ? g.random.pick<int64_t>({0, -1, 7, INT64_MIN})
                                                      : g.random.pick(ArrayRef(divisors));
}

static void addDepthwise(Generator &g) {
  Value x = g.activation(3);
  int64_t taps = g.taps();
  Attribute layout = g.enumCase("layout");
  g.op("convbert.depthwise_conv1d", {{x}, {g.weight(width(x), taps, layout, typeOf(x).getElementType())}},
       {g.attr("pads", g.pads(taps)), g.attr("layout", layout)});
}

static void addSeparable(Generator &g) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  int64_t taps = g.taps(), out = g.features();
  Attribute layout = g.enumCase("layout");
  g.op("convbert.separable_conv1d",
       {{x},
        {g.weight(width(x), taps, layout, element)},
        {g.weight(out, width(x), layout, element)},
        g.maybe([&] { return g.weight(out, element); }, 75)},
       {g.attr("pads", g.pads(taps)), g.attr("layout", layout)});
}

/// A mask of the tokens of `x`, now and then.
static Operands maybeMask(Generator &g, Value x) {
  return g.maybe([&] { return g.value(ofTokens(g, x, {}, g.b.getI1Type())); }, 15);
}

static void addMaskTokens(Generator &g) {
  Value x = g.activation(3);
  g.op("convbert.mask_tokens", {{x}, {g.value(ofTokens(g, x, {}, g.b.getI1Type()))}}, {});
}

static void addScaleHeads(Generator &g) {
  Value x = g.activation(0);
  g.op("convbert.scale_heads",
       {{x}, {g.weight(std::max<int64_t>(headsOf(g, width(x)), 1), typeOf(x).getElementType())}}, {});
}

static Operation *addDynamicKernel(Generator &g, Value q, int64_t heads, int64_t taps) {
  Type element = typeOf(q).getElementType();
  Attribute layout = g.enumCase("layout");
  SmallVector<NamedAttribute> attributes{g.attr("heads", g.i64(heads)), g.attr("normalize", g.enumCase("norm")),
                                         g.attr("layout", layout)};
  if (g.random.chance(10))
    for (NamedAttribute attribute : g.window(taps))
      if (attribute.getName() != "head_map")
        attributes.push_back(attribute);
  return g.op(
      "convbert.dynamic_kernel",
      {{q},
       {g.weight(std::max<int64_t>(heads, 1) * taps, width(q), layout, element)},
       g.maybe([&] { return g.weight(std::max<int64_t>(heads, 1) * taps, element); }, 75),
       g.maybe([&] { return g.value(g.random.chance(95) ? q.getType() : Type(ofTokens(g, q, width(q)))); }, 20)},
      attributes);
}

static void addKernel(Generator &g) { addDynamicKernel(g, g.activation(3), g.heads(), g.taps()); }

static void addApply(Generator &g) {
  Value v = g.activation(3), taps;
  int64_t heads = std::max<int64_t>(headsOf(g, width(v)), 1), count = g.taps();
  if (g.random.chance(60)) {
    if (Operation *kernel = addDynamicKernel(g, g.value(ofTokens(g, v, g.features())), heads, count))
      taps = kernel->getResult(0);
  } else {
    taps = g.value(ofTokens(g, v, {heads, count}));
  }
  SmallVector<NamedAttribute> attributes = g.window(count);
  attributes.push_back(g.attr("normalize", g.enumCase("norm")));
  if (g.random.chance(10))
    attributes.push_back(g.attr("with_taps", g.b.getUnitAttr()));
  g.op("convbert.apply_kernel", {{v}, {taps}, maybeMask(g, v)}, attributes);
}

static void addSpan(Generator &g) {
  Value q = g.activation(3);
  Value v = g.value(ofTokens(g, q, g.random.chance(70) ? width(q) : g.features()));
  Type element = typeOf(q).getElementType();
  int64_t heads = headsOf(g, width(v)), taps = g.taps(), out = std::max<int64_t>(heads, 1) * taps;
  Attribute layout = g.enumCase("layout");
  SmallVector<NamedAttribute> attributes = g.window(taps);
  attributes.append({g.attr("heads", g.i64(heads)), g.attr("layout", layout)});
  g.op("convbert.span_dynamic_conv",
       {{q},
        {g.value(g.random.chance(95) ? q.getType() : Type(ofTokens(g, q, width(q))))},
        {v},
        {g.weight(out, width(q), layout, element)},
        g.maybe([&] { return g.weight(out, element); }, 75),
        maybeMask(g, v)},
       attributes);
}

static void addBias(Generator &g) { g.op("convbert.attention_bias", {{g.value(g.perToken(g.b.getI1Type()))}}, {}); }

/// f32 or the element type of `x`.
static Value keyBias(Generator &g, Value x) {
  return g.value(ofTokens(g, x, {}, g.random.chance(70) ? g.b.getF32Type() : typeOf(x).getElementType()));
}

/// Which of `available` slices each of `count` heads reads.
static NamedAttribute slices(Generator &g, StringRef name, int64_t count, int64_t available) {
  SmallVector<int64_t> chosen;
  for (int64_t i = 0; i < std::min<int64_t>(count, 99); ++i)
    chosen.push_back(g.random.chance(70) ? i : g.random.below(available));
  return g.attr(name, g.b.getDenseI64ArrayAttr(chosen));
}

static void addSelfAttention(Generator &g) {
  Value x = g.activation(3);
  Value q = x, k = x, v = x;
  if (g.random.chance(60)) {
    int64_t out = g.features();
    Attribute layout = g.enumCase("layout");
    auto project = [&](int64_t features) {
      Type element = typeOf(x).getElementType();
      Operation *dense = g.op("convbert.dense",
                              {{x},
                               {g.weight(features, width(x), layout, element)},
                               g.maybe([&] { return g.weight(features, element); }, 90),
                               {}},
                              {g.attr("layout", layout)});
      return dense ? dense->getResult(0) : Value();
    };
    q = project(out);
    k = project(out);
    v = project(g.random.chance(80) ? out : g.features());
  } else if (g.style != Style::Model) {
    k = g.random.chance(80) ? g.value(ofTokens(g, x, width(x))) // or the tokens of another sequence
                            : g.value(g.tokens(width(x), typeOf(x).getElementType()));
    v = g.value(ofTokens(g, k, g.random.chance(80) ? width(x) : g.features()));
  }
  if (!q || !k || !v)
    return;
  int64_t heads = headsOf(g, width(k));
  SmallVector<NamedAttribute> attributes{g.attr("heads", g.i64(heads)),
                                         g.attr("scale", g.random.chance(60) ? g.b.getF64FloatAttr(0.125) : g.scale())};
  if (g.random.chance(10) && heads > 0) { // heads of a wider query, perhaps
    q = g.value(ofTokens(g, x, width(k) / heads * g.random.between(1, 6)));
    attributes.push_back(slices(g, "query_heads", heads, 6));
  }
  if (g.random.chance(10))
    attributes.push_back(g.attr("with_probabilities", g.b.getUnitAttr()));
  g.op("convbert.self_attention",
       {{q},
        {k},
        {v},
        g.maybe([&] { return keyBias(g, k); }, g.style == Style::Model ? 95 : 70),
        g.maybe([&] { return g.weight(std::max<int64_t>(heads, 1), typeOf(x).getElementType()); }, 10)},
       attributes);
}

static void addMixedAttention(Generator &g) {
  Value x = g.activation(3);
  Type element = typeOf(x).getElementType();
  int64_t heads = g.heads(), convHeads = g.random.chance(80) ? heads : g.random.chance(60) ? 0 : g.heads();
  if (g.random.chance(5))
    heads = 0;
  int64_t size = g.style == Style::Model && g.random.chance(70) ? 16 : g.random.pick({1, 3, 4, 8, 16, 17, 32});
  int64_t taps = g.random.pick({1, 3, 5, 9, 9, 2}), attn = heads * size, conv = convHeads * size;
  int64_t in = width(x), out = g.random.chance(80) ? in : g.features();
  Attribute layout = g.enumCase("layout");
  int64_t query = std::max(attn, conv) + (g.random.chance(5) ? size : 0), span = g.random.chance(90) ? query : conv;
  SmallVector<Operands> operands{{x}};
  auto layer = [&](bool present, int64_t features, int64_t from, bool bias = true) {
    operands.push_back(present ? Operands{g.weight(features, from, layout, element)} : Operands{});
    if (bias)
      operands.push_back(present ? Operands{g.weight(features, element)} : Operands{});
  };
  layer(true, query, in);
  layer(attn, attn, in);
  layer(attn, attn, in);
  layer(conv, in, taps, /*bias=*/false);
  layer(conv, span, in);
  layer(conv, convHeads * taps, span);
  layer(conv && (attn != conv || g.random.chance(85)), conv, in); // or the values of both branches are the same
  layer(true, out, attn + conv);
  operands.push_back(attn ? g.maybe([&] { return keyBias(g, x); }, g.style == Style::Model ? 95 : 70) : Operands{});
  operands.push_back(conv ? maybeMask(g, x) : Operands{});
  operands.push_back(g.maybe([&] { return g.weight(heads + convHeads, element); }, 10));
  SmallVector<NamedAttribute> attributes{g.attr("attn_heads", g.i64(heads)), g.attr("conv_heads", g.i64(convHeads)),
                                         g.attr("head_size", g.i64(size)), g.attr("layout", layout)};
  if (attn != query || g.random.chance(5))
    attributes.push_back(slices(g, "query_heads", heads, query / size));
  if (span != query || g.random.chance(5))
    attributes.push_back(slices(g, "span_query_heads", span / size, query / size));
  for (StringRef extra : {"with_probabilities", "with_kernels"})
    if (g.random.chance(6))
      attributes.push_back(g.attr(extra, g.b.getUnitAttr()));
  g.op("convbert.mixed_attention", operands, attributes);
}

ArrayRef<Recipe> mlir::convbert::fuzz::getMixingRecipes() {
  static const Recipe recipes[] = {
      {addDepthwise, 2}, {addSeparable, 3},     {addKernel, 1},         {addApply, 3},      {addSpan, 3},
      {addBias, 1},      {addSelfAttention, 3}, {addMixedAttention, 4}, {addMaskTokens, 1}, {addScaleHeads, 1},
  };
  return recipes;
}
