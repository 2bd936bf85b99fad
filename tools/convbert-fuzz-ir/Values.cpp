//===- Values.cpp - Operands found or made --------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "tools/convbert-fuzz-ir/Generator.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert::fuzz;

Value Generator::find(llvm::function_ref<bool(Value)> accepts) {
  SmallVector<Value> found;
  for (Value v : values)
    if (accepts(v))
      found.push_back(v);
  if (found.empty())
    return {};
  // The last ones more often: results are used, and chains get long.
  if (found.size() > 3 && random.chance(50))
    return random.pick(ArrayRef(found).take_back(3));
  return random.pick(ArrayRef(found));
}

bool Generator::isPossible(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || !shaped.hasRank() ||
         llvm::all_of(shaped.getShape(), [](int64_t size) { return size >= 0 || ShapedType::isDynamic(size); });
}

Value Generator::value(Type type) {
  if (!isPossible(type))
    return {};
  if (random.chance(75))
    if (Value found = find([&](Value v) { return v.getType() == type; }))
      return found;
  return make(type);
}

Value Generator::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value Generator::unknown() {
  if (Value added = argument(b.getIndexType()))
    return added;
  Value dynamic = find([](Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    return type && type.getRank() > 0 && type.isDynamicDim(0);
  });
  return dynamic ? dim(dynamic, 0) : index(2);
}

Value Generator::dim(Value tensor, int64_t axis) {
  auto type = cast<ShapedType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return index(type.getDimSize(axis));
  return isa<MemRefType>(type) ? memref::DimOp::create(b, loc, tensor, axis).getResult()
                               : tensor::DimOp::create(b, loc, tensor, axis).getResult();
}

static FloatAttr anyFloat(Generator &g, Type type) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  return g.b.getFloatAttr(type, g.random.pick({0.0, 1.0, -0.0, 0.5, -3.0, 1e-45, 1e300, kInf, -kInf, kNaN}));
}

/// A constant of `type` (static shape), or null.
static Value makeConstant(Generator &g, Type type) {
  Attribute value;
  auto scalar = [&](Type element) -> Attribute {
    if (isa<FloatType>(element))
      return anyFloat(g, element);
    if (element.isInteger(1))
      return g.b.getBoolAttr(g.random.chance(50));
    if (element.isIntOrIndex())
      return g.b.getIntegerAttr(element, g.random.pick({0, 0, 1, 1, 2, 3, 7, -1}));
    return {};
  };
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (isa<MemRefType>(type) || !shaped.hasStaticShape() || !scalar(shaped.getElementType()))
      return {};
    // Huge shapes are splats, whose size is that of one element.
    int64_t count = 1;
    for (int64_t size : shaped.getShape())
      if (llvm::MulOverflow(count, size, count))
        return {};
    SmallVector<Attribute> elements(count <= 64 && g.random.chance(40) ? static_cast<size_t>(count) : 1);
    for (Attribute &element : elements)
      element = scalar(shaped.getElementType());
    if (count != 0)
      value = DenseElementsAttr::get(shaped, elements);
  } else {
    value = scalar(type);
  }
  if (!value)
    return {};
  return arith::ConstantOp::create(g.b, g.loc, cast<TypedAttr>(value));
}

/// A load of a global, as parameters come in.
static Value makeGlobal(Generator &g, RankedTensorType type) {
  ModuleOp module = g.getModule();
  SmallVector<ml_program::GlobalOp> same;
  unsigned count = 0;
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    ++count;
    if (global.getType() == type && !global.getIsMutable())
      same.push_back(global);
  }
  ml_program::GlobalOp global;
  if (!same.empty() && g.random.chance(30)) {
    global = g.random.pick(ArrayRef(same));
  } else {
    Attribute value = ml_program::ExternAttr::get(g.b.getContext(), type);
    if (g.style == Style::Wild && g.random.chance(10))
      value = SplatElementsAttr::get(type, g.b.getZeroAttr(type.getElementType()));
    bool isMutable = g.style == Style::Wild && g.random.chance(4);
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    global = ml_program::GlobalOp::create(b, g.loc, "w" + std::to_string(count), type, isMutable, value,
                                          g.b.getStringAttr("private"));
  }
  auto symbol = SymbolRefAttr::get(global.getSymNameAttr());
  if (global.getIsMutable())
    return ml_program::GlobalLoadOp::create(g.b, g.loc, type, symbol);
  return ml_program::GlobalLoadConstOp::create(g.b, g.loc, type, symbol);
}

