//===- ScheduleKernels.cpp - The pass convbert-schedule -------------------===//

#include "dialect/TransformOps/ConvBERTTransformOps.h"
#include "lib/Schedules/Passes.h"
#include "lib/Schedules/ScheduleLibrary.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Transform/LoopExtension/LoopExtension.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/TransformOps/VectorTransformOps.h"
#include "mlir/Dialect/X86Vector/TransformOps/X86VectorTransformOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Remarks.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_SCHEDULEKERNELS
#include "lib/Schedules/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// Element type of the kernel: that of its first operand of floating point, or none.
static Type elementType(func::FuncOp kernel) {
  for (Type type : kernel.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type))
      if (isa<FloatType>(memref.getElementType()))
        return memref.getElementType();
  return NoneType::get(kernel.getContext());
}

namespace {

struct ScheduleKernelsPass : mlir::convbert::impl::ScheduleKernelsBase<ScheduleKernelsPass> {
  using ScheduleKernelsBase::ScheduleKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ScheduleKernelsBase::getDependentDialects(registry);
    registry.insert<transform::TransformDialect, affine::AffineDialect, vector::VectorDialect,
                    x86vector::X86VectorDialect>();
    linalg::registerTransformDialectExtension(registry);
    scf::registerTransformDialectExtension(registry);
    tensor::registerTransformDialectExtension(registry);
    transform::registerLoopExtension(registry);
    vector::registerTransformDialectExtension(registry);
    x86vector::registerTransformDialectExtension(registry);
    registerTransformExtension(registry);
  }

  // Once for each context that the pass runs in; clones of the pass share it.
  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<std::shared_ptr<ScheduleLibrary>> loaded = ScheduleLibrary::load(context);
    if (failed(loaded))
      return failure();
    library = *loaded;
    return success();
  }

  void runOnOperation() override {
    if (!library->hasIsa(instructionSet)) {
      getOperation().emitError("requires an instruction set of ")
          << library->isaNames() << ", but found " << instructionSet;
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (failed(schedule(kernel)))
        return signalPassFailure();
  }

  LogicalResult schedule(func::FuncOp kernel) {
    auto kind = kernel->getAttrOfType<StringAttr>("convbert.kernel");
    if (!kind || kind == "copy")
      return success();
    Type element = elementType(kernel);
    transform::NamedSequenceOp sequence = library->find(instructionSet, element, kind);
    if (!sequence)
      return kernel.emitError("requires a schedule for kind ")
             << kind << ", element type " << element << " and instruction set " << instructionSet
             << ", but found none; there are " << library->namesLike(kind);
    remarkChoice(kernel, kind, element, sequence);
    if (failed(library->apply(sequence, instructionSet, kernel)))
      return kernel.emitError("schedule @")
             << sequence.getSymName() << " failed for instruction set " << instructionSet;
    if (kind != "pack")
      kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!isa<linalg::LinalgDialect>(op->getDialect()))
          return WalkResult::advance();
        op->emitRemark("left to scalar loops by schedule @") << sequence.getSymName();
        remark::missed(op->getLoc(), options("scalar", kernel))
            << remark::metric("Op", op->getName().getStringRef())
            << remark::reason("schedule @{0} knows no such operation", sequence.getSymName().str());
        return WalkResult::skip(); // not its body
      });
    return success();
  }

  static remark::RemarkOpts options(StringRef name, func::FuncOp kernel) {
    return remark::RemarkOpts::name(name).category("convbert-schedule").function(kernel.getName());
  }

  /// Says which schedule `kernel` gets, and which more special ones there might be.
  void remarkChoice(func::FuncOp kernel, StringAttr kind, Type element, transform::NamedSequenceOp sequence) {
    if (!getContext().getRemarkEngine())
      return;
    remark::detail::InFlightRemark choice = remark::passed(kernel.getLoc(), options("schedule", kernel));
    choice << remark::metric("Kernel", kernel.getName()) << remark::metric("Schedule", sequence.getSymName())
           << remark::metric("ISA", StringRef(instructionSet));
    for (auto [name, value] : library->parameters(sequence, instructionSet))
      choice << remark::metric(name, value);
    for (const std::string &name : ScheduleLibrary::candidates(instructionSet, element, kind)) {
      if (name == sequence.getSymName())
        break;
      remark::analysis(kernel.getLoc(), options("fallback", kernel))
          << remark::metric("Kernel", kernel.getName()) << remark::reason("the library has no schedule @{0}", name)
          << remark::metric("Schedule", sequence.getSymName());
    }
  }

  std::shared_ptr<ScheduleLibrary> library;
};

} // namespace
