//===- Prepack.cpp - Packed parameters and the code that makes them ---------===//

#include "lib/Outline/Prepack.h"
#include "dialect/IR/ConvBERTOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::convbert;

/// Parameters start at a cache line.
static constexpr int64_t kAlignment = 64;

static MemRefType memrefOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

Value Prepack::getView(OpBuilder &b, Value packed, Value value) {
  auto [it, isNew] = offsets.insert({value, bytes});
  MemRefType type = memrefOf(value);
  if (isNew)
    bytes += llvm::alignTo(type.getNumElements() * type.getElementTypeBitWidth() / 8, kAlignment);
  Value offset = arith::ConstantIndexOp::create(b, value.getLoc(), it->second);
  return memref::ViewOp::create(b, value.getLoc(), type, packed, offset, ValueRange{});
}

/// What computes `value`: operands before users, in the order in which operands stand, so that equal chains are equal
/// texts wherever cleanups have put their operations.  Loads of globals go to `loads`.
static LogicalResult collectChain(Value value, llvm::SetVector<Operation *> &chain,
                                  llvm::SetVector<Operation *> &loads) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return emitError(value.getLoc()) << "requires a parameter that rests on globals, but found an argument";
  if (chain.contains(op) || loads.contains(op))
    return success();
  if (isa<ml_program::GlobalLoadConstOp>(op)) {
    loads.insert(op);
    return success();
  }
  bool isOurs = isa<ConvBERTDialect, func::FuncDialect>(op->getDialect()) && !isa<NormalizeTapsOp>(op);
  if (isOurs || !isMemoryEffectFree(op))
    return op->emitOpError() << "cannot be computed once, when parameters are packed";
  llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), inputs); // a padding value
  for (Value input : inputs)
    if (failed(collectChain(input, chain, loads)))
      return failure();
  chain.insert(op);
  return success();
}

/// The bf16 nearest to the f32 `element`, the even one of two.  In integers: the back end would call a library for it
/// on CPUs without an instruction, and those with one flush denormal numbers.  Not for NaN.
static Value buildBFloat16(OpBuilder &b, Location loc, Value element) {
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  Value bits = arith::BitcastOp::create(b, loc, i32, element), half = constant(16);
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, half), constant(1));
  Value up = arith::AddIOp::create(b, loc, bits, arith::AddIOp::create(b, loc, odd, constant(0x7fff)));
  Value high = arith::TruncIOp::create(b, loc, b.getI16Type(), arith::ShRUIOp::create(b, loc, up, half));
  return arith::BitcastOp::create(b, loc, b.getBF16Type(), high);
}

/// Where an elementwise operation of `rank` dimensions reads `value`: a broadcast or transposition before it becomes
/// part of the loop.
static std::pair<Value, AffineMap> readThrough(Value value, int64_t rank) {
  MLIRContext *context = value.getContext();
  AffineMap from = AffineMap::getMultiDimIdentityMap(rank, context);
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>())
    return {transpose.getInput(),
            inversePermutation(AffineMap::getPermutationMap(transpose.getPermutation(), context))};
  if (auto broadcast = value.getDefiningOp<linalg::BroadcastOp>()) {
    llvm::SmallBitVector added(rank);
    for (int64_t dim : broadcast.getDimensions())
      added.set(dim);
    return {broadcast.getInput(), from.dropResults(added)};
  }
  return {value, from};
}

