//===- Shapes.cpp - What host code reads from the shape of a call -----------===//

#include "lib/Outline/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::convbert;

/// Shapes start at a cache line.
static constexpr int64_t kAlignment = 64;

namespace {

/// Index arithmetic at one place.
struct Arithmetic {
  OpBuilder &b;
  Location loc;

  Value constant(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value roundUp(Value v, int64_t to) { return mul(arith::CeilDivUIOp::create(b, loc, v, constant(to)), constant(to)); }
  Value load(Value shape, Value at) {
    Value v = memref::LoadOp::create(b, loc, shape, ValueRange{at});
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), v);
  }
  void store(Value v, Value shape, Value at) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
    memref::StoreOp::create(b, loc, wide, shape, ValueRange{at});
  }
  /// The tokens that are left of `length`.
  Value follow(Value length, ArrayRef<LengthStep> chain) {
    for (LengthStep step : chain) {
      // T + extra + stride is not negative where a token is left, and rounds to none where it is.
      Value sum = max(add(length, step.extra + step.stride), constant(0));
      length = arith::DivUIOp::create(b, loc, sum, constant(step.stride));
    }
    return length;
  }
};

} // namespace

/// The counts of one length: rows and keys.
static void addCounts(Arithmetic at, const TileSizes &tiles, Value longest, Value rows, HostContext &context) {
  Value tokens = at.roundUp(rows, tiles.rows), keys = at.mul(context.batch, at.roundUp(longest, tiles.keyPanel));
  if (context.counts.empty())
    context.counts = {tokens, at.roundUp(context.batch, tiles.rows), keys, at.constant(1)};
  else
    context.counts.append({tokens, keys});
  context.longest.push_back(longest);
}

HostContext convbert::readShape(OpBuilder &b, Location loc, const TileSizes &tiles, Value shape) {
  Arithmetic at{b, loc};
  HostContext context;
  context.batch = at.load(shape, at.constant(0));
  Value longest = at.load(shape, at.constant(1));
  Value rows = at.load(shape, at.add(context.batch, 2));
  addCounts(at, tiles, longest, rows, context);
  context.shapes.push_back(shape);
  return context;
}

/// Bytes of one shape.
static Value bytesOfShape(Arithmetic at, const HostContext &context) {
  Value numbers = at.add(at.mul(context.batch, at.constant(2)), 3);
  return at.roundUp(at.mul(numbers, at.constant(8)), kAlignment);
}

Value convbert::shapeBytes(OpBuilder &b, Location loc, const Lengths &lengths, const HostContext &context) {
  if (lengths.size() == 1)
    return Value();
  Arithmetic at{b, loc};
  return at.mul(bytesOfShape(at, context), at.constant(lengths.size() - 1));
}

void convbert::addLengths(OpBuilder &b, const TileSizes &tiles, const Lengths &lengths, Value memory, Location loc,
                          HostContext &context) {
  Arithmetic at{b, loc};
  Value zero = at.constant(0), one = at.constant(1), shape = context.shapes.front();
  Value starts = at.constant(2), counts = at.add(context.batch, 3);
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  for (unsigned number = 1; number < lengths.size(); ++number) {
    Value made;
    if (memory) {
      Value begin = at.mul(bytesOfShape(at, context), at.constant(number - 1));
      Value size = at.add(at.mul(context.batch, starts), 3);
      made = memref::ViewOp::create(b, loc, type, memory, begin, ValueRange{size});
    }
    // Row by row, as the runtime does it: every sequence owns the rows of a tile.
    auto loop = scf::ForOp::create(
        b, loc, zero, context.batch, one, ValueRange{zero}, [&](OpBuilder &inner, Location, Value i, ValueRange row) {
          Arithmetic in{inner, loc};
          Value length = in.follow(in.load(shape, in.add(counts, i)), lengths.getChain(number));
          if (made) {
            in.store(row.front(), made, in.add(starts, i));
            in.store(length, made, in.add(counts, i));
          }
          Value owned = in.max(length, in.constant(TileSizes::queryRows));
          scf::YieldOp::create(inner, loc, in.add(row.front(), owned));
        });
    Value rows = loop.getResult(0), longest = at.follow(context.longest.front(), lengths.getChain(number));
    if (made) {
      at.store(context.batch, made, zero);
      at.store(longest, made, one);
      at.store(rows, made, at.add(context.batch, 2));
    }
    addCounts(at, tiles, longest, rows, context);
    context.shapes.push_back(made);
  }
}

Value convbert::largestShape(OpBuilder &b, Location loc, const HostContext &context) {
  if (context.longest.size() == 1)
    return context.shapes.front();
  Arithmetic at{b, loc};
  Value longest = context.longest.front();
  for (Value other : llvm::drop_begin(context.longest))
    longest = at.max(longest, other);
  Type number = b.getI64Type();
  Value pair = memref::AllocaOp::create(b, loc, MemRefType::get({2}, number));
  at.store(context.batch, pair, at.constant(0));
  at.store(longest, pair, at.constant(1));
  return memref::CastOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, number), pair);
}
