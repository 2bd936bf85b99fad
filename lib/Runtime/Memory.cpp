#include "lib/Runtime/Memory.h"

#include "lib/Runtime/Error.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <utility>

using namespace convbert::rt;

static constexpr size_t kHugePage = size_t(2) << 20;
static constexpr size_t kPage = size_t(4) << 10;
/// Less than this fits few pages of any size, and a huge one would be cleared as a whole: the weights of one operation.
static constexpr size_t kSmall = size_t(1) << 20;

Memory::Memory(size_t bytes) {
  if (bytes > SIZE_MAX / 2)
    throw Failure("requires less memory than 2^63 bytes, but found a demand for " + std::to_string(bytes));
  if (bytes < kSmall) {
    mapped = usable = std::max((bytes + kPage - 1) / kPage, size_t(1)) * kPage;
    base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
      base = nullptr;
      throw Failure("requires " + std::to_string(usable) + " bytes of memory, but the system refused it");
    }
    aligned = static_cast<char *>(base);
    return;
  }
  usable = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  mapped = usable + kHugePage;
  base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    base = nullptr;
    throw Failure("requires " + std::to_string(usable >> 20) + " MiB of memory, but the system refused it");
  }
  auto address = reinterpret_cast<uintptr_t>(base);
  aligned = reinterpret_cast<char *>((address + kHugePage - 1) / kHugePage * kHugePage);
  madvise(aligned, usable, MADV_HUGEPAGE);
}

Memory::~Memory() {
  if (base)
    munmap(base, mapped);
}

void Memory::swap(Memory &other) noexcept {
  std::swap(base, other.base);
  std::swap(mapped, other.mapped);
  std::swap(aligned, other.aligned);
  std::swap(usable, other.usable);
}