/// Copies `op`, which maps elements of tensors, as a loop over elements: operations on whole tensors do not bufferize.
/// A splat stays a scalar: as a tensor it would be as large as the weight.
static void cloneElementwise(OpBuilder &b, Operation *op, IRMapping &map) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Location loc = op->getLoc();
  SmallVector<Value> scalars(op->getNumOperands()), inputs;
  SmallVector<AffineMap> maps;
  for (auto [operand, scalar] : llvm::zip_equal(op->getOperands(), scalars)) {
    DenseFPElementsAttr splat;
    if (matchPattern(operand, m_Constant(&splat)) && splat.isSplat()) {
      scalar = arith::ConstantOp::create(b, loc, splat.getSplatValue<FloatAttr>());
      continue;
    }
    auto [input, from] = readThrough(operand, type.getRank());
    inputs.push_back(map.lookup(input));
    maps.push_back(from);
  }
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto loop =
      linalg::GenericOp::create(b, loc, TypeRange{type}, inputs, ValueRange{init}, maps, parallel,
                                [&](OpBuilder &b, Location loc, ValueRange args) {
                                  SmallVector<Value> operands(scalars);
                                  for (Value &operand : operands)
                                    if (!operand) {
                                      operand = args.front();
                                      args = args.drop_front();
                                    }
                                  if (isa<arith::TruncFOp>(op) && type.getElementType().isBF16())
                                    return void(linalg::YieldOp::create(b, loc, buildBFloat16(b, loc, operands[0])));
                                  Operation *element = b.create(loc, op->getName().getIdentifier(), operands,
                                                                type.getElementType(), op->getAttrs());
                                  linalg::YieldOp::create(b, loc, element->getResult(0));
                                });
  map.map(op->getResult(0), loop.getResult(0));
}

/// Copies `op` into a pack kernel in a form that bufferizes.
static void cloneForPacking(OpBuilder &b, Operation *op, IRMapping &map) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    auto copy = cast<tensor::ConcatOp>(b.clone(*op, map));
    b.setInsertionPoint(copy);
    FailureOr<SmallVector<Value>> values = copy.decomposeOperation(b);
    map.map(concat.getResult(), values->front());
    b.setInsertionPointAfter(copy);
    copy->erase();
    return;
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && isa<RankedTensorType>(op->getResult(0).getType()))
    return cloneElementwise(b, op, map);
  b.clone(*op, map);
}

/// Where the table of raw parameters holds what `load` loads: the table has an entry for each global, in order.
static FailureOr<int64_t> getTableIndex(ml_program::GlobalLoadConstOp load) {
  int64_t index = 0;
  for (auto global : load->getParentOfType<ModuleOp>().getOps<ml_program::GlobalOp>()) {
    if (SymbolRefAttr::get(global.getSymNameAttr()) != load.getGlobal()) {
      ++index;
      continue;
    }
    if (!isa_and_nonnull<ml_program::ExternAttr>(global.getValueAttr()))
      return global.emitOpError() << "requires a value that a checkpoint holds (#ml_program.extern)";
    return index;
  }
  return load.emitOpError() << "requires a global of this module, but found " << load.getGlobal();
}

FailureOr<func::FuncOp> Prepack::getKernel(Value value, SmallVectorImpl<int64_t> &globals) {
  llvm::SetVector<Operation *> chain, loads;
  if (failed(collectChain(value, chain, loads)))
    return failure();

  for (Operation *load : loads) {
    FailureOr<int64_t> index = getTableIndex(cast<ml_program::GlobalLoadConstOp>(load));
    if (failed(index))
      return failure();
    globals.push_back(*index);
  }
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  SmallVector<Type> types;
  for (Operation *load : loads)
    types.push_back(memrefOf(load->getResult(0)));
  types.push_back(memrefOf(value));
  Location loc = value.getLoc();
  auto kernel = func::FuncOp::create(loc, "pack", b.getFunctionType(types, {}));
  kernel.setPrivate();
  kernel->setAttr("convbert.kernel", b.getStringAttr("pack"));
  b.setInsertionPointToStart(kernel.addEntryBlock());

  IRMapping map;
  for (auto [i, load] : llvm::enumerate(loads))
    map.map(load->getResult(0), bufferization::ToTensorOp::create(b, loc, load->getResult(0).getType(),
                                                                  kernel.getArgument(i), /*restrict=*/true));
  for (Operation *op : chain)
    cloneForPacking(b, op, map);
  Value result = map.lookup(value);
  auto materialize = bufferization::MaterializeInDestinationOp::create(b, loc, /*result=*/Type(), result,
                                                                       kernel.getArguments().back());
  materialize.setRestrict(true);
  materialize.setWritable(true);
  func::ReturnOp::create(b, loc);

  // Locations and the name apart, equal kernels print alike.
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  func::FuncOp &known = kernels[text];
  if (known) {
    kernel->erase();
    return known;
  }
  unsigned number = kernels.size() - 1;
  while (module.lookupSymbol(("pack_" + Twine(number)).str()))
    ++number;
  kernel.setName(("pack_" + Twine(number)).str());
  module.push_back(kernel);
  return known = kernel;
}

