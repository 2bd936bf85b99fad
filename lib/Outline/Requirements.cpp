//===- Requirements.cpp - What a function must be like to be outlined -------===//

#include "lib/Outline/Requirements.h"
#include "dialect/IR/ShapeRules.h"

using namespace mlir;
using namespace mlir::convbert;

/// Elements of a tensor, dynamic extents not counted: more than any memory has, and far from an overflow.
static constexpr int64_t kMostElements = int64_t(1) << 40;
/// Tokens that a window may leave out: more than any sequence has, and far from an overflow with the taps.
static constexpr int64_t kMostSkipped = int64_t(1) << 24;

LogicalResult convbert::requireSizes(func::FuncOp fn) {
  WalkResult walk = fn.walk([&](Operation *op) -> WalkResult {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      int64_t elements = 1;
      for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
        elements = ShapedType::isDynamic(size) ? elements : multiplyExtents(elements, size);
      if (elements > kMostElements)
        return op->emitOpError() << "requires tensors of at most " << kMostElements << " elements, but found " << type;
    }
    for (StringRef name : {"pads", "stride", "dilation"}) {
      SmallVector<int64_t> numbers;
      if (auto pads = op->getAttrOfType<DenseI64ArrayAttr>(name))
        llvm::append_range(numbers, pads.asArrayRef());
      if (auto step = op->getAttrOfType<IntegerAttr>(name))
        numbers.push_back(step.getInt());
      for (int64_t number : numbers)
        if (number > kMostSkipped)
          return op->emitOpError() << "requires `" << name << "` of at most " << kMostSkipped << " tokens, but found "
                                   << number;
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult convbert::requireOutlinable(func::FuncOp fn) {
  if (!fn.getBody().hasOneBlock())
    return fn.emitOpError() << "requires a body of one block, but found " << fn.getBody().getBlocks().size();
  if (failed(requireSizes(fn)))
    return failure();
  for (Type type : llvm::concat<const Type>(fn.getArgumentTypes(), fn.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return fn.emitOpError() << "requires arguments and results that are ranked tensors, but found " << type;
  if (fn.isPrivate())
    return success();
  for (Type type : fn.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    bool isPerToken = tensor.getRank() == 2 && (element.isInteger(64) || element.isInteger(1));
    int64_t rank = tensor.getRank();
    auto isStaticFrom = [&](int64_t axis) {
      return rank > axis && element.isF32() && ShapedType::isStaticShape(tensor.getShape().drop_front(axis));
    };
    bool isOfTokens =
        (isPerToken || (rank <= 4 && isStaticFrom(2))) && tensor.isDynamicDim(0) && tensor.isDynamicDim(1);
    bool isOfSequences = rank == 2 && isStaticFrom(1) && tensor.isDynamicDim(0);
    bool isPerHead = rank == 1 && isStaticFrom(0);
    if (!isOfTokens && !isOfSequences && !isPerHead)
      return fn.emitOpError() << "requires inputs of type tensor<?x?xi64>, tensor<?x?xi1>, tensor<?x?xCxf32>, "
                                 "tensor<?x?xHxKxf32>, tensor<?xCxf32> or tensor<Nxf32>, but found "
                              << type;
  }
  return success();
}

/// Probabilities and taps are written to memory of the caller while they are computed; there is no other place.
static LogicalResult requireMapsReturned(func::FuncOp fn, WorkspacePlan &plan) {
  Operation *returned = fn.getBody().front().getTerminator();
  for (Operation &op : fn.getBody().front())
    for (Value result : op.getResults())
      if (plan.hasView(result) && plan.isMap(result) && (!result.hasOneUse() || *result.user_begin() != returned))
        return op.emitOpError()
               << "requires probabilities and normalised taps to be results of the function, once, and "
                  "used nowhere else";
  return success();
}

LogicalResult convbert::requireResults(func::FuncOp fn, WorkspacePlan &plan) {
  if (failed(requireMapsReturned(fn, plan)))
    return failure();
  Operation *returned = fn.getBody().front().getTerminator();
  llvm::SmallDenseSet<unsigned> buffers;
  for (Value value : returned->getOperands()) {
    if (!plan.hasView(value))
      return returned->emitOpError() << "requires results that are activations of f32 with a dynamic batch, but found "
                                     << value.getType();
    if (plan.isMap(value))
      continue;
    View view = plan.getView(value);
    const Buffer &buffer = plan.getBuffer(view.buffer);
    if (fn.isPrivate()) {
      if (isa<BlockArgument>(value) || view.column != 0 || view.width != buffer.width ||
          !buffers.insert(view.buffer).second)
        return returned->emitOpError()
               << "requires a result of its own, but found an argument, a part of a value, or a value returned twice";
    } else if (buffer.kind == RowKind::Key) {
      return returned->emitOpError() << "requires results of tokens or sequences, but found " << value.getType();
    }
  }
  return success();
}
