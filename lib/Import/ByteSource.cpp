//===- ByteSource.cpp - Bytes of unknown origin -----------------*- C++ -*-===//

#include "lib/Import/ByteSource.h"
#include "lib/Import/JSONText.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

using llvm::Twine;

namespace mlir::convbert {

llvm::Error ByteSource::checkRange(uint64_t offset, uint64_t count) const {
  if (offset <= size && count <= size - offset)
    return llvm::Error::success();
  return importError(getPath() + ": truncated: requires " + Twine(count) + " bytes from " + Twine(offset) +
                     " on, but found only " + Twine(size) + " bytes in the file");
}

llvm::Error ByteSource::read(llvm::MutableArrayRef<char> bytes, uint64_t offset) const {
  // Also if the file has grown since.
  if (llvm::Error failure = checkRange(offset, bytes.size()))
    return failure;
  uint64_t end = offset + bytes.size();
  while (!bytes.empty()) {
    llvm::Expected<size_t> count = readSome(bytes, offset);
    if (!count)
      return importError(getPath() + ": cannot read: " + llvm::toString(count.takeError()));
    if (*count == 0)
      return importError(getPath() + ": truncated: requires bytes up to " + Twine(end) + ", but found only " +
                         Twine(offset));
    bytes = bytes.drop_front(*count);
    offset += *count;
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> ByteSource::read(uint64_t offset, uint64_t count) const {
  if (llvm::Error failure = checkRange(offset, count))
    return std::move(failure);
  std::string text(count, '\0');
  if (llvm::Error failure = read({text.data(), text.size()}, offset))
    return std::move(failure);
  return text;
}

namespace {

class FileSource : public ByteSource {
public:
  FileSource(llvm::StringRef path, const llvm::sys::fs::file_status &status, llvm::sys::fs::file_t file)
      : ByteSource(path, status.getSize(), status.getLastModificationTime().time_since_epoch().count()), file(file) {}
  ~FileSource() override { llvm::sys::fs::closeFile(file); }

private:
  llvm::Expected<size_t> readSome(llvm::MutableArrayRef<char> bytes, uint64_t offset) const override {
    return llvm::sys::fs::readNativeFileSlice(file, bytes, offset);
  }

  mutable llvm::sys::fs::file_t file;
};

class MemorySource : public ByteSource {
public:
  MemorySource(llvm::StringRef path, llvm::StringRef content) : ByteSource(path, content.size()), content(content) {}

private:
  llvm::Expected<size_t> readSome(llvm::MutableArrayRef<char> bytes, uint64_t offset) const override {
    llvm::StringRef part = content.substr(offset, bytes.size());
    std::memcpy(bytes.data(), part.data(), part.size());
    return part.size();
  }

  llvm::StringRef content;
};

} // namespace

llvm::Expected<std::unique_ptr<ByteSource>> openFile(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return importError(path + ": cannot open: " + code.message());
  // A pipe or a device would be waited for.
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return importError(path + ": requires a regular file, but found something else");
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return importError(path + ": cannot open: " + llvm::toString(file.takeError()));
  // What is open counts, should the name mean another file by now.
  if (std::error_code code = llvm::sys::fs::status(*file, status)) {
    llvm::sys::fs::closeFile(*file);
    return importError(path + ": cannot open: " + code.message());
  }
  return std::make_unique<FileSource>(path, status, *file);
}

std::unique_ptr<ByteSource> openMemory(llvm::StringRef bytes, llvm::StringRef path) {
  return std::make_unique<MemorySource>(path, bytes);
}

llvm::Expected<bool> pathExists(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  std::error_code code = llvm::sys::fs::status(path, status);
  if (!code)
    return true;
  if (code == std::errc::no_such_file_or_directory)
    return false;
  return importError(path + ": cannot open: " + code.message());
}

} // namespace mlir::convbert
