#include "lib/Runtime/MappedFile.h"

#include "lib/Runtime/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace convbert::rt;

MappedFile::MappedFile(const std::string &path) : name(path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw Failure("weight file " + path + " cannot be opened: " + std::strerror(errno));
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    close(fd);
    throw Failure("weight file " + path + ": requires a non-empty regular file");
  }
  length = static_cast<size_t>(status.st_size);
  void *address = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  close(fd);
  if (address == MAP_FAILED)
    throw Failure("weight file " + path + " cannot be mapped: " + std::strerror(error));
  base = static_cast<char *>(address);
  // Packing reads the tensors about once and in order.  Advice only: failure changes nothing.
  madvise(base, length, MADV_SEQUENTIAL);
  madvise(base, length, MADV_WILLNEED);
}

MappedFile::~MappedFile() { munmap(base, length); }

void MappedFile::dropResidentPages() const { madvise(base, length, MADV_DONTNEED); }
