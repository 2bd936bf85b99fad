//===- PerfSupport.cpp - Names of linked code for `perf` ------------------===//

#include "lib/Target/CPU/PerfSupport.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderPerf.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mlir::convbert;
namespace orc = llvm::orc;
namespace jitlink = llvm::jitlink;

std::string convbert::getPerfMapPath(int pid) { return llvm::formatv("/tmp/perf-{0}.map", pid).str(); }

/// The map of this process, which all of its code shares.
static llvm::Expected<std::shared_ptr<llvm::raw_fd_ostream>> openMap() {
  static std::shared_ptr<llvm::raw_fd_ostream> map;
  if (map)
    return map;
  std::string path = getPerfMapPath(llvm::sys::Process::getProcessId());
  // Left by a process that had the same number; and never through a link of somebody else.
  llvm::sys::fs::remove(path);
  std::error_code error;
  auto opened = std::make_shared<llvm::raw_fd_ostream>(path, error, llvm::sys::fs::CD_CreateNew);
  if (error)
    return llvm::createStringError("perf requires a writable file " + path + ", but found: " + error.message());
  return map = std::move(opened);
}

namespace {
/// Adds a line `address size name` to the map for each function that is linked.
class PerfMapPlugin : public orc::ObjectLinkingLayer::Plugin {
public:
  explicit PerfMapPlugin(std::shared_ptr<llvm::raw_fd_ostream> map) : map(std::move(map)) {}

  void modifyPassConfig(orc::MaterializationResponsibility &, jitlink::LinkGraph &,
                        jitlink::PassConfiguration &config) override {
    // A call of a private function in the same section needs no relocation, so nothing that is live names it.
    config.PrePrunePasses.push_back([](jitlink::LinkGraph &graph) {
      for (jitlink::Symbol *symbol : graph.defined_symbols())
        if (symbol->hasName() && symbol->isCallable())
          symbol->setLive(true);
      return llvm::Error::success();
    });
    config.PostFixupPasses.push_back([this](jitlink::LinkGraph &graph) {
      for (jitlink::Symbol *symbol : graph.defined_symbols())
        if (symbol->hasName() && symbol->isCallable() && symbol->getSize())
          *map << llvm::formatv("{0:x-} {1:x-} {2}\n", symbol->getAddress().getValue(), symbol->getSize(),
                                *symbol->getName());
      map->flush();
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility &) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib &, orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(orc::JITDylib &, orc::ResourceKey, orc::ResourceKey) override {}

private:
  std::shared_ptr<llvm::raw_fd_ostream> map;
};
} // namespace

/// Why LLVM's writer of jitdumps could not start, or empty; the plugin only prints it and goes on.
static std::string startError;

static orc::shared::CWrapperFunctionBuffer startJITDump(const char *data, size_t size) {
  orc::shared::WrapperFunctionBuffer result(llvm_orc_registerJITLoaderPerfStart(data, size));
  orc::shared::SPSInputBuffer bytes(result.data(), result.size());
  orc::shared::detail::SPSSerializableError error;
  if (orc::shared::SPSArgList<orc::shared::SPSError>::deserialize(bytes, error) && error.HasError)
    startError = StringRef(error.ErrMsg).rtrim().str(); // it ends its line itself
  return result.release();
}

/// LLVM's writer of jitdumps, which looks for its functions among the symbols of the code.
static llvm::Expected<std::shared_ptr<orc::ObjectLinkingLayer::Plugin>> createJITDump(orc::LLJIT &jit) {
  orc::SymbolMap functions;
  auto add = [&](StringRef name, auto *function) {
    functions[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  add("llvm_orc_registerJITLoaderPerfStart", &startJITDump);
  add("llvm_orc_registerJITLoaderPerfEnd", &llvm_orc_registerJITLoaderPerfEnd);
  add("llvm_orc_registerJITLoaderPerfImpl", &llvm_orc_registerJITLoaderPerfImpl);
  orc::JITDylib &place = jit.getExecutionSession().createBareJITDylib("perf");
  if (llvm::Error error = place.define(orc::absoluteSymbols(std::move(functions))))
    return std::move(error);
  auto plugin = orc::PerfSupportPlugin::Create(jit.getExecutionSession().getExecutorProcessControl(), place,
                                               /*EmitDebugInfo=*/false, /*EmitUnwindInfo=*/true);
  if (!plugin)
    return plugin.takeError();
  if (!startError.empty())
    return llvm::createStringError("perf requires a writable directory for a jitdump ($JITDUMPDIR, an absolute "
                                   "path, or the home directory), but found: " +
                                   startError);
  return std::move(*plugin);
}

llvm::Error convbert::addPerfSupport(orc::LLJIT &jit) {
  auto *layer = llvm::dyn_cast<orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (!layer)
    return llvm::createStringError("perf requires a JIT with LLVM's JITLink, but found another linker");
  auto map = openMap();
  if (!map)
    return map.takeError();
  auto dump = createJITDump(jit);
  if (!dump)
    return dump.takeError();
  layer->addPlugin(std::make_shared<PerfMapPlugin>(std::move(*map)));
  layer->addPlugin(std::move(*dump));
  return llvm::Error::success();
}
