//===- AbsorbReshapes.cpp - The entry takes and gives what it reshapes ----===//

#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_ABSORBRESHAPESPASS
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// True if `op` joins or takes apart axes of known extent behind the first two, which stay.
static bool isReshapeOfFeatures(Operation *op) {
  SmallVector<ReassociationIndices> groups;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    groups = expand.getReassociationIndices();
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    groups = collapse.getReassociationIndices();
  auto isStaticBehindTokens = [](Type type) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    return shape.size() > 2 && ShapedType::isStaticShape(shape.drop_front(2));
  };
  return groups.size() > 2 && groups[0].size() == 1 && groups[1].size() == 1 &&
         isStaticBehindTokens(op->getOperand(0).getType()) && isStaticBehindTokens(op->getResult(0).getType());
}

namespace {

struct AbsorbReshapesPass : convbert::impl::AbsorbReshapesPassBase<AbsorbReshapesPass> {
  void runOnOperation() override {
    for (auto fn : getOperation().getOps<func::FuncOp>())
      if (!fn.isPrivate() && fn.getBody().hasOneBlock() && SymbolTable::symbolKnownUseEmpty(fn, getOperation()))
        absorb(fn);
  }

private:
  void absorb(func::FuncOp fn) {
    Block &body = fn.getBody().front();
    for (BlockArgument argument : body.getArguments())
      absorb(argument);
    Operation *returned = body.getTerminator();
    for (OpOperand &operand : returned->getOpOperands())
      if (Operation *op = operand.get().getDefiningOp(); op && isReshapeOfFeatures(op)) {
        operand.set(op->getOperand(0));
        if (op->use_empty())
          op->erase();
        ++absorbed;
      }
    fn.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), returned->getOperandTypes()));
  }

  /// All that reads `argument` but its extents, which stay, must be reshapes to one type.
  void absorb(BlockArgument argument) {
    SmallVector<Operation *> reshapes;
    for (Operation *user : argument.getUsers())
      if (isReshapeOfFeatures(user) && argument == user->getOperand(0))
        reshapes.push_back(user);
      else if (auto dim = dyn_cast<tensor::DimOp>(user); !dim || dim.getConstantIndex().value_or(2) > 1)
        return;
    auto isOther = [&](Operation *op) {
      return op->getResult(0).getType() != reshapes.front()->getResult(0).getType();
    };
    if (reshapes.empty() || llvm::any_of(reshapes, isOther))
      return;
    argument.setType(reshapes.front()->getResult(0).getType());
    for (Operation *op : reshapes) {
      op->getResult(0).replaceAllUsesWith(argument);
      op->erase();
      ++absorbed;
    }
  }
};

} // namespace
