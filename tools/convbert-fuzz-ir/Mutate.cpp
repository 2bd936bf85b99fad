//===- Mutate.cpp - Small changes that still verify -----------------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "tools/convbert-fuzz-ir/Generator.h"
#include <limits>

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;

/// Another attribute of the same kind; null if there is none.
static Attribute change(Attribute attribute, Random &random) {
  Builder b(attribute.getContext());
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  auto number = [&](int64_t v) {
    return random.pick<int64_t>({v + 1, v - 1, 2 * v, 0, 1, 2, 3, 8, 64, -1, kMin, kMax});
  };
  if (auto index = dyn_cast<IntegerAttr>(attribute); index && isa<IndexType>(index.getType()))
    return b.getIndexAttr(random.pick({0, 1, 2, 3, 8}));
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return IntegerAttr::get(integer.getType(),
                            APInt(integer.getValue().getBitWidth(), number(integer.getValue().getSExtValue()),
                                  /*isSigned=*/true, /*implicitTrunc=*/true));
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return b.getFloatAttr(real.getType(), random.pick({0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -0.0, kInf, kNaN}));
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    SmallVector<int64_t> values(array.asArrayRef());
    if (random.chance(20))
      values.push_back(0);
    else if (!values.empty() && random.chance(10))
      values.pop_back();
    else if (!values.empty())
      values[random.below(values.size())] = number(values.front());
    return b.getDenseI64ArrayAttr(values);
  }
  if (auto text = dyn_cast<StringAttr>(attribute))
    return b.getStringAttr(random.pick<StringRef>({"", "x", "dense", "norm", "embed", "depthwise", "span", "attention",
                                                   "copy", "pack", "é\n\"", text.getValue()}));
  return random.pick<Attribute>({b.getUnitAttr(), b.getI64IntegerAttr(1), b.getStringAttr("x"), b.getArrayAttr({})});
}

static Type change(Type type, Random &random) {
  Builder b(type.getContext());
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return random.pick<Type>({b.getI32Type(), b.getIndexType(), b.getF32Type(), b.getI64Type()});
  SmallVector<int64_t> shape(shaped.getShape());
  if (!shape.empty()) {
    int64_t &extent = shape[random.below(shape.size())];
    if (random.chance(10))
      shape.pop_back();
    else
      extent = isa<VectorType>(type) || !random.chance(50) ? random.pick({1, 2, 8, 16, 24}) : ShapedType::kDynamic;
  }
  Type element =
      random.chance(80) ? shaped.getElementType() : random.pick<Type>({b.getF32Type(), b.getF16Type(), b.getI8Type()});
  if (isa<VectorType>(type) && llvm::is_contained(shape, ShapedType::kDynamic))
    return type;
  // A layout speaks of as many dimensions as there are; one that says nothing may still be printed.
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref.getLayout().getAffineMap().getNumDims() == shape.size()
               ? Type(MemRefType::get(shape, element, memref.getLayout()))
               : type;
  return shaped.clone(shape, element);
}

/// The value of one of the operations before `op` in its block, an argument, or an operand of one of those.
static Value visibleValue(Operation *op, Random &random) {
  SmallVector<Value> visible(op->getBlock()->getArguments().begin(), op->getBlock()->getArguments().end());
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    llvm::append_range(visible, other.getResults());
  }
  for (Operation *parent = op->getParentOp(); parent && !isa<ModuleOp>(parent); parent = parent->getParentOp())
    for (Region &region : parent->getRegions())
      if (!region.empty())
        llvm::append_range(visible, region.front().getArguments());
  llvm::append_range(visible, op->getOperands());
  return visible.empty() ? Value() : random.pick(ArrayRef(visible));
}

static bool isOursOrFunc(Operation *op) { return isa<ConvBERTDialect, func::FuncDialect>(op->getDialect()); }

static bool isOptional(StringRef name) { return name.starts_with("with_") || name.ends_with("query_heads"); }

/// Tries one change of `op`; `undo` takes it back.
static bool changeOnce(Operation *op, Random &random, std::function<void()> &undo) {
  switch (random.below(5)) {
  case 0: { // an attribute
    NamedAttrList attributes(op->getAttrDictionary());
    if (attributes.empty())
      return false;
    NamedAttribute named = *(attributes.begin() + random.below(attributes.getAttrs().size()));
    StringRef name = named.getName();
    if (name == "sym_name" || name == "function_type" || name == "callee")
      return false;
    DictionaryAttr before = op->getAttrDictionary();
    undo = [=] { op->setAttrs(before); };
    if (random.chance(10)) {
      // Without a value, an attribute with a default is one that no parser makes.
      if (llvm::is_contained(op->getName().getAttributeNames(), named.getName()) && !isOptional(name))
        return false;
      op->removeAttr(named.getName());
      return true;
    }
    op->setAttr(named.getName(), change(named.getValue(), random));
    if (op->hasAttr(named.getName()))
      return true;
    undo(); // of another kind than the operation can store
    return false;
  }
  case 1:
  case 2: { // an operand
    if (op->getNumOperands() == 0)
      return false;
    unsigned at = random.below(op->getNumOperands());
    Value before = op->getOperand(at), other = visibleValue(op, random);
    if (!other || other == before || (random.chance(80) && other.getType() != before.getType()))
      return false;
    op->setOperand(at, other);
    undo = [=] { op->setOperand(at, before); };
    return true;
  }
  case 3: { // a result's type
    // Verifiers of other dialects do not all stand whatever operands they meet.
    if (op->getNumResults() == 0 || !llvm::all_of(op->getUsers(), isOursOrFunc))
      return false;
    Value result = op->getResult(random.below(op->getNumResults()));
    Type before = result.getType();
    result.setType(change(before, random));
    undo = [=] { Value(result).setType(before); };
    return true;
  }
  default: { // a second one, or none
    if (isa<func::FuncOp, ModuleOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
      return false;
    if (op->use_empty() && random.chance(50)) {
      Operation *next = op->getNextNode();
      Block *block = op->getBlock();
      op->remove();
      undo = [=] { block->getOperations().insert(next ? next->getIterator() : block->end(), op); };
      return true;
    }
    Operation *copy = op->clone();
    op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
    undo = [=] { copy->erase(); };
    return true;
  }
  }
}

void mlir::convbert::fuzz::mutate(ModuleOp module, Random &random, int64_t changes,
                                  llvm::function_ref<void(Operation *)> announce) {
  ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
  for (int64_t i = 0; i < changes; ++i) {
    SmallVector<Operation *> ops;
    module.getBodyRegion().walk([&](Operation *op) { ops.push_back(op); });
    if (ops.empty())
      return;
    std::function<void()> undo;
    Operation *op = random.pick(ArrayRef(ops));
    announce(op);
    if (!changeOnce(op, random, undo))
      continue;
    bool removed = !op->getBlock();
    if (failed(verify(module)))
      undo();
    else if (removed)
      op->destroy();
  }
}
