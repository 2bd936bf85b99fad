// Reading mapped files that somebody may shorten.
#pragma once

#include <cstddef>

namespace convbert::rt {

/// A mapped page that its file has lost ends the process (SIGBUS) when it is read.  While a guard lives, such pages of
/// its range read as zeros instead, and tripped() says so.  Other bus errors go where they went before.
class TruncationGuard {
public:
  /// Guards [base, base + bytes), which starts at a page.
  TruncationGuard(void *base, size_t bytes);
  ~TruncationGuard();
  TruncationGuard(const TruncationGuard &) = delete;
  TruncationGuard &operator=(const TruncationGuard &) = delete;

  bool tripped() const;

private:
  /// The guard's place in a table of fixed size, or -1 if that was full: then nothing is guarded.
  int slot = -1;
};

} // namespace convbert::rt
