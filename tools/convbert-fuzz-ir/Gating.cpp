//===- Gating.cpp - Lightweight and dynamic convolution, gates ------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }
static int64_t width(Value v) { return typeOf(v).getShape().back(); }
static Type elementOf(Value v) { return typeOf(v).getElementType(); }

/// The tokens of `x` with other features.
static RankedTensorType tokensOf(Generator &g, Value x, int64_t features) {
  return RankedTensorType::get({g.loosen(typeOf(x).getDimSize(0), 0), g.loosen(typeOf(x).getDimSize(1), 1), features},
                               elementOf(x));
}
/// One vector for each sequence of `x`.
static RankedTensorType pooledOf(Generator &g, Value x) {
  return RankedTensorType::get({g.loosen(typeOf(x).getDimSize(0), 0), width(x)}, elementOf(x));
}
static Operands maybeMask(Generator &g, Value x) {
  auto type = RankedTensorType::get({g.loosen(typeOf(x).getDimSize(0), 0), g.loosen(typeOf(x).getDimSize(1), 1)},
                                    g.b.getI1Type());
  return g.maybe([&] { return g.value(type); }, 20);
}

/// A head count that divides `features`, most often.
static int64_t headsOf(Generator &g, int64_t features) {
  int64_t heads = g.random.pick({1, 2, 3, 4, 8});
  return features % heads == 0 || g.random.chance(3) ? heads : 1;
}

SmallVector<NamedAttribute> Generator::window(int64_t taps) {
  int64_t dilation = random.chance(85) ? 1 : random.pick<int64_t>({2, 2, 3, 1000, 0, INT64_MAX});
  bool isPossible = dilation > 0 && dilation < 10000 && taps < 10000;
  SmallVector<NamedAttribute> attributes{attr("pads", pads(isPossible ? (taps - 1) * dilation + 1 : taps))};
  if (dilation != 1)
    attributes.push_back(attr("dilation", i64(dilation)));
  for (StringRef name : {"edge", "head_map"})
    if (random.chance(25))
      attributes.push_back(attr(name, enumCase(name)));
  return attributes;
}

static void addNormalizeTaps(Generator &g) {
  Value taps = g.weight({g.heads(), g.taps()}, g.element());
  if (taps)
    g.op("convbert.normalize_taps", {{taps}}, {}, taps.getType());
}

static void addLight(Generator &g) {
  Value x = g.activation(3);
  int64_t taps = g.taps(), heads = headsOf(g, width(x));
  SmallVector<NamedAttribute> attributes = g.window(taps);
  if (g.random.chance(40))
    attributes.push_back(g.attr("normalize", g.enumCase("norm")));
  g.op("convbert.light_conv",
       {{x}, {g.weight({heads, taps}, elementOf(x))}, g.maybe([&] { return g.weight(width(x), elementOf(x)); }, 40)},
       attributes);
}

static void addDynamic(Generator &g) {
  Value x = g.activation(3), query;
  int64_t taps = g.taps(), heads = headsOf(g, width(x)), in = width(x);
  if (g.random.chance(30)) {
    in = g.features();
    query = g.value(tokensOf(g, x, in));
  }
  Attribute layout = g.enumCase("layout");
  SmallVector<NamedAttribute> attributes = g.window(taps);
  attributes.append({g.attr("heads", g.i64(heads)), g.attr("layout", layout)});
  g.op("convbert.dynamic_conv",
       {{x},
        {g.weight(heads * taps, in, layout, elementOf(x))},
        g.maybe([&] { return g.weight(heads * taps, elementOf(x)); }, 60),
        query ? Operands{query} : Operands{},
        g.maybe([&] { return g.weight(width(x), elementOf(x)); }, 30)},
       attributes);
}

static void addChannelBias(Generator &g) {
  Value x = g.activation(0);
  g.op("convbert.add_bias", {{x}, {g.weight(width(x), elementOf(x))}}, {});
}

static void addPool(Generator &g) {
  Value x = g.activation(3);
  g.op("convbert.pool", {{x}, maybeMask(g, x)}, {g.attr("kind", g.enumCase("pool"))});
}

static void addScaleChannels(Generator &g) {
  Value x = g.activation(3);
  g.op("convbert.scale_channels", {{x}, {g.value(pooledOf(g, x))}}, {});
}

static void addSqueezeExcite(Generator &g) {
  Value x = g.activation(3);
  int64_t hidden = g.features();
  Attribute layout = g.enumCase("layout");
  auto gate =
      convbert::ActivationKindAttr::get(g.b.getContext(), g.random.chance(60) ? convbert::ActivationKind::Sigmoid
                                                                              : convbert::ActivationKind::HardSigmoid);
  g.op("convbert.squeeze_excite",
       {{x},
        {g.weight(hidden, width(x), layout, elementOf(x))},
        g.maybe([&] { return g.weight(hidden, elementOf(x)); }),
        {g.weight(width(x), hidden, layout, elementOf(x))},
        g.maybe([&] { return g.weight(width(x), elementOf(x)); }),
        maybeMask(g, x)},
       {g.attr("gate", gate), g.attr("layout", layout)});
}

/// The same tokens several times, now and then the same value.
static Operands branchesOf(Generator &g, Value x) {
  Operands branches{x};
  for (int64_t m = g.random.between(0, 3); m > 0; --m)
    branches.push_back(g.random.chance(20) ? x : g.value(tokensOf(g, x, width(x))));
  return branches;
}

static void addSelectBranches(Generator &g) {
  Value x = g.activation(3);
  Operands branches = branchesOf(g, x), logits;
  for (size_t m = 0; m < branches.size(); ++m)
    logits.push_back(g.value(pooledOf(g, x)));
  g.op("convbert.select_branches", {branches, logits}, {});
}

static void addSelectiveKernel(Generator &g) {
  Value x = g.activation(3);
  Operands branches = branchesOf(g, x);
  int64_t hidden = g.features();
  Attribute layout = g.enumCase("layout");
  g.op("convbert.selective_kernel",
       {branches,
        {g.weight(hidden, width(x), layout, elementOf(x))},
        g.maybe([&] { return g.weight(hidden, elementOf(x)); }),
        g.maybe([&] { return g.weight(hidden, elementOf(x)); }),
        {g.weight({static_cast<int64_t>(branches.size()), hidden, width(x)}, elementOf(x))}},
       {g.attr("layout", layout)});
}

ArrayRef<Recipe> mlir::convbert::fuzz::getGatingRecipes() {
  static const Recipe recipes[] = {
      {addNormalizeTaps, 1}, {addLight, 4},         {addDynamic, 4},        {addChannelBias, 1},     {addPool, 2},
      {addScaleChannels, 1}, {addSqueezeExcite, 3}, {addSelectBranches, 2}, {addSelectiveKernel, 3},
  };
  return recipes;
}
