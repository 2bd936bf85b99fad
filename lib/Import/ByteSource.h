//===- ByteSource.h - Bytes of unknown origin -------------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_BYTESOURCE_H
#define CONVBERT_LIB_IMPORT_BYTESOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace mlir::convbert {

/// A file (or, in tests, a piece of memory) that is read in pieces.  Files are never mapped here: whoever shortens a
/// mapped file kills the process that reads it, while a short read is an error like any other.
class ByteSource {
public:
  virtual ~ByteSource() = default;

  /// The path, for messages.
  llvm::StringRef getPath() const { return path; }
  /// Bytes when it was opened.
  uint64_t getSize() const { return size; }
  /// When it was last written to before it was opened, in nanoseconds since 1970; 0 for memory.
  uint64_t getModified() const { return modified; }

  /// Fills `bytes` from `offset` on.  Error (one line, naming the path): the source ends before, or cannot be read.
  llvm::Error read(llvm::MutableArrayRef<char> bytes, uint64_t offset) const;

  /// Reads `count` bytes from `offset` on, which must lie inside the source; memory is taken only if they do.
  llvm::Expected<std::string> read(uint64_t offset, uint64_t count) const;

protected:
  ByteSource(llvm::StringRef path, uint64_t size, uint64_t modified = 0) : path(path), size(size), modified(modified) {}

private:
  llvm::Error checkRange(uint64_t offset, uint64_t count) const;
  /// Reads at least one byte, or none at the end.
  virtual llvm::Expected<size_t> readSome(llvm::MutableArrayRef<char> bytes, uint64_t offset) const = 0;

  std::string path;
  uint64_t size, modified;
};

/// Opens a regular file.  Errors name the path.
llvm::Expected<std::unique_ptr<ByteSource>> openFile(llvm::StringRef path);

/// Memory that must outlive the source; `path` is for messages only.
std::unique_ptr<ByteSource> openMemory(llvm::StringRef bytes, llvm::StringRef path);

/// Whether there is something at `path`.  Anything that keeps us from knowing (no permission, a loop of symbolic links)
/// is an error.
llvm::Expected<bool> pathExists(llvm::StringRef path);

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_BYTESOURCE_H
