//===- ObjectCache.cpp - Where compiled objects are kept ------------------===//

#include "lib/CAPI/ObjectCache.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::convbert;

/// Only the owner may read a cache: what is in it will be executed.
static constexpr llvm::sys::fs::perms kPrivate = llvm::sys::fs::owner_all;

/// What follows an entry's bytes: 16 hexadecimal digits in brackets.
static constexpr size_t kSealBytes = 18;

static std::string makeSeal(StringRef bytes) {
  return "[" + llvm::utohexstr(llvm::xxh3_64bits(bytes), /*LowerCase=*/true, /*Width=*/16) + "]";
}

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
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return std::nullopt;
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() <= kSealBytes || bytes.take_back(kSealBytes) != makeSeal(bytes.drop_back(kSealBytes)))
    return std::nullopt;
  return path;
}

llvm::Expected<std::string> ObjectCache::reserve(StringRef key) const {
  llvm::SmallString<128> entry(directory + "/" + StringRef(key).str());
  bool usable = !directory.empty() && !llvm::sys::fs::create_directories(entry, /*IgnoreExisting=*/true, kPrivate) &&
                !llvm::sys::fs::access(entry, llvm::sys::fs::AccessMode::Write);
  if (usable)
    return (entry + "/model.so").str();
  auto place = reserveTemporary();
  if (!place)
    return llvm::createStringError("requires a writable directory for the compiled object, but found neither '" +
                                   directory + "' nor the temporary directory: " + llvm::toString(place.takeError()));
  return place;
}

llvm::Expected<std::string> ObjectCache::reserveTemporary() {
  llvm::SmallString<128> entry;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("convbert", entry))
    return llvm::createStringError(error, error.message());
  return (entry + "/model.so").str();
}

llvm::Error ObjectCache::publish(StringRef built, StringRef path) {
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(built); });
  auto fail = [&](std::error_code error) {
    return llvm::createStringError(error, "requires a writable file, but found " + path + ": " + error.message());
  };
  auto file = llvm::MemoryBuffer::getFile(built);
  if (!file)
    return fail(file.getError());
  std::error_code error;
  llvm::raw_fd_ostream os(built, error, llvm::sys::fs::OF_Append);
  if (error)
    return fail(error);
  os << makeSeal((*file)->getBuffer());
  os.close();
  if ((error = os.error())) {
    os.clear_error();
    return fail(error);
  }
  if ((error = llvm::sys::fs::rename(built, path)))
    return fail(error);
  remove.release();
  return llvm::Error::success();
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
