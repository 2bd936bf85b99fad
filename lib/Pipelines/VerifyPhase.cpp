//===- VerifyPhase.cpp - What must hold at the exit of a phase ------------===//

#include "dialect/IR/ConvBERTOps.h"
#include "lib/Pipelines/Passes.h"
#include "lib/Pipelines/Phases.h"
#include "lib/Transforms/CPU/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::convbert {
#define GEN_PASS_DEF_VERIFYPHASE
#include "lib/Pipelines/Passes.h.inc"
} // namespace mlir::convbert

using namespace mlir;
using namespace mlir::convbert;

/// Why `op` may not be there, as the object of "requires no ... at its exit"; empty if it may.
using Rule = std::string (*)(Operation *op);

static bool isOfDialect(Operation *op, StringRef dialect) { return op->getName().getDialectNamespace() == dialect; }

static bool isInKernel(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && function->hasAttr("convbert.kernel");
}

static bool hasTensor(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor);
}

static std::string checkSimplify(Operation *op) {
  auto block = dyn_cast<DecomposeOpInterface>(op);
  return block && block.isDecomposable() ? "block operation" : "";
}

static std::string checkOutline(Operation *op) {
  if (isa<ml_program::MLProgramDialect>(op->getDialect()))
    return "parameter that is not bound to a table";
  if (isa<func::FuncOp>(op) || isInKernel(op))
    return "";
  if (isOfDialect(op, "convbert"))
    return "operation of the dialect outside kernels";
  return hasTensor(op) ? "tensor outside kernels" : "";
}

static std::string checkLinalg(Operation *op) { return isOfDialect(op, "convbert") ? "operation of the dialect" : ""; }

static std::string checkSchedule(Operation *op) { return isOfDialect(op, "transform") ? "transform operation" : ""; }

static std::string checkBufferize(Operation *op) {
  if (hasTensor(op))
    return "tensor";
  auto copy = dyn_cast<memref::CopyOp>(op);
  // In a parallel loop it would be a race.
  return copy && copy.getSource() == copy.getTarget() ? "copy of a buffer to itself" : "";
}

static std::string checkThreads(Operation *op) {
  return isa<scf::ForallOp, scf::ParallelOp>(op) ? "parallel loop" : "";
}

static std::string checkMemory(Operation *op) {
  if (isa<memref::AllocOp, memref::ReallocOp>(op))
    return isPackKernel(op->getParentOfType<func::FuncOp>()) ? "" : "allocation";
  auto local = dyn_cast<memref::AllocaOp>(op);
  if (!local)
    return "";
  if (!local.getType().hasStaticShape())
    return "stack array of dynamic size";
  return op->getParentOfType<LoopLikeOpInterface>() ? "stack array in a loop" : "";
}

static std::string checkLLVM(Operation *op) {
  return isa<ModuleOp>(op) || isOfDialect(op, "llvm") || isOfDialect(op, "omp")
             ? ""
             : "operation that is not of the LLVM or OpenMP dialect";
}

/// The rule of `phase`, or null if nothing is checked.
static Rule getRule(StringRef phase) {
  return llvm::StringSwitch<Rule>(phase)
      .Case("simplify", checkSimplify)
      .Case("outline", checkOutline)
      .Case("linalg", checkLinalg)
      .Case("schedule", checkSchedule)
      .Case("bufferize", checkBufferize)
      .Case("threads", checkThreads)
      .Case("memory", checkMemory)
      .Case("llvm", checkLLVM)
      .Default(nullptr);
}

/// " with a result of type T" or " with an operand of type T" for a tensor, so that the message says which.
static std::string describeTensor(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Type type : op->getResultTypes())
    if (isa<TensorType>(type)) {
      os << " with a result of type '" << type << "'";
      return text;
    }
  for (Type type : op->getOperandTypes())
    if (isa<TensorType>(type)) {
      os << " with an operand of type '" << type << "'";
      return text;
    }
  return text;
}

namespace {
struct VerifyPhase : convbert::impl::VerifyPhaseBase<VerifyPhase> {
  using VerifyPhaseBase::VerifyPhaseBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (!findPhase(phase)) {
      getOperation().emitError("requires the name of a phase (") << getPhaseNames() << "), but found '" << phase << "'";
      return signalPassFailure();
    }
    Rule rule = getRule(phase);
    if (!rule)
      return;
    WalkResult walk = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      std::string unwanted = rule(op);
      if (unwanted.empty())
        return WalkResult::advance();
      op->emitError("phase '") << phase << "' requires no " << unwanted << " at its exit, but found '" << op->getName()
                               << "'" << describeTensor(op);
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
