//===- Foreign.cpp - Operations of other dialects, regions, calls ---------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

/// A ranked tensor of at least `rank` dimensions; of floats, unless `any`.
static Value anyTensor(Generator &g, int64_t rank = 0, bool any = false) {
  Value found = g.find([&](Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    return type && type.getRank() >= rank && (any || isa<FloatType>(type.getElementType()));
  });
  return found ? found : g.activation(3);
}

/// Adds the results of `op`, or erases it if it does not verify.
static void keep(Generator &g, Operation *op) {
  if (failed(verify(op)) || !llvm::all_of(op->getResultTypes(), Generator::isPossible))
    return op->erase();
  for (Value result : op->getResults())
    g.add(result);
}

static void addBinary(Generator &g) {
  Value x = anyTensor(g);
  Value y = g.random.chance(10) ? x : g.value(x.getType());
  switch (g.random.below(5)) {
  case 0:
    return keep(g, arith::AddFOp::create(g.b, g.loc, x, y));
  case 1:
    return keep(g, arith::SubFOp::create(g.b, g.loc, x, y));
  case 2:
    return keep(g, arith::MaximumFOp::create(g.b, g.loc, x, y));
  default: // what epilogues are fused from
    return keep(g, arith::MulFOp::create(g.b, g.loc, x, y));
  }
}

/// A long chain in which everything is used twice: what looks at operands of operands must remember what it has seen.
static void addChain(Generator &g) {
  Value last = anyTensor(g), before = last;
  for (int64_t i = g.random.between(40, 100); i > 0; --i)
    before = std::exchange(last, arith::MulFOp::create(g.b, g.loc, last, before));
  g.add(last);
}

static void addUnary(Generator &g) {
  Value x = anyTensor(g);
  if (g.random.chance(50))
    return keep(g, arith::NegFOp::create(g.b, g.loc, x));
  keep(g, math::ExpOp::create(g.b, g.loc, x));
}

static void addSelect(Generator &g) {
  Value x = anyTensor(g, 0, true);
  keep(g, arith::SelectOp::create(g.b, g.loc, g.value(g.b.getI1Type()), x, g.value(x.getType())));
}

/// A part, with static or dynamic bounds, now and then with a stride or without its unit dimensions.
static void addSlice(Generator &g) {
  Value x = anyTensor(g, 1, true);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis) {
    int64_t extent = typeOf(x).getDimSize(axis), known = ShapedType::isDynamic(extent) ? 4 : extent;
    int64_t size = g.random.chance(60) ? known : g.random.between(1, known), offset = g.random.between(0, known - size);
    bool isWhole = ShapedType::isDynamic(extent) && g.random.chance(80);
    offsets.push_back(isWhole || g.random.chance(90) ? OpFoldResult(g.b.getIndexAttr(isWhole ? 0 : offset))
                                                     : OpFoldResult(g.index(offset)));
    sizes.push_back(isWhole               ? OpFoldResult(g.dim(x, axis))
                    : g.random.chance(90) ? OpFoldResult(g.b.getIndexAttr(size))
                                          : OpFoldResult(g.index(size)));
    strides.push_back(g.b.getIndexAttr(size == 1 && g.random.chance(10) ? 2 : 1));
  }
  keep(g, tensor::ExtractSliceOp::create(g.b, g.loc, x, offsets, sizes, strides));
}

static void addConcat(Generator &g) {
  Value x = anyTensor(g, 1);
  int64_t axis = g.random.chance(70) ? typeOf(x).getRank() - 1 : g.random.below(typeOf(x).getRank());
  SmallVector<Value> parts{x};
  for (int64_t i = g.random.pick({0, 1, 1, 2}); i > 0; --i) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    if (g.random.chance(50))
      shape[axis] = g.features();
    parts.push_back(g.value(RankedTensorType::get(shape, typeOf(x).getElementType())));
  }
  for (Value part : parts) // sums of huge extents have no type
    if (llvm::any_of(typeOf(part).getShape(), [](int64_t size) { return size > (1 << 20); }))
      return;
  keep(g, tensor::ConcatOp::create(g.b, g.loc, axis, parts));
}

static void addReshape(Generator &g) {
  Value x = anyTensor(g, 2, true);
  RankedTensorType type = typeOf(x);
  if (g.random.chance(50)) {
    SmallVector<ReassociationIndices> groups;
    int64_t joined = g.random.below(type.getRank() - 1);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (axis == joined + 1)
        groups.back().push_back(axis);
      else
        groups.push_back({axis});
    return keep(g, tensor::CollapseShapeOp::create(g.b, g.loc, x, groups));
  }
  int64_t last = type.getShape().back(), inner = g.random.pick({1, 2, 4});
  if (ShapedType::isDynamic(last) || last % inner != 0)
    return;
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.append({last / inner, inner});
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    groups.push_back({axis});
  groups.back().push_back(type.getRank());
  keep(g, tensor::ExpandShapeOp::create(g.b, g.loc, type.clone(shape), x, groups));
}

