// How the compiled code sees memory: MLIR's descriptors of one-dimensional memrefs.
#pragma once

#include <cstdint>

namespace convbert::rt {

/// memref<?xT>, and also an element of memref<?xmemref<?xi8>> (a table of byte spans).
struct MemRef1D {
  void *allocated = nullptr;
  void *aligned = nullptr;
  int64_t offset = 0;
  int64_t size = 0;
  int64_t stride = 1;

  MemRef1D() = default;
  /// `count` elements from `data` on.  The compiled code does not write to what it was told to be input.
  MemRef1D(const void *data, int64_t count)
      : allocated(const_cast<void *>(data)), aligned(const_cast<void *>(data)), size(count) {}
};
static_assert(sizeof(MemRef1D) == 40, "the layout is fixed by the compiled code");

} // namespace convbert::rt
