//===- Generator.cpp - Choices, operations, functions ---------------------===//

#include "tools/convbert-fuzz-ir/Generator.h"
#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert::fuzz;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

Generator::Generator(MLIRContext &context, uint64_t seed)
    : random(seed), b(&context), loc(b.getUnknownLoc()), style(Style::Wild) {
  int64_t kind = random.below(100);
  context.loadDialect<ConvBERTDialect, arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect,
                      func::FuncDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                      ml_program::MLProgramDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                      vector::VectorDialect>();
  style = kind < 60 ? Style::Wild : kind < 80 ? Style::Model : Style::Kernels;
  batches = lengths = {kDynamic};
  elements = {b.getF32Type()};
  for (int64_t i = random.between(1, 3); i > 0; --i)
    widths.push_back(heads() * (style == Style::Model && random.chance(70)
                                    ? random.pick({16, 32, 64})
                                    : random.pick({1, 1, 2, 3, 4, 5, 8, 16, 17, 32, 64})));
  if (style == Style::Model)
    return;
  if (random.chance(40))
    batches.push_back(random.pick({1, 2, 3, 8}));
  if (random.chance(40))
    lengths.push_back(random.pick({1, 2, 5, 8, 31, 64}));
  if (random.chance(50))
    elements[0] = random.pick<Type>({b.getF16Type(), b.getBF16Type(), b.getF32Type(), b.getF64Type()});
  otherElement = random.chance(20) ? 10 : 0;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

Type Generator::element() {
  if (random.chance(otherElement))
    return random.pick<Type>({b.getF16Type(), b.getBF16Type(), b.getF32Type(), b.getF64Type()});
  return elements.front();
}

int64_t Generator::features() {
  if (style == Style::Wild && random.chance(1))
    return random.pick<int64_t>({1 << 20, int64_t(1) << 33, std::numeric_limits<int64_t>::max() / 2});
  return random.chance(70) ? random.pick(ArrayRef(widths))
                           : random.pick({1, 2, 3, 7, 8, 9, 15, 16, 24, 31, 33, 48, 65});
}
int64_t Generator::heads() { return random.pick({1, 1, 2, 2, 3, 4, 5, 8, 9}); }
int64_t Generator::taps() { return random.pick({1, 2, 3, 3, 3, 5, 7, 9, 9, 10, 31}); }

int64_t Generator::loosen(int64_t extent, int64_t axis) {
  if (style == Style::Model || !random.chance(8) || axis > 1)
    return extent;
  return ShapedType::isDynamic(extent) ? (axis == 0 ? batches : lengths).back() : kDynamic;
}

RankedTensorType Generator::tokens(int64_t features, Type element) {
  return RankedTensorType::get({random.pick(ArrayRef(batches)), random.pick(ArrayRef(lengths)), features}, element);
}
RankedTensorType Generator::perToken(Type element) {
  return RankedTensorType::get({random.pick(ArrayRef(batches)), random.pick(ArrayRef(lengths))}, element);
}
RankedTensorType Generator::pooled(int64_t features, Type element) {
  return RankedTensorType::get({random.pick(ArrayRef(batches)), features}, element);
}

FloatAttr Generator::eps() { return b.getF64FloatAttr(random.pick({1e-12, 1e-12, 1e-5, 0.0, -1.0, 5e-324, 1e300})); }
FloatAttr Generator::scale() {
  return b.getF64FloatAttr(random.pick({1.0, 0.125, 0.35, 0.0, -0.0, -2.0, 1e300, 1e-300}));
}

Attribute Generator::pads(int64_t taps) {
  int64_t low = random.chance(70) || style == Style::Model ? (taps - 1) / 2 : random.between(-1, taps);
  SmallVector<int64_t> pads{low, taps - 1 - low};
  if (style == Style::Wild && random.chance(2))
    pads.push_back(1);
  return b.getDenseI64ArrayAttr(pads);
}

/// A random case; `symbolize` gives the case of a number, from 0 on, or nothing.
template <typename Attr, typename Enum>
static Attribute anyCase(MLIRContext *context, Random &random, std::optional<Enum> symbolize(uint32_t)) {
  SmallVector<Attribute> cases;
  for (uint32_t i = 0; std::optional<Enum> value = symbolize(i); ++i)
    cases.push_back(Attr::get(context, *value));
  return random.pick(ArrayRef(cases));
}

Attribute Generator::enumCase(StringRef mnemonic) {
  MLIRContext *context = b.getContext();
  if (mnemonic == "activation")
    return anyCase<ActivationKindAttr>(context, random, symbolizeActivationKind);
  if (mnemonic == "layout")
    return anyCase<WeightLayoutAttr>(context, random, symbolizeWeightLayout);
  if (mnemonic == "norm")
    return anyCase<KernelNormAttr>(context, random, symbolizeKernelNorm);
  if (mnemonic == "edge")
    return anyCase<EdgeAttr>(context, random, symbolizeEdge);
  if (mnemonic == "head_map")
    return anyCase<HeadMapAttr>(context, random, symbolizeHeadMap);
  if (mnemonic == "aggregate")
    return anyCase<AggregateAttr>(context, random, symbolizeAggregate);
  assert(mnemonic == "pool");
  return anyCase<PoolKindAttr>(context, random, symbolizePoolKind);
}

bool Generator::isOutIn(Attribute layout) { return cast<WeightLayoutAttr>(layout).getValue() == WeightLayout::OutIn; }

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *Generator::op(StringRef name, ArrayRef<Operands> operands, ArrayRef<NamedAttribute> attributes,
                         TypeRange results) {
  OperationState state(loc, name);
  SmallVector<int32_t> segments;
  for (const Operands &group : operands) {
    segments.push_back(group.size());
    state.addOperands(group);
  }
  if (llvm::is_contained(state.operands, Value()))
    return nullptr;
  state.addAttributes(attributes);
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  state.addTypes(results);
  if (auto *inference = state.name.getInterface<InferTypeOpInterface>(); inference && results.empty()) {
    SmallVector<Type> types;
    Operation *sample = Operation::create(state);
    LogicalResult inferred =
        inference->inferReturnTypes(b.getContext(), loc, sample->getOperands(), sample->getRawDictionaryAttrs(),
                                    sample->getPropertiesStorage(), sample->getRegions(), types);
    sample->destroy();
    if (failed(inferred))
      return nullptr;
    state.addTypes(types);
  }
  Operation *op = Operation::create(state);
  if (failed(verify(op))) {
    op->destroy();
    return nullptr;
  }
  b.insert(op);
  for (Value result : op->getResults())
    add(result);
  return op;
}

void mlir::convbert::fuzz::addOneOf(Generator &g, ArrayRef<Recipe> recipes) {
  int64_t total = 0;
  for (const Recipe &recipe : recipes)
    total += recipe.weight;
  int64_t at = g.random.below(total);
  for (const Recipe &recipe : recipes)
    if ((at -= recipe.weight) < 0)
      return recipe.add(g);
}

void Generator::addOperation() {
  if (--budget < 0)
    return;
  int64_t kind = random.below(100);
  bool model = style == Style::Model;
  if (tilesOnly)
    return addOneOf(*this, kind < 80 ? getTileRecipes() : getForeignRecipes());
  if (kind < 40)
    return addOneOf(*this, getLayerRecipes());
  // Of these, a model has what decomposes into kernels only.
  if (!model && kind < 48)
    return addOneOf(*this, getWindowRecipes());
  if (kind < (model ? 86 : 60))
    return addOneOf(*this, getMixingRecipes());
  if (kind < (model ? 98 : 68))
    return addOneOf(*this, getGatingRecipes());
  if (kind < (model ? 99 : 87))
    return addOneOf(*this, getForeignRecipes());
  if (model)
    return;
  addOneOf(*this, kind < 93 ? getTileRecipes() : getNestedRecipes());
}

void Generator::inScope(llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  size_t visible = values.size();
  ++depth;
  body();
  --depth;
  values.resize(visible);
}