static void addCast(Generator &g) {
  Value x = anyTensor(g, 1, true);
  SmallVector<int64_t> shape(typeOf(x).getShape());
  for (auto [axis, extent] : llvm::enumerate(shape))
    for (int64_t tries = g.random.below(8); tries > 0; --tries)
      extent = g.loosen(extent, axis);
  keep(g, tensor::CastOp::create(g.b, g.loc, typeOf(x).clone(shape), x));
}

static void addPad(Generator &g) {
  Value x = anyTensor(g, 1);
  SmallVector<OpFoldResult> low, high;
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis) {
    low.push_back(g.b.getIndexAttr(g.random.pick({0, 0, 0, 1})));
    high.push_back(g.b.getIndexAttr(g.random.pick({0, 0, 0, 1, 5})));
  }
  Value zero = g.value(typeOf(x).getElementType());
  keep(g, tensor::PadOp::create(g.b, g.loc, Type(), x, low, high, zero));
}

static void addTranspose(Generator &g) {
  Value x = anyTensor(g, 2, true);
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank())), shape;
  for (int64_t i = typeOf(x).getRank() - 1; i > 0; --i)
    std::swap(permutation[i], permutation[g.random.between(0, i)]);
  for (int64_t axis : permutation)
    shape.push_back(typeOf(x).getDimSize(axis));
  Value init = g.value(typeOf(x).clone(shape));
  keep(g, linalg::TransposeOp::create(g.b, g.loc, x, init, permutation));
}

static void addScalars(Generator &g) {
  Value x = anyTensor(g, 1, true);
  SmallVector<Value> indices;
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis)
    indices.push_back(g.index(0));
  g.add(g.dim(x, g.random.below(typeOf(x).getRank())));
  keep(g, tensor::ExtractOp::create(g.b, g.loc, x, indices));
}

ArrayRef<Recipe> mlir::convbert::fuzz::getForeignRecipes() {
  static const Recipe recipes[] = {
      {addBinary, 9},  {addChain, 1}, {addUnary, 2}, {addSelect, 1},    {addSlice, 4},   {addConcat, 4},
      {addReshape, 2}, {addCast, 2},  {addPad, 1},   {addTranspose, 1}, {addScalars, 1},
  };
  return recipes;
}

//===----------------------------------------------------------------------===//
// Regions and calls
//===----------------------------------------------------------------------===//

/// Some operations, visible in here alone, and a value of each type to yield.
static SmallVector<Value> buildRegion(Generator &g, TypeRange types) {
  for (int64_t i = g.random.below(4); i > 0; --i)
    g.addOperation();
  SmallVector<Value> yielded;
  for (Type type : types)
    yielded.push_back(g.value(type));
  return yielded;
}

static SmallVector<Type> someTypes(Generator &g) {
  SmallVector<Type> types;
  for (int64_t i = g.random.below(3); i > 0; --i)
    types.push_back(anyTensor(g, 0, true).getType());
  return types;
}

static void addIf(Generator &g) {
  if (g.depth > 2)
    return;
  SmallVector<Type> types = someTypes(g);
  Value condition = g.value(g.b.getI1Type());
  auto op = scf::IfOp::create(g.b, g.loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/!types.empty());
  for (Region *region : op.getRegions())
    if (!region->empty())
      g.inScope([&] {
        g.b.setInsertionPointToEnd(&region->front());
        scf::YieldOp::create(g.b, g.loc, buildRegion(g, types));
      });
  keep(g, op);
}

static void addFor(Generator &g) {
  if (g.depth > 2)
    return;
  SmallVector<Type> types = someTypes(g);
  SmallVector<Value> inits;
  for (Type type : types)
    inits.push_back(g.value(type));
  auto op = scf::ForOp::create(g.b, g.loc, g.index(0), g.index(g.random.pick({0, 1, 3})), g.index(1), inits);
  g.inScope([&] {
    Block *body = op.getBody();
    if (!body->empty())
      body->getTerminator()->erase();
    g.b.setInsertionPointToEnd(body);
    for (Value argument : body->getArguments())
      g.add(argument);
    scf::YieldOp::create(g.b, g.loc, buildRegion(g, types));
  });
  keep(g, op);
}

ArrayRef<Recipe> mlir::convbert::fuzz::getNestedRecipes() {
  static const Recipe recipes[] = {{addIf, 2}, {addFor, 2}, {[](Generator &g) { g.addCall(); }, 3}};
  return recipes;
}
