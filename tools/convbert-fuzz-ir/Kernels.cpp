//===- Kernels.cpp - Functions on memrefs, as later phases meet them ------===//
//
// Marks stand on arguments of the right type, and now and then on others; bodies have temporaries, copies, parallel
// loops, tensor parts with tile operations, and the register-tiled product whose panels are prefetched.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "tools/convbert-fuzz-ir/Generator.h"

using namespace mlir;
using namespace mlir::convbert::fuzz;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
struct KernelBuilder {
  Generator &g;
  func::FuncOp fn;
  OpBuilder &b = g.b;
  Location loc = g.loc;
  Random &random = g.random;

  Type elementType() {
    return random.chance(75) ? b.getF32Type()
                             : random.pick<Type>({b.getI8Type(), b.getI64Type(), b.getIndexType(), b.getF16Type(),
                                                  b.getI1Type(), VectorType::get({4}, b.getF32Type())});
  }

  MemRefType memoryType() {
    SmallVector<int64_t> shape;
    for (int64_t rank = random.pick({0, 1, 2, 2, 3, 4}); rank > 0; --rank)
      shape.push_back(random.chance(40) ? kDynamic : random.pick({1, 1, 4, 8, 24, 32, 0}));
    if (random.chance(60))
      return MemRefType::get(shape, elementType());
    // Strides that fit the shape from the inside out, some of them wider or dynamic.
    SmallVector<int64_t> strides(shape.size(), 1);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 2; axis >= 0; --axis) {
      int64_t inner = strides[axis + 1], extent = shape[axis + 1];
      bool known = !ShapedType::isDynamic(inner) && !ShapedType::isDynamic(extent);
      strides[axis] =
          known && random.chance(70) ? std::max<int64_t>(inner * extent, 1) + random.pick({0, 0, 8}) : kDynamic;
    }
    if (!strides.empty() && random.chance(5))
      strides.back() = random.pick<int64_t>({2, kDynamic});
    return MemRefType::get(shape, elementType(),
                           StridedLayoutAttr::get(b.getContext(), random.pick<int64_t>({0, 3, kDynamic}), strides));
  }

  Value argument(Type type, StringRef mark = "") {
    Value added = g.argument(type);
    if (!mark.empty())
      fn.setArgAttr(fn.getNumArguments() - 1, mark, b.getUnitAttr());
    g.add(added);
    return added;
  }

  /// A mark on the type that passes want, most often.
  void marked(StringRef mark, Type wanted, int64_t percent) {
    if (random.chance(percent))
      argument(random.chance(95) ? wanted
                                 : random.pick<Type>({b.getI64Type(), b.getIndexType(), memoryType(), b.getF32Type()}),
               mark);
  }

  void keep(Operation *op) {
    if (failed(verify(op)))
      return op->erase();
    for (Value result : op->getResults())
      g.add(result);
  }

  Value anyMemory(llvm::function_ref<bool(MemRefType)> accepts = [](MemRefType) { return true; }) {
    return g.find([&](Value v) { return isa<MemRefType>(v.getType()) && accepts(cast<MemRefType>(v.getType())); });
  }

  /// A size: a constant, a function of the shape argument, or something that no formula can know.
  Value size() {
    Value shape = anyMemory([&](MemRefType t) { return t.getRank() == 1 && t.getElementType().isInteger(64); });
    if (shape && random.chance(70)) {
      Value at = random.chance(80) ? g.index(random.below(3)) : g.value(b.getIndexType());
      Value loaded = memref::LoadOp::create(b, loc, shape, ValueRange{at});
      Value n = arith::IndexCastOp::create(b, loc, b.getIndexType(), loaded);
      return random.chance(50) ? n : arith::AddIOp::create(b, loc, n, g.index(8)).getResult();
    }
    if (random.chance(20))
      if (Value memory = anyMemory([](MemRefType t) { return t.getRank() > 0; }))
        return g.dim(memory, 0);
    Value n = random.chance(50) ? g.index(random.between(0, 9)) : g.value(b.getIndexType());
    for (int64_t i = random.chance(5) ? 40 : 0; i > 0; --i) // used twice, forty times: 2^40 paths
      n = arith::AddIOp::create(b, loc, n, n);
    return n;
  }

  void addAlloc() {
    MemRefType type = random.chance(85) ? MemRefType::get(memoryType().getShape(), elementType()) : memoryType();
    SmallVector<Value> sizes, symbols;
    for (int64_t i = type.getNumDynamicDims(); i > 0; --i)
      sizes.push_back(size());
    if (!type.getLayout().isIdentity())
      for (unsigned i = type.getLayout().getAffineMap().getNumSymbols(); i > 0; --i)
        symbols.push_back(size());
    Operation *alloc = random.chance(85) ? memref::AllocOp::create(b, loc, type, sizes, symbols).getOperation()
                                         : memref::AllocaOp::create(b, loc, type, sizes, symbols).getOperation();
    keep(alloc);
    if (isa_and_nonnull<memref::AllocOp>(alloc) && alloc->getBlock() && random.chance(20))
      memref::DeallocOp::create(b, loc, alloc->getResult(0));
  }

  void addCopy() {
    Value from = anyMemory();
    if (!from)
      return;
    auto type = cast<MemRefType>(from.getType());
    Value to = anyMemory([&](MemRefType t) {
      return t.getElementType() == type.getElementType() && succeeded(verifyCompatibleShape(t, type));
    });
    keep(memref::CopyOp::create(b, loc, from, to ? to : from));
  }

  void addStore() {
    Value memory = anyMemory();
    if (!memory)
      return;
    SmallVector<Value> indices(cast<MemRefType>(memory.getType()).getRank(), g.index(0));
    Value element = random.chance(50) ? memref::LoadOp::create(b, loc, memory, indices).getResult()
                                      : g.value(cast<MemRefType>(memory.getType()).getElementType());
    memref::StoreOp::create(b, loc, element, memory, indices);
  }

  void addView() {
    Value memory = anyMemory([](MemRefType t) { return t.getRank() > 0; });
    if (!memory)
      return;
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
        strides(type.getRank(), b.getIndexAttr(1));
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      sizes.push_back(type.isDynamicDim(axis) || random.chance(30)
                          ? OpFoldResult(b.getIndexAttr(1))
                          : OpFoldResult(b.getIndexAttr(type.getDimSize(axis))));
    offsets[0] = random.chance(50) ? OpFoldResult(b.getIndexAttr(0)) : OpFoldResult(g.value(b.getIndexType()));
    keep(memref::SubViewOp::create(b, loc, memory, offsets, sizes, strides));
  }

  /// Tensor code between memory and memory, with tile operations.
  void addTensorPart() {
    Value in = anyMemory([](MemRefType t) { return isa<FloatType>(t.getElementType()); });
    if (!in)
      return;
    auto type = cast<MemRefType>(in.getType());
    auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
    auto read = bufferization::ToTensorOp::create(b, loc, tensor, in, /*restrict=*/random.chance(80));
    g.add(read);
    for (int64_t i = random.pick({0, 1, 1, 2}); i > 0; --i)
      g.addOperation();
    auto write = bufferization::MaterializeInDestinationOp::create(b, loc, /*result=*/Type(), g.value(tensor), in);
    write.setRestrict(true);
    write.setWritable(true);
    if (failed(verify(write)))
      write.erase();
  }

  void addForall() {
    int64_t rank = random.chance(90) ? 1 : random.pick({2, 3});
    SmallVector<OpFoldResult> bounds;
    for (int64_t i = 0; i < rank; ++i)
      bounds.push_back(random.chance(50) ? OpFoldResult(b.getIndexAttr(random.pick({0, 1, 8}))) : OpFoldResult(size()));
    SmallVector<OpFoldResult> zeros(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(random.pick({1, 1, 1, 4})));
    auto loop = scf::ForallOp::create(b, loc, zeros, bounds, steps, ValueRange{}, std::nullopt);
    g.inScope([&] {
      b.setInsertionPoint(loop.getBody()->getTerminator());
      for (Value iv : loop.getInductionVars())
        g.add(iv);
      addStatements(random.below(4));
    });
  }

  void addLoop() {
    auto loop = scf::ForOp::create(b, loc, g.index(0), size(), g.index(1));
    g.inScope([&] {
      b.setInsertionPoint(loop.getBody()->getTerminator());
      g.add(loop.getInductionVar());
      addStatements(random.below(4));
    });
  }

  /// for n, for row tile t, for k: acc += rows[t] * panels[n, k, :], or nearly so.
  void addProduct() {
    g.inScope([&] { buildProduct(); });
  }

  void buildProduct() {
    int64_t nr = random.pick({8, 16, 24, 48}), lanes = 8;
    auto panelType = MemRefType::get({random.pick<int64_t>({kDynamic, 4}), random.pick<int64_t>({kDynamic, 12}), nr},
                                     random.chance(90) ? b.getF32Type() : b.getF16Type());
    Value panels = argument(panelType);
    Type element = panelType.getElementType();
    auto vector = VectorType::get({lanes}, element);
    Value start = g.value(vector), zero = g.index(0), padding = g.value(element), bound = size();
    auto n = scf::ForOp::create(b, loc, zero, size(), g.index(1));
    b.setInsertionPoint(n.getBody()->getTerminator());
    auto t = scf::ForOp::create(b, loc, zero, bound, g.index(random.pick({1, 1, 2, 0})));
    b.setInsertionPoint(t.getBody()->getTerminator());
    auto k = scf::ForOp::create(b, loc, zero, size(), g.index(random.pick({1, 4})), start);
    b.setInsertionPointToEnd(k.getBody());
    Value outer = random.pick<Value>({n.getInductionVar(), n.getInductionVar(), t.getInductionVar(), zero});
    Value row = random.chance(80) ? k.getInductionVar() : zero;
    Value read = vector::TransferReadOp::create(b, loc, vector, panels, ValueRange{outer, row, zero}, padding,
                                                ArrayRef<bool>{true});
    Value sum = vector::FMAOp::create(b, loc, read, read, k.getRegionIterArgs().front());
    scf::YieldOp::create(b, loc, sum);
  }

  void addStatements(int64_t count) {
    if (g.depth > 3)
      return;
    for (; count > 0; --count) {
      int64_t kind = random.below(100);
      if (kind < 20)
        addAlloc();
      else if (kind < 45)
        addCopy();
      else if (kind < 55)
        addStore();
      else if (kind < 65)
        addView();
      else if (kind < 80)
        addTensorPart();
      else if (kind < 87)
        addLoop();
      else if (kind < 91)
        addForall();
      else if (g.depth == 0)
        addProduct();
    }
  }

  void build(int64_t statements) {
    for (int64_t i = random.between(1, 3); i > 0; --i)
      argument(memoryType());
    if (random.chance(70))
      argument(MemRefType::get({kDynamic}, b.getI64Type()));
    marked("convbert.threads", b.getI32Type(), 70);
    marked("convbert.scratch", MemRefType::get({kDynamic}, b.getI8Type()), 70);
    marked("convbert.thread", b.getIndexType(), 15);
    g.maybe([&] { return argument(b.getIndexType()); }, 10);
    addStatements(random.below(statements + 1));
    if (random.chance(75))
      addForall();
    addStatements(random.below(2));
    if (random.chance(4)) {
      Block *next = fn.addBlock();
      cf::BranchOp::create(b, loc, next);
      b.setInsertionPointToEnd(next);
    }
    Operands returned = g.maybe([&] { return g.index(0); }, 5);
    func::ReturnOp::create(b, loc, returned);
    fn.setFunctionType(b.getFunctionType(fn.getArgumentTypes(), ValueRange(returned).getTypes()));
  }
};
} // namespace

