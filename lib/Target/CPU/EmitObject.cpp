//===- EmitObject.cpp - From the LLVM dialect to an object file -----------===//

#include "lib/Target/CPU/EmitObject.h"
#include "lib/Outline/Target.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <chrono>
#include <mutex>

using namespace mlir;
using namespace mlir::convbert;

void convbert::initializeBackend() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // For the inline assembly that vector transposes may lower to.
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

static std::unique_ptr<llvm::TargetMachine> createTargetMachine(const CPUTarget &target, std::string &error) {
  initializeBackend();
  llvm::Triple triple(target.triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.FunctionSections = true;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Makes what `machine` is, and what may be called from outside, known to the optimiser.
static void prepare(llvm::Module &module, llvm::TargetMachine &machine, const CPUTarget &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  llvm::internalizeModule(module, [](const llvm::GlobalValue &value) {
    return value.isDeclaration() || value.getName().starts_with("_mlir_ciface_");
  });
  const InstructionSet *isa = InstructionSet::find(target.isa);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    // The optimiser learns the CPU from the functions, not from the target machine.
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    // The kernels are written for full vectors; many CPUs' tuning would prefer halves.
    if (isa && isa->vectorBits == 512)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

FailureOr<SmallVector<char, 0>> convbert::emitObject(ModuleOp module, const CPUTarget &target, PhaseTimes &times) {
  auto last = std::chrono::steady_clock::now();
  auto lap = [&](StringRef step) {
    auto now = std::chrono::steady_clock::now();
    times.emplace_back(step.str(), std::chrono::duration<double, std::milli>(now - last).count());
    last = now;
  };
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target, error);
  if (!machine)
    return module.emitError("requires an LLVM back end for ") << target.triple << ", but found: " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context, "model");
  if (!ir)
    return module.emitError("translation to LLVM IR failed");
  prepare(*ir, *machine, target);
  lap("translate");

  optimize(*ir, *machine);
  lap("optimize");

  SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, os, /*DwoOut=*/nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError("requires a back end that writes object files, but found none for ") << target.triple;
  codegen.run(*ir);
  lap("codegen");
  return object;
}
