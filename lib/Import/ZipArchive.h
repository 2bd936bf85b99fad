//===- ZipArchive.h - Directories of zip archives ---------------*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_ZIPARCHIVE_H
#define CONVBERT_LIB_IMPORT_ZIPARCHIVE_H

#include "lib/Import/ByteSource.h"
#include "lib/Import/TensorInfo.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mlir::convbert {

/// A zip archive of unknown origin.  Nothing is ever written to where its names point.
class ZipArchive {
public:
  /// Reads the directory.  Errors (one line, naming file and member): an archive that is cut or contradicts itself,
  /// names twice, members that are encrypted, of an unknown compression method, or beyond the end of the file.
  static llvm::Expected<ZipArchive> open(const ByteSource &source);

  /// In the order of the directory.
  llvm::ArrayRef<ZipMember> getMembers() const { return members; }
  const ZipMember *find(llvm::StringRef name) const;

  /// The unpacked bytes of a member of at most `limit` bytes, whose checksum was compared.
  llvm::Expected<std::string> read(const ZipMember &member, uint64_t limit) const;

  /// The first bytes of a member, at most `limit`.
  llvm::Expected<std::string> readStart(const ZipMember &member, uint64_t limit) const;

  /// Passes the unpacked bytes of a member on, piece by piece, and compares the checksum at the end.
  llvm::Error stream(const ZipMember &member, llvm::function_ref<llvm::Error(llvm::StringRef piece)> consume) const;

private:
  struct Handle;
  explicit ZipArchive(std::shared_ptr<Handle> handle) : handle(std::move(handle)) {}
  llvm::Error readDirectory();
  llvm::Error addCurrent();
  llvm::Error select(const ZipMember &member) const;
  llvm::Error error(const llvm::Twine &message) const;
  llvm::Error memberError(llvm::StringRef name, const llvm::Twine &message) const;

  std::shared_ptr<Handle> handle;
  std::vector<ZipMember> members;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_ZIPARCHIVE_H