/// A public function that C code can call.
static func::FuncOp createEntry(ModuleOp module, StringRef name, FunctionType type) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto fn = func::FuncOp::create(b, module.getLoc(), name, type);
  fn->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
  fn.addEntryBlock();
  return fn;
}

static void createConstantEntry(ModuleOp module, StringRef name, int64_t value) {
  Builder types(module.getContext());
  func::FuncOp fn = createEntry(module, name, types.getFunctionType({}, {types.getI64Type()}));
  OpBuilder b = OpBuilder::atBlockEnd(&fn.getBody().front());
  func::ReturnOp::create(b, fn.getLoc(), arith::ConstantIntOp::create(b, fn.getLoc(), value, 64).getResult());
}

namespace {
/// How one parameter is packed.
struct Step {
  Value value;
  int64_t offset;
  func::FuncOp kernel;
  SmallVector<int64_t> globals; ///< indices in the table of raw parameters
};
} // namespace

/// A number for what `steps` write, whatever their kernels are called.
static int64_t hashSteps(ArrayRef<Step> steps, const llvm::StringMap<func::FuncOp> &kernels) {
  llvm::DenseMap<Operation *, StringRef> texts;
  for (const auto &entry : kernels)
    texts[entry.second] = entry.first();
  std::string all;
  llvm::raw_string_ostream os(all);
  for (const Step &step : steps) {
    os << step.offset << ": " << texts.lookup(step.kernel);
    llvm::interleaveComma(step.globals, os);
    os << "\n";
  }
  return static_cast<int64_t>(llvm::xxh3_64bits(all));
}

LogicalResult Prepack::emit() {
  SmallVector<Step> steps;
  for (auto [value, offset] : offsets) {
    Step step{value, offset, {}, {}};
    FailureOr<func::FuncOp> kernel = getKernel(value, step.globals);
    if (failed(kernel))
      return failure();
    step.kernel = *kernel;
    steps.push_back(std::move(step));
  }
  createConstantEntry(module, "packed_bytes", bytes);
  createConstantEntry(module, "packed_layout", hashSteps(steps, kernels));
  createConstantEntry(module, "prepack_steps", steps.size());

  MLIRContext *context = module.getContext();
  Builder types(context);
  auto span = MemRefType::get({ShapedType::kDynamic}, types.getI8Type());
  auto table = MemRefType::get({ShapedType::kDynamic}, span);
  func::FuncOp fn =
      createEntry(module, "prepack", types.getFunctionType({table, span, types.getI64Type(), types.getI32Type()}, {}));
  Location loc = fn.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(&fn.getBody().front());
  Value which = arith::IndexCastOp::create(b, loc, b.getIndexType(), fn.getArgument(2));
  SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, steps.size()));
  auto choose = scf::IndexSwitchOp::create(b, loc, TypeRange{}, which, cases, cases.size());
  func::ReturnOp::create(b, loc);
  b.createBlock(&choose.getDefaultRegion());
  scf::YieldOp::create(b, loc);
  for (auto [step, region] : llvm::zip_equal(steps, choose.getCaseRegions())) {
    b.createBlock(&region);
    Location at = step.value.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, at, 0);
    SmallVector<Value> operands;
    for (auto [index, type] : llvm::zip(step.globals, step.kernel.getArgumentTypes())) {
      Value i = arith::ConstantIndexOp::create(b, at, index);
      Value raw = memref::LoadOp::create(b, at, fn.getArgument(0), ValueRange{i});
      operands.push_back(memref::ViewOp::create(b, at, cast<MemRefType>(type), raw, zero, ValueRange{}));
    }
    operands.push_back(getView(b, fn.getArgument(1), step.value));
    func::CallOp::create(b, at, step.kernel, operands);
    scf::YieldOp::create(b, at);
  }
  return success();
}
