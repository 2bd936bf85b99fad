//===- Tiles.cpp - Bodies of kernels --------------------------------------===//

#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

/// A tensor of the extents, some of them dynamic.
static Value tile(Generator &g, SmallVector<int64_t> shape, Type element, int64_t percentDynamic = 20) {
  for (int64_t &extent : shape)
    if (g.random.chance(percentDynamic))
      extent = ShapedType::kDynamic;
  return g.value(RankedTensorType::get(shape, element));
}

/// Tiles are of f32 in kernels.
static Type tileElement(Generator &g) { return g.random.chance(70) ? g.b.getF32Type() : g.element(); }

static void addWeightView(Generator &g) {
  Type element = g.element();
  auto weights = [&](int64_t least) {
    Operands group;
    for (int64_t i = g.random.pick({1, 1, 1, 2, 3, 0}); i > 0; --i) {
      SmallVector<int64_t> shape;
      for (int64_t rank = g.random.below(4); rank > 0; --rank)
        shape.push_back(g.random.between(least, 9));
      group.push_back(g.weight(shape, element));
    }
    return group;
  };
  Operands packed = weights(4), seen = weights(1);
  g.op("convbert.weight_view", {packed}, {}, ValueRange(seen).getTypes());
}

static void addPackedDense(Generator &g) {
  Type element = tileElement(g);
  int64_t mr = g.random.pick({1, 4, 8}), nr = g.random.pick({1, 16, 24, 48}), k = g.features();
  int64_t dynamic = ShapedType::kDynamic, rows = g.random.pick<int64_t>({dynamic, dynamic, 1, 3}),
          panels = g.random.pick<int64_t>({dynamic, dynamic, 1, 2});
  bool biasFirst = g.random.chance(30);
  NamedAttribute how =
      biasFirst ? g.attr("bias_first", g.b.getUnitAttr()) : g.attr("activation", g.enumCase("activation"));
  SmallVector<int64_t> rowShape{rows, mr, g.random.chance(50) ? dynamic : k},
      panelShape{panels, g.random.chance(50) ? dynamic : k, nr};
  Type rowElement = element, panelElement = g.random.chance(20) ? g.b.getBF16Type() : element;
  if (g.random.chance(20)) { // pairs
    rowElement = panelElement = g.b.getBF16Type();
    rowShape.push_back(2);
    panelShape.push_back(2);
  }
  g.op("convbert.packed_dense",
       {{g.value(RankedTensorType::get(rowShape, rowElement))},
        {g.value(RankedTensorType::get(panelShape, panelElement))},
        {g.value(RankedTensorType::get({panels, nr}, element))},
        g.maybe([&] { return g.value(RankedTensorType::get({rows, mr, panels, nr}, element)); }, biasFirst ? 0 : 30)},
       {how});
}

static void addNormTile(Generator &g) {
  Type element = tileElement(g);
  int64_t padded = g.random.pick({1, 8, 16, 17, 32, 64});
  Operands addends;
  for (int64_t i = g.random.pick({1, 1, 2, 3, 0}); i > 0; --i)
    addends.push_back(g.weight(padded, element));
  g.op("convbert.norm_tile", {{g.weight({2, padded}, element)}, addends},
       {g.attr("eps", g.eps()), g.attr("width", g.i64(g.random.between(g.random.chance(5) ? 0 : 1, padded)))});
}

static void addDepthwiseTile(Generator &g) {
  Type element = tileElement(g);
  int64_t rows = g.random.pick({1, 4, 8}), taps = g.taps(), channels = g.random.pick({1, 8, 32, 33});
  g.op("convbert.depthwise_tile",
       {{tile(g, {rows + taps - 1, channels}, element)}, {tile(g, {taps, channels}, element)}}, {});
}

static void addSpanTile(Generator &g) {
  Type element = tileElement(g);
  int64_t rows = g.random.pick({1, 4, 8}), taps = g.taps(), heads = g.heads();
  g.op("convbert.span_tile",
       {{tile(g, {rows, taps, heads + g.random.pick({0, 0, 2, 5})}, element)},
        {tile(g, {rows + taps - 1, heads, g.random.pick({1, 16, 17, 64})}, element)}},
       {});
}

static void addAttentionTile(Generator &g) {
  Type element = tileElement(g);
  int64_t rows = g.random.pick({1, 4, 8}), size = g.random.pick({1, 16, 17, 32, 64}),
          lanes = g.random.pick({1, 16, 32}),
          panels = g.random.pick<int64_t>({ShapedType::kDynamic, ShapedType::kDynamic, 1, 3});
  g.op("convbert.attention_tile",
       {{tile(g, {rows, size}, element, 8)},
        {tile(g, {panels, size, lanes}, element, 8)},
        {tile(g, {panels, lanes, g.random.chance(80) ? size : 16}, element, 8)},
        {tile(g, {panels, lanes}, element, 8)},
        {tile(g, {rows, panels, lanes}, element, 8)}},
       {});
}

ArrayRef<Recipe> mlir::convbert::fuzz::getTileRecipes() {
  static const Recipe recipes[] = {
      {addWeightView, 2},    {addPackedDense, 2}, {addNormTile, 2},
      {addDepthwiseTile, 2}, {addSpanTile, 2},    {addAttentionTile, 2},
  };
  return recipes;
}
