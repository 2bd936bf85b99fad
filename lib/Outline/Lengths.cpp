//===- Lengths.cpp - Values with other numbers of tokens --------------------===//

#include "lib/Outline/Lengths.h"
#include "dialect/IR/ConvBERTOps.h"
#include "dialect/IR/WindowRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::convbert;

static LengthStep getStep(const Window &window) {
  return {window.pads[0] + window.pads[1] - window.dilation * (window.taps - 1) - 1, window.stride};
}

LengthStep convbert::getLengthStep(Operation *op) {
  return llvm::TypeSwitch<Operation *, LengthStep>(op)
      .Case([](DepthwiseConv1DOp op) { return getStep(Window::get(op, op.getTaps())); })
      .Case(
          [](Conv1DOp op) { return getStep(Window::get(op, ConvFeatures::get(op.getWeight(), op.getLayout()).taps)); })
      .Case([](KernelAttentionConvOp op) {
        return getStep(Window::get(op, ConvFeatures::get(op.getKernels(), op.getLayout()).taps));
      })
      .Default(LengthStep());
}

/// True for B x T x ...
static bool hasTokens(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= 2 && type.isDynamicDim(0) && type.isDynamicDim(1);
}

unsigned Lengths::follow(unsigned number, LengthStep step) {
  if (step.isIdentity())
    return number;
  SmallVector<LengthStep> chain = chains[number];
  chain.push_back(step);
  if (auto it = llvm::find(chains, chain); it != chains.end())
    return it - chains.begin();
  chains.push_back(chain);
  return chains.size() - 1;
}

/// Tokens behind `chain` of `length`.
static int64_t followChain(int64_t length, ArrayRef<LengthStep> chain) {
  for (LengthStep step : chain)
    length = length + step.extra < 0 ? 0 : (length + step.extra) / step.stride + 1;
  return length;
}

bool Lengths::isLengthOf(Value extent, Value value) const {
  auto getSource = [](Value number) {
    auto dim = number.getDefiningOp<tensor::DimOp>();
    return dim && dim.getConstantIndex() == 1 ? dim.getSource() : Value();
  };
  if (Value source = getSource(extent))
    return get(source) == get(value);
  // What canonicalisation makes of the tokens of a convolution: a formula of those of its operand.
  auto apply = extent.getDefiningOp<affine::AffineApplyOp>();
  Value source = apply && apply->getNumOperands() == 1 ? getSource(apply->getOperand(0)) : Value();
  if (!source)
    return false;
  Builder b(apply.getContext());
  // Formulas of sums and quotients that agree over many neighbouring lengths are one.
  for (int64_t length = 4096; length < 4096 + 512; ++length) {
    SmallVector<Attribute> results;
    Attribute given = b.getIndexAttr(followChain(length, getChain(get(source))));
    if (failed(apply.getMap().constantFold(given, results)) ||
        cast<IntegerAttr>(results.front()).getInt() != followChain(length, getChain(get(value))))
      return false;
  }
  return true;
}

FailureOr<Lengths> Lengths::compute(func::FuncOp fn) {
  Lengths lengths;
  for (Operation &op : fn.getBody().front()) {
    std::optional<unsigned> number;
    for (Value operand : op.getOperands()) {
      if (!hasTokens(operand) || op.getNumResults() == 0)
        continue;
      unsigned found = lengths.get(operand);
      if (number.value_or(found) != found)
        return op.emitOpError() << "requires operands of one number of tokens, but found those of values that "
                                   "convolutions have made longer or shorter";
      number = found;
    }
    LengthStep step = getLengthStep(&op);
    if (!step.isIdentity() && fn.isPrivate())
      return op.emitOpError() << "requires the number of tokens to stay the same in a private function";
    for (Value result : op.getResults())
      if (number && hasTokens(result))
        lengths.numbers[result] = lengths.follow(*number, step);
  }
  return lengths;
}
