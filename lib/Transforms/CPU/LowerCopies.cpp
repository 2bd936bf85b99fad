//===- LowerCopies.cpp - Split copies until each is one block of memory ---===//

#include "lib/Transforms/CPU/Passes.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_LOWERCOPIES
#include "lib/Transforms/CPU/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// Whether a copy from or to `type` can be a `memcpy`: the condition of the conversion to LLVM.
static bool isBlock(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  return type.getLayout().isIdentity() ||
         (type.hasStaticShape() && type.getNumElements() > 0 && memref::isStaticShapeAndContiguousRowMajor(type));
}

/// Element or slice `i` of `memory` along its first dimension, without that dimension.
static Value takeSlice(OpBuilder &b, Location loc, Value memory, Value i) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memory);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  offsets.front() = i;
  sizes.front() = b.getIndexAttr(1);
  MemRefType slice =
      memref::SubViewOp::inferRankReducedResultType(type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, slice, memory, offsets, sizes, strides);
}

/// Copies `source` to `target`: a block at once, anything else slice by slice.
static void copy(OpBuilder &b, Location loc, Value source, Value target) {
  auto type = cast<MemRefType>(source.getType());
  if (llvm::is_contained(type.getShape(), 0) || llvm::is_contained(cast<MemRefType>(target.getType()).getShape(), 0))
    return; // there is nothing to copy, and no slice of it either
  if (isBlock(source) && isBlock(target)) {
    memref::CopyOp::create(b, loc, source, target);
    return;
  }
  if (type.getRank() == 0) {
    memref::StoreOp::create(b, loc, memref::LoadOp::create(b, loc, source, ValueRange()), target, ValueRange());
    return;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = getValueOrCreateConstantIndexOp(b, loc, memref::getMixedSize(b, loc, source, 0));
  auto loop = scf::ForOp::create(b, loc, zero, count, one);
  OpBuilder body = OpBuilder::atBlockTerminator(loop.getBody());
  Value i = loop.getInductionVar();
  if (type.getRank() == 1) {
    Value element = memref::LoadOp::create(body, loc, source, i);
    memref::StoreOp::create(body, loc, element, target, i);
    return;
  }
  copy(body, loc, takeSlice(body, loc, source, i), takeSlice(body, loc, target, i));
}

namespace {
struct LowerCopies : convbert::impl::LowerCopiesBase<LowerCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp op) {
      bool ranked = isa<MemRefType>(op.getSource().getType()) && isa<MemRefType>(op.getTarget().getType());
      if (ranked && !(isBlock(op.getSource()) && isBlock(op.getTarget())))
        copies.push_back(op);
    });
    for (memref::CopyOp op : copies) {
      OpBuilder b(op);
      copy(b, op.getLoc(), op.getSource(), op.getTarget());
      op.erase();
    }
  }
};
} // namespace
