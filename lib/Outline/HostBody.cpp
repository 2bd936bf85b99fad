//===- HostBody.cpp - Calls of kernels and of functions, in order -----------===//

#include "lib/Outline/HostBody.h"
#include "lib/Outline/Requirements.h"
#include "lib/Outline/Shapes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::convbert;

/// The counts of length `length` alone, those of a function with one length.
static SmallVector<Value> getCountsOf(const HostContext &context, unsigned length) {
  SmallVector<Value> counts;
  for (RowKind kind : {RowKind::Token, RowKind::Sequence, RowKind::Key, RowKind::Call})
    counts.push_back(context.counts[getArena(kind, length)]);
  return counts;
}

/// Says which kernels are called for `op` of `fn`, the calls in `block` behind `last`, and why.
static void remarkKernels(func::FuncOp fn, Operation *op, Block *block, Operation *last, StringRef why) {
  remark::detail::InFlightRemark remark = remark::passed(
      op->getLoc(), remark::RemarkOpts::name("kernel").category("convbert-outline").function(fn.getName()));
  if (!remark)
    return;
  remark << remark::metric("Op", op->getName().getStringRef());
  auto begin = last ? std::next(last->getIterator()) : block->begin();
  for (Operation &call : llvm::make_range(begin, block->end()))
    call.walk([&](func::CallOp kernel) { remark << remark::metric("Kernel", kernel.getCallee()); });
  if (!why.empty())
    remark << remark::metric("Why", why);
}

LogicalResult HostBody::emit(func::FuncOp fn, OpBuilder &b, HostBuilder &builder,
                             llvm::function_ref<Value(Value)> memory) {
  auto packed = [&](Value weight, unsigned part) -> Value {
    auto view = weight ? weight.getDefiningOp<WeightViewOp>() : WeightViewOp();
    return view && part < view.getPacked().size() ? memory(view.getPacked()[part]) : Value();
  };
  // A part of an argument is a part of its memory; of a parameter it has been packed by itself.
  auto input = [&](Value value) -> Value {
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !isa<BlockArgument>(slice.getSource()))
      return memory(value);
    return memref::SubViewOp::create(b, builder.getLoc(), memory(slice.getSource()), slice.getMixedOffsets(),
                                     slice.getMixedSizes(), slice.getMixedStrides());
  };
  OperandLookup lookup{packed, input};
  for (Operation &op : fn.getBody().front().without_terminator()) {
    builder.setLoc(op.getLoc());
    if (auto call = dyn_cast<func::CallOp>(op)) {
      if (failed(emitCall(call, b, builder, input)))
        return failure();
      continue;
    }
    if (!isMemoryEffectFree(&op))
      return op.emitOpError() << "has no CPU kernel";
    // Slices and concatenations are views; the rest without an activation as result is the parameters' business.
    if (isa<tensor::ExtractSliceOp, tensor::ConcatOp>(op) ||
        llvm::none_of(op.getResults(), WorkspacePlan::isActivation))
      continue;
    if (!hasKernel(&op))
      return op.emitOpError() << "has no CPU kernel";
    // A head mask is read as it is.
    for (Value operand : op.getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && !isa<ScaleHeadsOp, SelfAttentionOp>(op))
        if (type.hasStaticShape() && !operand.getDefiningOp<WeightViewOp>())
          return op.emitOpError() << "requires packed parameters (see convbert-pack-parameters)";
    unsigned length = op.getNumOperands() ? builder.getLength(op.getOperand(0)) : 0;
    builder.setLengths(length, builder.getLength(op.getResult(0)));
    Operation *last = b.getInsertionBlock()->empty() ? nullptr : &b.getInsertionBlock()->back();
    if (failed(emitKernelCalls(&op, builder, kernels, lookup)))
      return failure();
    remarkKernels(fn, &op, b.getInsertionBlock(), last, builder.takeReasons());
    ++calls;
  }
  return success();
}

LogicalResult HostBody::emitCall(func::CallOp call, OpBuilder &b, HostBuilder &builder,
                                 llvm::function_ref<Value(Value)> input) {
  auto callee = module.lookupSymbol<func::FuncOp>((call.getCallee() + "_host").str());
  if (!callee || !callee.isPrivate())
    return call.emitOpError() << "requires a private callee with a body";
  const HostContext &context = builder.getContext();
  SmallVector<Value> operands;
  unsigned length = 0;
  for (Value value : llvm::concat<Value>(call.getOperands(), call.getResults())) {
    Value memory;
    length = std::max(length, builder.getLength(value)); // one for all that have tokens
    if (WorkspacePlan::isActivation(value)) {
      View view = builder.getPlan().getView(value);
      if (view.column != 0 || view.width != builder.getBuffer(value).width)
        return call.emitOpError() << "requires activations of their own, but found a part of one";
      memory = builder.base(value);
    } else {
      memory = input(value);
    }
    Type expected = callee.getArgumentTypes()[operands.size()];
    if (!memory || memory.getType() != expected)
      return call.emitOpError() << "requires memory of type " << expected << " for operand " << operands.size();
    operands.push_back(memory);
  }
  // The callee's arenas lie behind the own ones.
  Value begin = arenaOffsets(b, call.getLoc(), builder.getPlan().getFootprint(), context.counts).back();
  const Footprint &needs = footprints[callee.getName()];
  Value size = arenaOffsets(b, call.getLoc(), needs, getCountsOf(context, length)).back();
  auto span = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  operands.push_back(memref::ViewOp::create(b, call.getLoc(), span, context.workspace, begin, ValueRange{size}));
  operands.append({context.scratch, context.shapes[length], context.threads});
  func::CallOp::create(b, call.getLoc(), callee, operands);
  return success();
}

Footprint HostBody::getCalleeFootprint(func::FuncOp fn, const Lengths &lengths) const {
  Footprint most(getNumArenas(lengths.size()), 0);
  fn.walk([&](func::CallOp call) {
    auto needs = footprints.find((call.getCallee() + "_host").str());
    if (needs == footprints.end())
      return; // reported where the call is emitted
    unsigned length = 0;
    for (Value value : llvm::concat<Value>(call.getOperands(), call.getResults()))
      length = std::max(length, lengths.get(value));
    for (RowKind kind : {RowKind::Token, RowKind::Sequence, RowKind::Key, RowKind::Call}) {
      int64_t &size = most[getArena(kind, length)];
      size = std::max(size, needs->second[static_cast<unsigned>(kind)]);
    }
  });
  return most;
}
