//===- Lengths.h - Values with other numbers of tokens ----------*- C++ -*-===//
//
// A convolution with a stride, or without zeros at the ends, makes another number of tokens of those that it reads. All
// such numbers follow from the lengths that a call gives, so the shape of every buffer stays a closed formula of them.
//
//===----------------------------------------------------------------------===//

#ifndef CONVBERT_LIB_OUTLINE_LENGTHS_H
#define CONVBERT_LIB_OUTLINE_LENGTHS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::convbert {

/// Of T tokens, floor((T + extra) / stride) + 1; none where T + extra is negative.
struct LengthStep {
  int64_t extra = -1;
  int64_t stride = 1;

  bool isIdentity() const { return extra == -1 && stride == 1; }
  bool operator==(const LengthStep &other) const { return extra == other.extra && stride == other.stride; }
};

/// How many tokens `op` makes of those of its operands.
LengthStep getLengthStep(Operation *op);

/// The lengths in a function, by numbers: 0 is that of its inputs.
class Lengths {
public:
  /// Numbers the lengths of the values of `fn`.  Reports and fails where an operation would need two lengths to be one,
  /// and where a private function changes them.
  static FailureOr<Lengths> compute(func::FuncOp fn);

  unsigned get(Value value) const { return numbers.lookup(value); }
  unsigned size() const { return chains.size(); }
  /// True if `extent`, of a slice, is all tokens of `value`.
  bool isLengthOf(Value extent, Value value) const;
  /// The steps from the lengths of a call to length `number`.
  ArrayRef<LengthStep> getChain(unsigned number) const { return chains[number]; }

private:
  /// The number of the length behind `step` from length `number`.
  unsigned follow(unsigned number, LengthStep step);

  llvm::DenseMap<Value, unsigned> numbers;
  SmallVector<SmallVector<LengthStep>> chains{{}};
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_OUTLINE_LENGTHS_H
