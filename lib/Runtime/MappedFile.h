// A weight file, mapped read-only: processes that map the same one share its memory.
#pragma once

#include "lib/Runtime/TruncationGuard.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace convbert::rt {

/// What tells one content of a file from another without reading it.
struct FileStamp {
  int64_t bytes = 0;
  /// Nanoseconds since 1970.
  int64_t modified = 0;

  bool operator==(const FileStamp &other) const { return bytes == other.bytes && modified == other.modified; }
};

class MappedFile {
public:
  /// Maps the whole file.  Throws Failure if it cannot be opened, is empty or is no regular file.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return name; }
  /// Bytes of the file when it was mapped.
  size_t size() const { return length; }
  char *data() const { return base; }
  const FileStamp &stamp() const { return mapped; }

  /// Throws Failure if somebody has written to the file since it was mapped (replacing it by another file of that name
  /// does no harm).
  void checkUnchanged() const;

  /// Whether somebody shortened the file and pages of it were read as zeros since.
  bool lostPages() const { return guard->tripped(); }

  /// Says that the file is read again and again, in any order; without it, once and in order.
  void expectRepeatedReads() const;

  /// Takes the pages read so far off this process's memory; they stay in the page cache and come back when read again.
  void dropResidentPages() const;

private:
  std::string name;
  int descriptor = -1;
  char *base = nullptr;
  size_t length = 0;
  FileStamp mapped;
  std::unique_ptr<TruncationGuard> guard;
};

} // namespace convbert::rt
