//===- UnpackedFile.cpp - Where deflated weights are unpacked to -*- C++ -*-===//

#include "lib/Import/UnpackedFile.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

namespace mlir::convbert {

/// Members start at a cache line.
static constexpr uint64_t kAlignment = 64;

UnpackedFile::~UnpackedFile() {
  if (!stream)
    return;
  stream->clear_error();
  stream.reset();
  llvm::sys::fs::remove(temporary);
}

llvm::Error UnpackedFile::error(std::error_code code) const {
  return importError(origin + ": its deflated records cannot be unpacked to " + directory + ": " + code.message() +
                     "; repack the archive without compression, or make room");
}

llvm::Error UnpackedFile::begin(const DirectoryProvider &provider) {
  if (stream)
    return llvm::Error::success();
  llvm::Expected<std::string> place = provider();
  if (!place)
    return place.takeError();
  directory = *place;
  int descriptor;
  llvm::SmallString<256> path;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(directory + "/unpacked-%%%%%%%%.tmp", descriptor, path,
                                                             llvm::sys::fs::OF_None,
                                                             llvm::sys::fs::owner_read | llvm::sys::fs::owner_write))
    return error(code);
  temporary = path.str().str();
  stream = std::make_unique<llvm::raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  return llvm::Error::success();
}

llvm::Error UnpackedFile::append(llvm::StringRef bytes) {
  hash.update(bytes);
  *stream << bytes;
  return stream->has_error() ? error(stream->error()) : llvm::Error::success();
}

uint64_t UnpackedFile::endMember(uint64_t bytes) {
  uint64_t start = stream->tell() - bytes;
  stream->write_zeros(llvm::alignTo(bytes, kAlignment) - bytes);
  return start;
}

llvm::Expected<std::string> UnpackedFile::finish() {
  stream->close();
  if (stream->has_error())
    return error(stream->error());
  std::string name = directory + "/unpacked-" + llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 32) + ".bin";
  if (std::error_code code = llvm::sys::fs::rename(temporary, name))
    return error(code);
  stream.reset();
  return name;
}

} // namespace mlir::convbert
