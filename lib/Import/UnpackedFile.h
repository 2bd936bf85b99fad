//===- UnpackedFile.h - Where deflated weights are unpacked to --*- C++ -*-===//

#ifndef CONVBERT_LIB_IMPORT_UNPACKEDFILE_H
#define CONVBERT_LIB_IMPORT_UNPACKEDFILE_H

#include "lib/Import/TensorContents.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::convbert {

/// A file that is written once: members one after the other.  It gets its name, the hash of its bytes, at the end;
/// until then, and if that never comes, it is a temporary file that goes away.
class UnpackedFile {
public:
  /// `origin` is the archive, for messages.
  explicit UnpackedFile(llvm::StringRef origin) : origin(origin) {}
  ~UnpackedFile();

  /// Makes the file in the directory that `provider` gives, if that has not been done.
  llvm::Error begin(const DirectoryProvider &provider);
  bool isOpen() const { return stream != nullptr; }

  /// Appends bytes of the current member.
  llvm::Error append(llvm::StringRef bytes);
  /// Ends the current member, of `bytes` bytes, and returns where it starts.
  uint64_t endMember(uint64_t bytes);

  /// Closes the file and gives it its name, which is returned.
  llvm::Expected<std::string> finish();

private:
  llvm::Error error(std::error_code code) const;

  std::string origin, directory, temporary;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
  llvm::SHA256 hash;
};

} // namespace mlir::convbert

#endif // CONVBERT_LIB_IMPORT_UNPACKEDFILE_H
