// Large anonymous memory: packed weights and workspaces.
#pragma once

#include <cstddef>

namespace convbert::rt {

/// Zero-filled memory straight from the system; from 1 MiB on aligned to 2 MiB and backed by huge pages where the
/// system has them (a base-size model reads its 420 MB of weights once a call, and 4 KiB pages would miss the TLB on
/// every panel).
class Memory {
public:
  Memory() = default;
  /// Throws Failure when the system has not that much.
  explicit Memory(size_t bytes);
  ~Memory();
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept {
    swap(other);
    return *this;
  }

  char *data() const { return aligned; }
  /// Bytes usable from data() on.
  size_t size() const { return usable; }

private:
  void swap(Memory &other) noexcept;

  void *base = nullptr;
  size_t mapped = 0;
  char *aligned = nullptr;
  size_t usable = 0;
};

} // namespace convbert::rt
