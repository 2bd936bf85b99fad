// Locks across fork(): a child starts with the memory of all threads of its parent, but with one thread only.
#pragma once

namespace convbert::rt {

/// Something with a lock that another thread may hold at the moment of a fork.  Whoever derives from it calls attach()
/// at the end of its constructor and detach() at the start of its destructor.
class ForkGuard {
public:
  ForkGuard() = default;
  virtual ~ForkGuard() = default;
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;

  /// Before a fork: take the lock, so that what it guards is whole.
  virtual void beforeFork() = 0;
  /// In the parent: let go of it.
  virtual void afterForkInParent() = 0;
  /// In the child: let go of it, and forget what other threads were doing; they are gone.
  virtual void afterForkInChild() = 0;

protected:
  void attach();
  void detach();
};

} // namespace convbert::rt
