//===- ObjectCache.cpp - Where compiled objects are kept ------------------===//

#include "lib/CAPI/ObjectCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::convbert;

/// Only the owner may read a cache: what is in it will be executed.
static constexpr llvm::sys::fs::perms kPrivate = llvm::sys::fs::owner_all;

static std::string getDefaultDirectory() {
  auto get = [](StringRef name) { return llvm::sys::Process::GetEnv(name).value_or(""); };
  if (std::string chosen = get("CONVBERT_CACHE"); !chosen.empty())
    return chosen;
  if (std::string base = get("XDG_CACHE_HOME"); !base.empty())
    return base + "/convbert";
  llvm::SmallString<128> home;
  // Without a home, entries go to temporary directories.
  return llvm::sys::path::home_directory(home) ? (home + "/.cache/convbert").str() : "";
}

ObjectCache::ObjectCache(StringRef directory)
    : directory(directory.empty() ? getDefaultDirectory() : directory.str()) {}

std::optional<std::string> ObjectCache::find(StringRef key) const {
  if (directory.empty())
    return std::nullopt;
  std::string path = (directory + "/" + key + "/model.so").str();
  llvm::file_magic magic;
  if (llvm::identify_magic(path, magic) || magic != llvm::file_magic::elf_shared_object)
    return std::nullopt;
  return path;
}

llvm::Expected<std::string> ObjectCache::reserve(StringRef key) const {
  llvm::SmallString<128> entry(directory + "/" + StringRef(key).str());
  bool usable = !directory.empty() && !llvm::sys::fs::create_directories(entry, /*IgnoreExisting=*/true, kPrivate) &&
                !llvm::sys::fs::access(entry, llvm::sys::fs::AccessMode::Write);
  if (!usable)
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("convbert", entry))
      return llvm::createStringError(error,
                                     "requires a writable directory for the compiled object, but found neither '" +
                                         directory + "' nor the temporary directory: " + error.message());
  return (entry + "/model.so").str();
}

std::string convbert::makeCacheKey(ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  for (StringRef part : parts) {
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 32);
}

std::string convbert::getCompilerIdentity() {
  std::string identity = CONVBERT_VERSION;
  Dl_info self;
  llvm::sys::fs::file_status status;
  if (dladdr(reinterpret_cast<void *>(&getCompilerIdentity), &self) && self.dli_fname &&
      !llvm::sys::fs::status(self.dli_fname, status))
    identity += "-" + std::to_string(status.getSize()) + "-" +
                std::to_string(status.getLastModificationTime().time_since_epoch().count());
  return identity;
}
