// Scratch memory for concurrent calls.
#pragma once

#include "lib/Runtime/ForkGuard.h"
#include "lib/Runtime/MemRef.h"
#include "lib/Runtime/Memory.h"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace convbert::rt {

/// All that one call needs beside its arguments.  Only grows: a shape seen before allocates nothing.
struct Workspace {
  Memory memory;
  std::vector<int64_t> shape;
  /// Stand-ins for inputs left out.
  std::vector<int64_t> defaults;
  std::vector<MemRef1D> inputs, outputs;

  /// Makes `memory` hold at least `bytes`; its contents are lost.
  void reserve(size_t bytes);
};

/// At most `limit` workspaces; who comes when all are taken waits.  After a fork, the child has those that were idle,
/// and may make as many as the parent.
class WorkspacePool : private ForkGuard {
public:
  explicit WorkspacePool(size_t limit);
  ~WorkspacePool() override;

  /// A workspace taken from the pool, given back at the end of its scope.
  class Lease {
  public:
    explicit Lease(WorkspacePool &pool) : pool(pool), workspace(pool.take()) {}
    ~Lease() { pool.giveBack(workspace); }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    Workspace *operator->() const { return workspace; }
    Workspace &operator*() const { return *workspace; }

  private:
    WorkspacePool &pool;
    Workspace *workspace;
  };

  /// Makes workspace memory of `bytes` for `workspace` and counts it.
  void reserve(Workspace &workspace, size_t bytes);

  /// Bytes that all workspaces hold.
  size_t heldBytes() const;

private:
  Workspace *take();
  void giveBack(Workspace *workspace);
  void beforeFork() override;
  void afterForkInParent() override;
  void afterForkInChild() override;

  const size_t limit;
  mutable std::mutex mutex;
  std::condition_variable returned;
  std::vector<std::unique_ptr<Workspace>> all;
  /// Last given back, first taken: its memory is warm and, for one caller, always the same.
  std::vector<Workspace *> idle;
  size_t held = 0;
};

} // namespace convbert::rt
