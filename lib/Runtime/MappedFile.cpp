#include "lib/Runtime/MappedFile.h"

#include "lib/Runtime/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace convbert::rt;

static FileStamp stampOf(const struct stat &status) {
  return {static_cast<int64_t>(status.st_size),
          static_cast<int64_t>(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec};
}

MappedFile::MappedFile(const std::string &path) : name(path) {
  descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would be waited for
  if (descriptor < 0)
    throw Failure("weight file " + path + " cannot be opened: " + std::strerror(errno));
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    close(descriptor);
    throw Failure("weight file " + path + ": requires a non-empty regular file");
  }
  mapped = stampOf(status);
  length = static_cast<size_t>(status.st_size);
  void *address = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    int error = errno;
    close(descriptor);
    throw Failure("weight file " + path + " cannot be mapped: " + std::strerror(error));
  }
  base = static_cast<char *>(address);
  guard = std::make_unique<TruncationGuard>(base, length);
  // Packing reads the tensors about once and in order.  Advice only: failure changes nothing.
  madvise(base, length, MADV_SEQUENTIAL);
  madvise(base, length, MADV_WILLNEED);
}

MappedFile::~MappedFile() {
  guard.reset();
  munmap(base, length);
  close(descriptor);
}

void MappedFile::checkUnchanged() const {
  struct stat status;
  if (guard->tripped() || fstat(descriptor, &status) != 0 || !(stampOf(status) == mapped))
    throw Failure("weight file " + name + " was changed while it was read; load the checkpoint again");
}

void MappedFile::expectRepeatedReads() const {
  madvise(base, length, MADV_NORMAL);
  madvise(base, length, MADV_HUGEPAGE); // for file systems that can
  madvise(base, length, MADV_WILLNEED);
}

void MappedFile::dropResidentPages() const { madvise(base, length, MADV_DONTNEED); }
