//===- SharedObject.cpp - From an object file to a shared object ----------===//

#include "lib/Target/CPU/SharedObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::convbert;

static constexpr StringLiteral kOpenMP[] = {"__kmpc_bound_num_threads", "__kmpc_bound_thread_num", "__kmpc_fork_call",
                                            "__kmpc_global_thread_num", "__kmpc_push_num_threads"};
/// Resolved when the object is loaded: every process has the C library.  The heap is for pack kernels, which run once;
/// phase `memory` sees to it that nothing else allocates.
static constexpr StringLiteral kMemory[] = {"_GLOBAL_OFFSET_TABLE_", "free", "malloc", "memcpy", "memmove", "memset"};
static constexpr StringLiteral kMath[] = {"cosf",   "erff",  "exp",  "exp2f", "expf", "expm1f", "fmaf", "log",
                                          "log1pf", "log2f", "logf", "powf",  "sinf", "sqrtf",  "tanh", "tanhf"};

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Names of the symbols that `object` leaves undefined.
static llvm::Expected<SmallVector<std::string>> getUndefinedSymbols(StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "model.o"));
  if (!file)
    return file.takeError();
  SmallVector<std::string> names;
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return llvm::joinErrors(flags.takeError(), name.takeError());
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !name->empty())
      names.push_back(name->str());
  }
  return names;
}

llvm::Error convbert::checkUndefinedSymbols(StringRef object) {
  auto names = getUndefinedSymbols(object);
  if (!names)
    return names.takeError();
  for (const std::string &name : *names)
    if (!llvm::is_contained(kOpenMP, name) && !llvm::is_contained(kMemory, name) && !llvm::is_contained(kMath, name))
      return makeError("requires compiled code that calls only OpenMP, scalar mathematics, memcpy and its like, "
                       "but found a reference to '" +
                       name + "'");
  return llvm::Error::success();
}

/// ld.lld: $CONVBERT_LLD, then the one beside the LLVM that the compiler was built with, then the path.
static llvm::Expected<std::string> findLinker() {
  if (const char *chosen = std::getenv("CONVBERT_LLD"); chosen && *chosen)
    return std::string(chosen);
  if (llvm::sys::fs::can_execute(CONVBERT_LLVM_TOOLS_DIR "/ld.lld"))
    return std::string(CONVBERT_LLVM_TOOLS_DIR "/ld.lld");
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  return makeError("requires the linker ld.lld, but found none in " CONVBERT_LLVM_TOOLS_DIR
                   " or on the path; install lld-22, or set CONVBERT_LLD");
}

/// Writes a shared object without code that stands for the library `soname` of the architecture `machine`.
static llvm::Error writeStub(StringRef path, uint16_t machine, StringRef soname, ArrayRef<StringLiteral> symbols) {
  llvm::ifs::IFSStub stub;
  stub.SoName = soname.str();
  stub.Target.Arch = machine;
  stub.Target.Endianness = llvm::ifs::IFSEndiannessType::Little;
  stub.Target.BitWidth = llvm::ifs::IFSBitWidthType::IFS64;
  for (StringRef name : symbols) {
    llvm::ifs::IFSSymbol symbol(name.str());
    symbol.Type = llvm::ifs::IFSSymbolType::Func;
    stub.Symbols.push_back(symbol);
  }
  return llvm::ifs::writeBinaryStub(path, stub);
}

static llvm::Error writeFile(StringRef path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << bytes;
    os.close();
    error = os.error();
    os.clear_error();
  }
  return error ? makeError("requires a writable file, but found " + path + ": " + error.message())
               : llvm::Error::success();
}

/// ELF's number for the architecture of `object`.
static llvm::Expected<uint16_t> getMachine(StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "model.o"));
  if (!file)
    return file.takeError();
  auto *elf = dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
  return elf ? elf->getEMachine() : uint16_t(llvm::ELF::EM_NONE);
}

/// Runs lld in the scratch folder `folder`, which holds model.o for `machine`, and leaves `output` there.
static llvm::Error runLinker(StringRef folder, uint16_t machine, StringRef output) {
  llvm::Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  auto in = [&](StringRef name) { return (folder + "/" + name).str(); };
  if (llvm::Error error = writeStub(in("libomp.so.5"), machine, "libomp.so.5", kOpenMP))
    return error;
  if (llvm::Error error = writeStub(in("libm.so.6"), machine, "libm.so.6", kMath))
    return error;
  if (llvm::Error error = writeFile(in("exports.map"), "{ global: _mlir_ciface_*; local: *; };\n"))
    return error;
  std::string object = in("model.o"), omp = in("libomp.so.5"), math = in("libm.so.6"), log = in("log");
  std::string exports = "--version-script=" + in("exports.map");
  StringRef arguments[] = {*linker,       "-shared",  "-z",    "now",  "--gc-sections",  "--build-id",
                           "-soname",     "model.so", exports, object, "--no-as-needed", omp,
                           "--as-needed", math,       "-o",    output};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, /*Env=*/std::nullopt, redirects, /*SecondsToWait=*/60,
                                         /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(log); text && message.empty())
    message = (*text)->getBuffer().trim().str();
  return makeError("linking with " + *linker + " failed: " + message);
}

llvm::Error convbert::linkSharedObject(StringRef object, StringRef output) {
  if (llvm::Error error = checkUndefinedSymbols(object))
    return error;
  llvm::Expected<uint16_t> machine = getMachine(object);
  if (!machine)
    return machine.takeError();
  llvm::SmallString<128> parent(llvm::sys::path::parent_path(output)), folder;
  if (parent.empty())
    parent = ".";
  // Beside the output, so that the rename at the end stays within one file system.
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory(parent + "/.link", folder))
    return makeError("requires a writable directory, but found " + parent + ": " + error.message());
  llvm::Error result = writeFile((folder + "/model.o").str(), object);
  std::string linked = (folder + "/model.so").str();
  if (!result)
    result = runLinker(folder, *machine, linked);
  if (!result)
    if (std::error_code error = llvm::sys::fs::rename(linked, output))
      result = makeError("requires a writable file, but found " + output + ": " + error.message());
  llvm::sys::fs::remove_directories(folder);
  return result;
}
