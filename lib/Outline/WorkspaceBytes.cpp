//===- WorkspaceBytes.cpp - How large the workspace of a call is ------------===//

#include "lib/Outline/WorkspaceBytes.h"
#include "lib/Outline/Shapes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::convbert;

func::FuncOp convbert::createEntry(OpBuilder &b, StringRef name, TypeRange arguments, TypeRange results) {
  auto fn = func::FuncOp::create(b, b.getUnknownLoc(), name, b.getFunctionType(arguments, results));
  fn->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(fn.addEntryBlock());
  return fn;
}

Value convbert::emitScratchBytes(ModuleOp module, OpBuilder &b, Location loc, const HostContext &context) {
  auto share = module.lookupSymbol<func::FuncOp>("scratch_bytes");
  if (!share) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    share = func::FuncOp::create(b, loc, "scratch_bytes",
                                 b.getFunctionType({context.shapes.front().getType()}, {b.getIndexType()}));
    share.setPrivate();
    b.setInsertionPointToStart(share.addEntryBlock());
    func::ReturnOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, 0).getResult());
  }
  Value one = func::CallOp::create(b, loc, share, ValueRange{largestShape(b, loc, context)}).getResult(0);
  Value threads = arith::IndexCastOp::create(b, loc, b.getIndexType(), context.threads);
  return arith::MulIOp::create(b, loc, one, threads);
}

void convbert::emitWorkspaceBytes(func::FuncOp fn, const TileSizes &tiles, const Lengths &lengths,
                                  const Footprint &total) {
  OpBuilder b(fn);
  Location loc = fn.getLoc();
  auto shape = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  auto entry = createEntry(b, "workspace_bytes", {shape, b.getI32Type()}, {b.getI64Type()});
  HostContext context = readShape(b, loc, tiles, entry.getArgument(0));
  context.threads = entry.getArgument(1);
  Value shapes = shapeBytes(b, loc, lengths, context);
  if (shapes)
    addLengths(b, tiles, lengths, /*memory=*/Value(), loc, context);
  Value arenas = arenaOffsets(b, loc, total, context.counts).back();
  Value all = arith::AddIOp::create(b, loc, arenas, emitScratchBytes(fn->getParentOfType<ModuleOp>(), b, loc, context));
  if (shapes)
    all = arith::AddIOp::create(b, loc, all, shapes);
  func::ReturnOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), all).getResult());
}