/// What an operation makes of another value; null if there is nothing that fits.
static Value derive(Generator &g, RankedTensorType type) {
  OpBuilder &b = g.b;
  bool isFloat = isa<FloatType>(type.getElementType());
  switch (g.random.below(5)) {
  case 0: { // the same shape, statically or not
    Value other = g.find([&](Value v) {
      return v.getType() != type && isa<RankedTensorType>(v.getType()) &&
             tensor::CastOp::areCastCompatible(v.getType(), type);
    });
    return other ? tensor::CastOp::create(b, g.loc, type, other).getResult() : Value();
  }
  case 1:
    if (!isFloat)
      return {};
    return arith::MulFOp::create(b, g.loc, g.value(type), g.value(type));
  case 2: { // another precision
    Value other = g.find([&](Value v) {
      auto found = dyn_cast<RankedTensorType>(v.getType());
      return found && found.getShape() == type.getShape() && found.getElementType() != type.getElementType() &&
             isa<FloatType>(found.getElementType());
    });
    if (!other || !isFloat)
      return {};
    unsigned from = getElementTypeOrSelf(other).getIntOrFloatBitWidth(),
             to = type.getElementType().getIntOrFloatBitWidth();
    if (from == to)
      return arith::BitcastOp::create(b, g.loc, type, other);
    return from < to ? arith::ExtFOp::create(b, g.loc, type, other).getResult()
                     : arith::TruncFOp::create(b, g.loc, type, other).getResult();
  }
  case 3: { // a part of a larger one
    Value other = g.find([&](Value v) {
      auto found = dyn_cast<RankedTensorType>(v.getType());
      return found && found.getElementType() == type.getElementType() && found.getRank() == type.getRank() &&
             llvm::all_of(llvm::zip(found.getShape(), type.getShape()), [](auto sizes) {
               auto [from, to] = sizes;
               return ShapedType::isDynamic(to) ? ShapedType::isDynamic(from) : from >= to;
             });
    });
    if (!other)
      return {};
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
        strides(type.getRank(), b.getIndexAttr(1));
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      sizes.push_back(type.isDynamicDim(axis) ? OpFoldResult(g.dim(other, axis))
                                              : b.getIndexAttr(type.getDimSize(axis)));
    if (type.getRank() && !type.isDynamicDim(type.getRank() - 1))
      if (int64_t from = cast<RankedTensorType>(other.getType()).getShape().back(); !ShapedType::isDynamic(from))
        offsets.back() = b.getIndexAttr(g.random.between(0, from - type.getShape().back()));
    auto slice = tensor::ExtractSliceOp::create(b, g.loc, type, other, offsets, sizes, strides);
    if (succeeded(verify(slice)))
      return slice;
    slice.erase(); // an empty one
    return {};
  }
  default:
    return {};
  }
}

Value Generator::make(Type type) {
  Value made;
  auto tensorType = dyn_cast<RankedTensorType>(type);
  bool model = style == Style::Model;
  if (tensorType && --budget > 0 && random.chance(model ? 2 : 25))
    made = derive(*this, tensorType);
  // What fits nothing above comes from outside.
  if (!made && tensorType && tensorType.hasStaticShape() && (!model || !function.isPrivate()) &&
      isa<FloatType>(tensorType.getElementType()) && function && random.chance(model ? 97 : 40))
    made = makeGlobal(*this, tensorType);
  if (!made && random.chance(model ? 3 : type.isIntOrIndexOrFloat() ? 70 : 25))
    made = makeConstant(*this, type);
  if (!made && (model || random.chance(90)))
    made = argument(type);
  if (!made)
    made = makeConstant(*this, type);
  if (!made && tensorType) {
    SmallVector<Value> sizes;
    for (int64_t i = tensorType.getNumDynamicDims(); i > 0; --i)
      sizes.push_back(unknown());
    made = tensor::EmptyOp::create(b, loc, tensorType, sizes);
  }
  if (!made)
    made = ub::PoisonOp::create(b, loc, type, ub::PoisonAttr::get(b.getContext()));
  add(made);
  return made;
}

Value Generator::weight(ArrayRef<int64_t> shape, Type element) { return value(RankedTensorType::get(shape, element)); }

Value Generator::weight(int64_t out, int64_t in, Attribute layout, Type element) {
  return isOutIn(layout) ? weight({out, in}, element) : weight({in, out}, element);
}

Value Generator::activation(int64_t rank) {
  if (random.chance(90))
    if (Value found = find([&](Value v) {
          auto type = dyn_cast<RankedTensorType>(v.getType());
          return type && isa<FloatType>(type.getElementType()) &&
                 (rank ? type.getRank() == rank : type.getRank() == 2 || type.getRank() == 3) &&
                 !ShapedType::isDynamic(type.getShape().back()) && (style != Style::Model || type.isDynamicDim(0));
        }))
      return found;
  return make(rank == 2 || (rank == 0 && random.chance(20)) ? pooled(features(), element())
                                                            : tokens(features(), element()));
}

Operands Generator::maybe(llvm::function_ref<Value()> value, int64_t percent) {
  Operands group;
  if (random.chance(percent))
    group.push_back(value());
  return group;
}
