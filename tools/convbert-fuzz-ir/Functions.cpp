//===- Functions.cpp - Functions, branches, calls -------------------------===//

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

Value Generator::argument(Type type) {
  if (!function)
    return {};
  if (style == Style::Model && !function.isPrivate()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 2 || !isa<IntegerType>(tensor.getElementType()))
      return {};
  }
  if (failed(function.insertArgument(function.getNumArguments(), type, {}, loc)))
    return {};
  return function.getArguments().back();
}

/// Goes on in a new block, by way of two branches or of a loop.
void Generator::addBranch(func::FuncOp fn) {
  Block *before = b.getInsertionBlock(), *next = fn.addBlock();
  Value condition = value(b.getI1Type());
  Value passed = find([](Value v) { return isa<RankedTensorType>(v.getType()); });
  SmallVector<Value> operands;
  if (passed)
    operands.push_back(passed);
  for (Value v : operands)
    next->addArgument(v.getType(), loc);
  if (random.chance(60)) {
    Block *side = fn.addBlock();
    b.setInsertionPointToEnd(before);
    cf::CondBranchOp::create(b, loc, condition, side, ValueRange{}, next, operands);
    inScope([&] {
      b.setInsertionPointToEnd(side);
      for (int64_t i = random.below(4); i > 0; --i)
        addOperation();
      SmallVector<Value> others;
      for (Value v : operands)
        others.push_back(value(v.getType()));
      cf::BranchOp::create(b, loc, next, others);
    });
    b.setInsertionPointToEnd(next);
    llvm::append_range(values, next->getArguments());
    return;
  }
  b.setInsertionPointToEnd(before);
  cf::BranchOp::create(b, loc, next, operands);
  b.setInsertionPointToEnd(next);
  llvm::append_range(values, next->getArguments());
  for (int64_t i = random.below(4); i > 0; --i)
    addOperation();
  SmallVector<Value> again;
  for (Value v : operands)
    again.push_back(value(v.getType()));
  Block *exit = fn.addBlock();
  cf::CondBranchOp::create(b, loc, condition, next, again, exit, ValueRange{});
  b.setInsertionPointToEnd(exit);
}

/// Returns some of the values, arguments and duplicates among them, and sets the type.
void Generator::finish(func::FuncOp fn) {
  SmallVector<Value> returned;
  for (int64_t i = style == Style::Model ? random.pick({1, 1, 1, 2}) : random.below(4); i > 0; --i) {
    int64_t skip = values.size() > 4 && random.chance(70) ? values.size() - 4 : 0; // recent ones: chains get long
    SmallVector<Value> candidates;
    for (Value v : ArrayRef(values).drop_front(skip))
      if (auto type = dyn_cast<RankedTensorType>(v.getType());
          type ? style != Style::Model ||
                     (type.getRank() > 1 && type.isDynamicDim(0) && isa<FloatType>(type.getElementType()))
               : style != Style::Model && random.chance(20))
        candidates.push_back(v);
    if (candidates.empty())
      continue;
    Value chosen = random.pick(ArrayRef(candidates));
    // Functions of models return what they have computed, each value once; others need not.
    if (style != Style::Model || random.chance(5) || (chosen.getDefiningOp() && !llvm::is_contained(returned, chosen)))
      returned.push_back(chosen);
  }
  func::ReturnOp::create(b, loc, returned);
  fn.setFunctionType(b.getFunctionType(fn.getArgumentTypes(), ValueRange(returned).getTypes()));
}

void Generator::startFunction(func::FuncOp fn, bool tiles) {
  function = fn;
  tilesOnly = tiles;
  values.clear();
  budget = 60;
}

func::FuncOp Generator::addFunction(StringRef name, bool isPrivate, int64_t operations) {
  b.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  if (isPrivate)
    function.setPrivate();
  if (style == Style::Wild && isPrivate && random.chance(3)) { // a declaration
    function.setFunctionType(b.getFunctionType({tokens(features(), element())}, {tokens(features(), element())}));
    callees.push_back(function);
    return function;
  }
  b.setInsertionPointToStart(function.addEntryBlock());
  startFunction(function);
  if (style == Style::Model)
    buildModelInputs(*this, function);
  budget = 3 * operations + 10;
  for (int64_t i = 0; i < operations; ++i)
    if (style == Style::Wild && random.chance(2))
      addBranch(function);
    else if (random.chance(style == Style::Model ? 25 : 8))
      addCall();
    else
      addOperation();
  finish(function);
  if (isPrivate)
    callees.push_back(function);
  return function;
}

void Generator::addCall() {
  if (callees.empty())
    return addOperation();
  func::FuncOp callee = random.pick(ArrayRef(callees));
  SmallVector<Value> operands;
  for (Type type : callee.getArgumentTypes())
    operands.push_back(value(type));
  auto call = func::CallOp::create(b, loc, callee, operands);
  llvm::append_range(values, call.getResults());
}

/// A call back to a caller: functions in a circle.
void Generator::addRecursion() {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  func::FuncOp from = random.pick(ArrayRef(functions));
  if (from.isExternal())
    return;
  Block &entry = from.getBody().front();
  b.setInsertionPoint(entry.getTerminator());
  function = {};
  values.assign(entry.getArguments().begin(), entry.getArguments().end());
  callees = functions;
  addCall();
}

void Generator::buildWild() {
  int64_t size = random.pick({1, 1, 2, 3, 5, 8, 16});
  for (int64_t i = random.pick({0, 0, 1, 2, 4}), n = i; i > 0; --i)
    addFunction("layer" + std::to_string(n - i), random.chance(85), random.between(1, size));
  addFunction("forward", false, size);
  if (random.chance(5))
    addRecursion();
}

void Generator::buildModel() {
  int64_t size = random.pick({1, 1, 2, 3, 5, 8});
  for (int64_t i = random.pick({0, 0, 1, 1, 2}), n = i; i > 0; --i)
    addFunction("layer" + std::to_string(n - i), true, random.between(1, size));
  addFunction("forward", false, size);
}

void Generator::buildKernels() {
  for (int64_t i = random.pick({1, 1, 2, 3}), n = i; i > 0; --i)
    addKernelFunction(*this, n - i);
}

OwningOpRef<ModuleOp> Generator::generate() {
  // What does not verify is dropped without a word.
  ScopedDiagnosticHandler silent(b.getContext(), [](Diagnostic &) { return success(); });
  owned = ModuleOp::create(loc);
  module = *owned;
  switch (style) {
  case Style::Wild:
    buildWild();
    break;
  case Style::Model:
    buildModel();
    break;
  case Style::Kernels:
    buildKernels();
    break;
  }
  return std::move(owned);
}
