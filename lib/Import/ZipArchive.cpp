//===- ZipArchive.cpp - Directories of zip archives -------------*- C++ -*-===//

#include "lib/Import/ZipArchive.h"
#include "lib/Import/JSONText.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include <minizip/unzip.h>

using llvm::Twine;

namespace mlir::convbert {

/// minizip's view of a byte source: a file with a position.
struct ZipArchive::Handle {
  explicit Handle(const ByteSource &source) : source(source) {}
  ~Handle() {
    if (file)
      unzClose(file);
  }

  static voidpf open(voidpf opaque, const void *, int) { return opaque; }
  static uLong read(voidpf opaque, voidpf, void *buffer, uLong size) {
    auto *self = static_cast<Handle *>(opaque);
    uint64_t left = self->source.getSize() - std::min(self->position, self->source.getSize());
    size = std::min<uint64_t>(size, left);
    if (llvm::Error failure = self->source.read({static_cast<char *>(buffer), size}, self->position)) {
      llvm::consumeError(std::move(failure));
      self->failed = true;
      return 0;
    }
    self->position += size;
    return size;
  }
  static uLong write(voidpf, voidpf, const void *, uLong) { return 0; }
  static ZPOS64_T tell(voidpf opaque, voidpf) { return static_cast<Handle *>(opaque)->position; }
  static long seek(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
    auto *self = static_cast<Handle *>(opaque);
    uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR   ? self->position
                    : origin == ZLIB_FILEFUNC_SEEK_END ? self->source.getSize()
                                                       : 0;
    if (base + offset < base || base + offset > self->source.getSize())
      return -1;
    self->position = base + offset;
    return 0;
  }
  static int close(voidpf, voidpf) { return 0; }
  static int error(voidpf opaque, voidpf) { return static_cast<Handle *>(opaque)->failed; }