void mlir::convbert::fuzz::addKernelFunction(Generator &g, unsigned number) {
  OpBuilder &b = g.b;
  Random &random = g.random;
  ModuleOp module = g.getModule();
  b.setInsertionPointToEnd(module.getBody());
  if (number == 0 && random.chance(80)) { // what the sizes of temporaries go to
    Type shape = MemRefType::get({random.chance(95) ? kDynamic : 4}, b.getI64Type());
    auto bytes = func::FuncOp::create(b, g.loc, "scratch_bytes", b.getFunctionType({shape}, {b.getIndexType()}));
    bytes.setPrivate();
    if (random.chance(60)) {
      b.setInsertionPointToStart(bytes.addEntryBlock());
      func::ReturnOp::create(b, g.loc, g.index(0));
      b.setInsertionPointToEnd(module.getBody());
    }
  }
  auto fn = func::FuncOp::create(b, g.loc, "kernel" + std::to_string(number), b.getFunctionType({}, {}));
  if (random.chance(90))
    fn.setPrivate();
  if (random.chance(85))
    fn->setAttr("convbert.kernel",
                random.chance(95)
                    ? Attribute(b.getStringAttr(random.pick<StringRef>(
                          {"dense", "norm", "embed", "depthwise", "span", "attention", "copy", "pack", "none"})))
                    : b.getUnitAttr());
  if (fn.isPrivate() && random.chance(3)) { // a declaration
    fn.setFunctionType(b.getFunctionType({b.getI32Type()}, {}));
    fn.setArgAttr(0, "convbert.threads", b.getUnitAttr());
    return;
  }
  b.setInsertionPointToStart(fn.addEntryBlock());
  g.startFunction(fn, /*tiles=*/true);
  KernelBuilder{g, fn}.build(random.pick({2, 4, 8}));
}
