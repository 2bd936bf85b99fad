//===- SharedRows.cpp - Rows that threads share -----------------------------===//

#include "lib/Transforms/CPU/SharedRows.h"
#include "lib/Transforms/CPU/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::convbert;

FailureOr<std::optional<SharedRows>> SharedRows::take(func::FuncOp kernel) {
  Attribute rows = kernel->removeAttr(kRowsAttr), grain = kernel->removeAttr(kRowGrainAttr);
  if (!rows)
    return std::optional<SharedRows>();
  auto positions = dyn_cast<DenseI64ArrayAttr>(rows);
  auto worth = dyn_cast_if_present<IntegerAttr>(grain);
  bool areRows = positions && !positions.empty() && worth && worth.getInt() > 0;
  for (int64_t position : areRows ? positions.asArrayRef() : ArrayRef<int64_t>()) {
    auto type = position >= 0 && position < kernel.getNumArguments()
                    ? dyn_cast<MemRefType>(kernel.getArgumentTypes()[position])
                    : MemRefType();
    int64_t offset;
    SmallVector<int64_t> strides;
    areRows &= type && type.getRank() > 0 && type.isDynamicDim(0) &&
               succeeded(type.getStridesAndOffset(strides, offset)) && ShapedType::isDynamic(offset);
  }
  if (!areRows) {
    InFlightDiagnostic error = kernel.emitError("requires '")
                               << kRowsAttr << "' to number memref arguments with a dynamic first dimension and "
                               << "offset, and '" << kRowGrainAttr << "' of at least 1, but found " << rows << " and ";
    return (grain ? error << grain : error << "nothing") << " on @" << kernel.getName();
  }
  SharedRows shared;
  shared.positions.assign(positions.asArrayRef().begin(), positions.asArrayRef().end());
  shared.grain = worth.getInt();
  return std::optional(shared);
}

Value SharedRows::count(OpBuilder &b, Location loc, ValueRange operands) const {
  return memref::DimOp::create(b, loc, operands[positions.front()], 0);
}

Value SharedRows::worth(OpBuilder &b, Location loc, Value rows) const {
  return arith::DivUIOp::create(b, loc, rows, arith::ConstantIndexOp::create(b, loc, grain));
}

Value SharedRows::isFaster(OpBuilder &b, Location loc, Value rows, Value iterations, Value threads) const {
  auto largest = [&](Value of) { return arith::CeilDivUIOp::create(b, loc, of, threads).getResult(); };
  Value byIterations = arith::MulIOp::create(b, loc, largest(iterations), rows);
  Value byRows = arith::MulIOp::create(b, loc, largest(rows), iterations);
  Value less = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, byRows, byIterations);
  Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, worth(b, loc, rows), threads);
  return arith::AndIOp::create(b, loc, less, enough);
}

SmallVector<Value> SharedRows::share(OpBuilder &b, Location loc, ValueRange operands, Value rows, Value thread,
                                     Value team) const {
  Value share = arith::CeilDivUIOp::create(b, loc, rows, team);
  Value from = arith::MinUIOp::create(b, loc, arith::MulIOp::create(b, loc, thread, share), rows);
  Value to = arith::MinUIOp::create(b, loc, arith::AddIOp::create(b, loc, from, share), rows);
  Value size = arith::SubIOp::create(b, loc, to, from);
  SmallVector<Value> own(operands);
  for (int64_t position : positions) {
    Value memory = operands[position];
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memory);
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
    offsets.front() = from;
    sizes.front() = size;
    own[position] = memref::SubViewOp::create(b, loc, type, memory, offsets, sizes, strides);
  }
  return own;
}
