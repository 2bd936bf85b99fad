//===- JIT.cpp - An object file, linked into this process -----------------===//

#include "lib/Target/CPU/JIT.h"
#include "lib/Target/CPU/EmitObject.h"
#include "lib/Target/CPU/PerfSupport.h"
#include "lib/Target/CPU/SharedObject.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::convbert;
namespace orc = llvm::orc;

/// Sees to it that the process has OpenMP's entry points: the runtime brings them, a bare compiler does not.
static llvm::Error loadOpenMP() {
  if (llvm::sys::DynamicLibrary::SearchForAddressOfSymbol("__kmpc_fork_call"))
    return llvm::Error::success();
  std::string message;
  for (const char *name : {CONVBERT_LIBOMP, "libomp.so.5"})
    if (!llvm::sys::DynamicLibrary::LoadLibraryPermanently(name, &message))
      return llvm::Error::success();
  return llvm::createStringError("requires LLVM's OpenMP library, but found none: " + message);
}

JITObject::JITObject(std::unique_ptr<orc::LLJIT> jit) : jit(std::move(jit)) {}
JITObject::~JITObject() = default;

llvm::Expected<std::unique_ptr<JITObject>> JITObject::load(StringRef object, bool perf) {
  if (llvm::Error error = checkUndefinedSymbols(object))
    return error;
  if (llvm::Error error = loadOpenMP())
    return error;
  initializeBackend();
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  if (perf)
    if (llvm::Error error = addPerfSupport(**jit))
      return error;
  char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "model.o")))
    return error;
  return std::unique_ptr<JITObject>(new JITObject(std::move(*jit)));
}

llvm::Expected<void *> JITObject::lookupAddress(StringRef name) const {
  llvm::Expected<orc::ExecutorAddr> address = jit->lookup(name);
  if (address)
    return address->toPtr<void *>();
  llvm::consumeError(address.takeError());
  return llvm::createStringError("requires a function '" + name + "' of the compiled code, but found none");
}
