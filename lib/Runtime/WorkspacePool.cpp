#include "lib/Runtime/WorkspacePool.h"

using namespace convbert::rt;

void Workspace::reserve(size_t bytes) {
  if (bytes <= memory.size())
    return;
  // Freed first, so that the peak is the larger of the two and not their sum.
  {
    Memory old = std::move(memory);
  }
  memory = Memory(bytes);
}

WorkspacePool::WorkspacePool(size_t limit) : limit(limit) {
  all.reserve(limit);
  idle.reserve(limit);
}

Workspace *WorkspacePool::take() {
  std::unique_lock<std::mutex> lock(mutex);
  if (idle.empty() && all.size() < limit) {
    all.push_back(std::make_unique<Workspace>());
    return all.back().get();
  }
  returned.wait(lock, [this] { return !idle.empty(); });
  Workspace *workspace = idle.back();
  idle.pop_back();
  return workspace;
}

void WorkspacePool::giveBack(Workspace *workspace) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(workspace);
  }
  returned.notify_one();
}

void WorkspacePool::reserve(Workspace &workspace, size_t bytes) {
  size_t before = workspace.memory.size();
  if (bytes <= before)
    return;
  auto count = [&](size_t less, size_t more) {
    std::lock_guard<std::mutex> lock(mutex);
    held = held - less + more;
  };
  count(before, 0);
  workspace.reserve(bytes);
  count(0, workspace.memory.size());
}

size_t WorkspacePool::heldBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  return held;
}
