//===- Windows.cpp - Convolutions with a window, norms, kernels to choose -===//

#include "dialect/IR/ShapeRules.h"
#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;

static int64_t width(Value v) { return cast<RankedTensorType>(v.getType()).getShape().back(); }

/// A stride or dilation: 1 most often, now and then one that is none.
static Attribute step(Generator &g) {
  if (g.style == Style::Wild && g.random.chance(2))
    return g.i64(g.random.pick<int64_t>({0, -1, INT64_MIN, INT64_MAX}));
  return g.i64(g.random.chance(70) ? 1 : g.random.pick<int64_t>({2, 3, 5}));
}

static SmallVector<NamedAttribute> window(Generator &g, int64_t taps, Attribute layout) {
  return {g.attr("pads", g.pads(taps)), g.attr("stride", step(g)), g.attr("dilation", step(g)),
          g.attr("layout", layout)};
}

/// The shape of a convolution's weight.
static SmallVector<int64_t> shapeOf(Generator &g, Attribute layout, int64_t out, int64_t in, int64_t taps) {
  return g.isOutIn(layout) ? SmallVector<int64_t>{out, in, taps} : SmallVector<int64_t>{taps, in, out};
}

static void addConv(Generator &g) {
  Value x = g.activation(3);
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  int64_t groups = g.random.chance(60) ? 1 : g.random.pick<int64_t>({2, 3, width(x)}), taps = g.taps();
  int64_t in = std::max<int64_t>(width(x) / std::max<int64_t>(groups, 1), 1), out = g.features();
  if (g.random.chance(80))
    out = multiplyExtents(std::max<int64_t>(out / std::max<int64_t>(groups, 1), 1), groups);
  Attribute layout = g.enumCase("layout");
  SmallVector<int64_t> shape = shapeOf(g, layout, out, in, taps);
  Value weight = g.weight(shape, element);
  Operands bias = g.maybe([&] { return g.weight({out}, element); });
  if (g.random.chance(15)) {
    int64_t batch = g.loosen(cast<RankedTensorType>(x.getType()).getDimSize(0), 0);
    shape.insert(shape.begin(), batch);
    weight = g.value(RankedTensorType::get(shape, element));
    bias = g.maybe([&] { return g.value(RankedTensorType::get({batch, out}, element)); });
  }
  SmallVector<NamedAttribute> attributes = window(g, taps, layout);
  attributes.push_back(g.attr("groups", g.i64(groups)));
  g.op("convbert.conv1d", {{x}, {weight}, bias}, attributes);
}

static void addFilters(Generator &g) {
  Value x = g.activation(3);
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  int64_t taps = g.taps(), filters = multiplyExtents(width(x), g.random.pick<int64_t>({1, 1, 2, 3}));
  Attribute layout = g.enumCase("layout");
  g.op("convbert.depthwise_conv1d",
       {{x}, {g.weight(filters, taps, layout, element)}, g.maybe([&] { return g.weight({filters}, element); })},
       window(g, taps, layout));
}

static void addBatchNorm(Generator &g) {
  Value x = g.activation(3);
  auto vector = [&] { return g.weight({width(x)}, cast<RankedTensorType>(x.getType()).getElementType()); };
  g.op("convbert.batch_norm", {{x}, {vector()}, {vector()}, {vector()}, {vector()}}, {g.attr("eps", g.eps())});
}

static void addSoftmax(Generator &g) {
  Value x = g.activation(0);
  g.op("convbert.softmax", {{x}}, {g.attr("temperature", g.scale())}, {x.getType()});
}

static void addWeightedSum(Generator &g) {
  Value x = g.activation(3);
  auto type = cast<RankedTensorType>(x.getType());
  int64_t blocks = g.random.pick<int64_t>({1, 2, 4, width(x)});
  g.op("convbert.weighted_sum",
       {{x}, {g.value(RankedTensorType::get({g.loosen(type.getDimSize(0), 0), blocks}, type.getElementType()))}}, {});
}

static void addKernelAttention(Generator &g) {
  Value x = g.activation(3);
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  int64_t count = g.random.pick<int64_t>({1, 2, 4}), hidden = g.features(), out = g.features(), taps = g.taps();
  Attribute layout = g.enumCase("layout");
  SmallVector<int64_t> shape = shapeOf(g, layout, out, width(x), taps);
  shape.insert(shape.begin(), count);
  SmallVector<NamedAttribute> attributes = window(g, taps, layout);
  attributes.push_back(g.attr("temperature", g.scale()));
  attributes.push_back(g.attr("aggregate", g.enumCase("aggregate")));
  g.op("convbert.kernel_attention_conv",
       {{x},
        {g.weight(hidden, width(x), layout, element)},
        g.maybe([&] { return g.weight({hidden}, element); }),
        {g.weight(count, hidden, layout, element)},
        g.maybe([&] { return g.weight({count}, element); }),
        {g.weight(shape, element)},
        g.maybe([&] { return g.weight({count, out}, element); })},
       attributes);
}

ArrayRef<Recipe> mlir::convbert::fuzz::getWindowRecipes() {
  static const Recipe recipes[] = {{addConv, 4},    {addFilters, 2},     {addBatchNorm, 2},
                                   {addSoftmax, 1}, {addWeightedSum, 1}, {addKernelAttention, 3}};
  return recipes;
}
