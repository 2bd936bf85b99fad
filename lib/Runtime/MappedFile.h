// A weight file, mapped read-only.
#pragma once

#include <cstddef>
#include <string>

namespace convbert::rt {

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

  /// Takes the pages read so far off this process's memory; they stay in the page cache and come back when read again.
  void dropResidentPages() const;

private:
  std::string name;
  char *base = nullptr;
  size_t length = 0;
};

} // namespace convbert::rt