  const ByteSource &source;
  uint64_t position = 0;
  bool failed = false;
  unzFile file = nullptr;
};

llvm::Error ZipArchive::error(const Twine &message) const {
  return importError(handle->source.getPath() + ": zip archive: " + message);
}

llvm::Error ZipArchive::memberError(llvm::StringRef name, const Twine &message) const {
  return error("record " + quoted(name) + ": " + message);
}

llvm::Expected<ZipArchive> ZipArchive::open(const ByteSource &source) {
  auto handle = std::make_shared<Handle>(source);
  zlib_filefunc64_def functions = {Handle::open, Handle::read,  Handle::write, Handle::tell,
                                   Handle::seek, Handle::close, Handle::error, handle.get()};
  handle->file = unzOpen2_64("", &functions);
  ZipArchive archive(handle);
  if (!handle->file)
    return archive.error("requires a central directory at the end, but found none that fits the file: truncated?");
  if (llvm::Error failure = archive.readDirectory())
    return std::move(failure);
  return archive;
}

/// Appends the member that the handle stands at.
llvm::Error ZipArchive::addCurrent() {
  constexpr size_t maxName = 1024;
  char name[maxName + 1];
  unz_file_info64 info;
  if (unzGetCurrentFileInfo64(handle->file, &info, name, sizeof(name), nullptr, 0, nullptr, 0) != UNZ_OK)
    return error("the directory is corrupt");
  // minizip cuts longer names.
  if (info.size_filename > maxName)
    return error("requires names of at most " + Twine(maxName) + " bytes, but found one of " +
                 Twine(info.size_filename));
  ZipMember member;
  member.name.assign(name, info.size_filename);
  member.position = unzGetOffset64(handle->file);
  member.packedBytes = info.compressed_size;
  member.bytes = info.uncompressed_size;
  member.crc = info.crc;
  if (llvm::StringRef(member.name).ends_with("/") && member.bytes == 0)
    return llvm::Error::success(); // a folder
  if (info.flag & 1)
    return memberError(member.name, "requires plain bytes, but found the flag for encrypted ones");
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
    return memberError(member.name, "requires bytes that are stored or deflated, but found compression method " +
                                        Twine(info.compression_method));
  member.deflated = info.compression_method == Z_DEFLATED;
  if (!member.deflated && member.packedBytes != member.bytes)
    return memberError(member.name, "requires equal sizes of stored bytes, but found a packed size of " +
                                        Twine(member.packedBytes) + " and an unpacked size of " + Twine(member.bytes));
  // Compares the directory with the member's own header.
  if (unzOpenCurrentFile(handle->file) != UNZ_OK)
    return memberError(member.name, "its header does not agree with the directory (size, offset or checksum): the "
                                    "archive is corrupt or truncated");
  member.dataOffset = unzGetCurrentFileZStreamPos64(handle->file);
  unzCloseCurrentFile(handle->file);
  uint64_t size = handle->source.getSize();
  if (member.dataOffset > size || member.packedBytes > size - member.dataOffset)
    return memberError(member.name, "requires a size that ends inside the file, but found " +
                                        Twine(member.packedBytes) + " bytes from " + Twine(member.dataOffset) +
                                        " on in a file of " + Twine(size) + " bytes");
  members.push_back(std::move(member));
  return llvm::Error::success();
}

llvm::Error ZipArchive::readDirectory() {
  llvm::StringSet<> names;
  int status = unzGoToFirstFile(handle->file);
  for (; status == UNZ_OK; status = unzGoToNextFile(handle->file)) {
    size_t count = members.size();
    if (llvm::Error failure = addCurrent())
      return failure;
    if (members.size() > count && !names.insert(members.back().name).second)
      return error("requires every name once, but found " + quoted(members.back().name) + " more than once");
  }
  if (status != UNZ_END_OF_LIST_OF_FILE)
    return error("the directory is corrupt or truncated after " + Twine(members.size()) + " records");
  return llvm::Error::success();
}

const ZipMember *ZipArchive::find(llvm::StringRef name) const {
  for (const ZipMember &member : members)
    if (member.name == name)
      return &member;
  return nullptr;
}

llvm::Error ZipArchive::select(const ZipMember &member) const {
  if (unzSetOffset64(handle->file, member.position) != UNZ_OK || unzOpenCurrentFile(handle->file) != UNZ_OK)
    return memberError(member.name, "cannot be read; has the file changed?");
  return llvm::Error::success();
}

llvm::Error ZipArchive::stream(const ZipMember &member,
                               llvm::function_ref<llvm::Error(llvm::StringRef piece)> consume) const {
  if (llvm::Error failure = select(member))
    return failure;
  bool open = true;
  auto close = llvm::scope_exit([&] {
    if (open)
      unzCloseCurrentFile(handle->file);
  });
  std::vector<char> buffer(std::min<uint64_t>(member.bytes, 1u << 18) + 1);
  // No more than the directory promises is unpacked, whatever the deflated bytes hold.
  uint64_t left = member.bytes;
  while (left > 0) {
    int count = unzReadCurrentFile(handle->file, buffer.data(), std::min<uint64_t>(left, buffer.size()));
    if (count <= 0)
      return memberError(member.name, "requires " + Twine(member.bytes) + " bytes, but the " +
                                          (member.deflated ? "deflated" : "stored") +
                                          " bytes end or are corrupt after " + Twine(member.bytes - left));
    if (llvm::Error failure = consume({buffer.data(), size_t(count)}))
      return failure;
    left -= count;
  }
  open = false;
  if (unzCloseCurrentFile(handle->file) == UNZ_CRCERROR)
    return memberError(member.name, "its checksum (CRC) is not that of its " + Twine(member.bytes) +
                                        " bytes: corrupt, or a size that is a lie");
  return llvm::Error::success();
}

llvm::Expected<std::string> ZipArchive::read(const ZipMember &member, uint64_t limit) const {
  if (member.bytes > limit)
    return memberError(member.name,
                       "requires at most " + Twine(limit) + " bytes, but found a size of " + Twine(member.bytes));
  std::string text;
  if (llvm::Error failure = stream(member, [&](llvm::StringRef piece) {
        text += piece;
        return llvm::Error::success();
      }))
    return std::move(failure);
  return text;
}

llvm::Expected<std::string> ZipArchive::readStart(const ZipMember &member, uint64_t limit) const {
  if (llvm::Error failure = select(member))
    return std::move(failure);
  std::string text(std::min(limit, member.bytes), '\0');
  int count = unzReadCurrentFile(handle->file, text.data(), text.size());
  unzCloseCurrentFile(handle->file);
  if (count != int(text.size()))
    return memberError(member.name, "its bytes are corrupt");
  return text;
}

} // namespace mlir::convbert
