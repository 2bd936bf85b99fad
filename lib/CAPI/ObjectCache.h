//===- ObjectCache.h - Where compiled objects are kept ----------*- C++ -*-===//

#ifndef CONVBERT_LIB_CAPI_OBJECTCACHE_H
#define CONVBERT_LIB_CAPI_OBJECTCACHE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::convbert {

/// A directory of compiled objects, `KEY/model.so` each.  Entries appear by a rename, so that several processes may
/// share it without locks.  Each ends with a hash of itself (a loader ignores what follows the last section), so that a
/// damaged one is not found.
class ObjectCache {
public:
  /// The cache in `directory`; if that is empty, in $CONVBERT_CACHE, else $XDG_CACHE_HOME/convbert, else
  /// ~/.cache/convbert.  Nothing is made yet.
  explicit ObjectCache(StringRef directory = "");

  /// The path of the entry `key` if there is one that is whole.
  std::optional<std::string> find(StringRef key) const;

  /// A path in a writable directory to put the entry `key` at: in the cache, or, if that cannot be written to, in a
  /// new temporary directory.
  llvm::Expected<std::string> reserve(StringRef key) const;

  /// A path in a new temporary directory, for when the cache has no room.
  static llvm::Expected<std::string> reserveTemporary();

  /// Makes the file `built` the entry at `path`, which reserve() gave.  Both are in the same file system.
  static llvm::Error publish(StringRef built, StringRef path);

private:
  std::string directory;
};

/// The key of `parts`: the same for the same sequence of strings, different for all others.
std::string makeCacheKey(ArrayRef<StringRef> parts);

/// Something that changes with every build of this library.
std::string getCompilerIdentity();

} // namespace mlir::convbert

#endif // CONVBERT_LIB_CAPI_OBJECTCACHE_H
