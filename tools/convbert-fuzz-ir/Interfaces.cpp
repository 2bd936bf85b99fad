//===- Interfaces.cpp - What operations say about themselves --------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "mlir/IR/Verifier.h"
#include "tools/convbert-fuzz-ir/Checker.h"
#include "tools/convbert-fuzz-ir/Errors.h"

using namespace mlir;
using namespace mlir::convbert;
using namespace mlir::convbert::fuzz;

/// Counts saturate, so that they are never negative.
static bool hasSaneCosts(CostOpInterface op, Random &random) {
  int64_t batch = random.pick<int64_t>({1, 3, 65536}), length = random.pick<int64_t>({1, 128, 65536});
  ByteCount bytes = op.byteCount(batch, length);
  return op.macCount(batch, length) >= 0 && op.parameterCount() >= 0 && bytes.reads >= 0 && bytes.writes >= 0;
}

/// One extent a dimension; a constant where the type has one.
static bool hasSaneShapes(ReifyRankedShapedTypeOpInterface op, OpBuilder &b) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(b, shapes)))
    return true;
  if (shapes.size() != op->getNumResults())
    return false;
  for (auto [shape, type] : llvm::zip_equal(shapes, op->getResultTypes()))
    if (auto tensor = cast<RankedTensorType>(type); tensor.getRank() != static_cast<int64_t>(shape.size()))
      return false;
  return true;
}

/// Slices lie within their operands.
static bool hasSaneSlices(HeadedInterface op, Head head) {
  return llvm::all_of(op.slicesFor(head), [&](const HeadSlice &slice) {
    if (slice.operand >= op->getNumOperands())
      return false;
    auto type = dyn_cast<RankedTensorType>(op->getOperand(slice.operand).getType());
    if (!type || slice.axis < 0 || slice.axis >= type.getRank() || slice.offset < 0 || slice.size < 1 || slice.step < 1)
      return false;
    int64_t extent = type.getDimSize(slice.axis);
    return ShapedType::isDynamic(extent) || slice.size - 1 <= (extent - 1 - slice.offset) / slice.step;
  });
}

void Checker::checkInterfaces(const Subject &subject, ModuleOp module, Random &random) {
  Errors errors(context);
  journal.begin(subject, "");
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<Operation *> ops;
  copy->walk([&](Operation *op) {
    if (isa<ConvBERTDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    StringRef name = op->getName().getStringRef();
    auto judge = [&](StringRef what, bool sane) {
      if (!sane)
        journal.find("interface", (what + " of " + name + " make no sense").str());
    };
    OpBuilder b(op);
    if (auto cost = dyn_cast<CostOpInterface>(op)) {
      journal.beginPass(("costs of " + name).str());
      judge("costs", hasSaneCosts(cost, random));
    }
    if (auto reify = dyn_cast<ReifyRankedShapedTypeOpInterface>(op)) {
      journal.beginPass(("shapes of " + name).str());
      judge("shapes", hasSaneShapes(reify, b));
    }
    auto headed = dyn_cast<HeadedInterface>(op);
    if (!headed)
      continue;
    journal.beginPass(("heads of " + name).str());
    SmallVector<Head> removed;
    for (HeadBranch branch : {HeadBranch::Attention, HeadBranch::Convolution})
      for (int64_t i = 0, count = headed.numHeads(branch); i < std::min<int64_t>(count, 64); ++i) {
        judge("slices", hasSaneSlices(headed, {branch, i}));
        if (random.chance(30))
          removed.push_back({branch, i});
      }
    if (random.chance(5)) // one that is not there
      removed.push_back({HeadBranch::Convolution, random.pick<int64_t>({-1, 99})});
    int64_t before = errors.count;
    FailureOr<SmallVector<Value>> results = headed.removeHeads(b, removed);
    if (failed(results) && errors.count == before)
      journal.find("silent", "removes no heads and does not say why");
    if (succeeded(results))
      judge("results", results->size() == op->getNumResults());
    journal.count("interfaces " + name);
  }
  if (failed(verify(*copy)))
    journal.find("interface", "leaves IR that does not verify: " + errors.first);
}
