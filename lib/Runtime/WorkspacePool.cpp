#include "lib/Runtime/WorkspacePool.h"

#include <algorithm>
#include <new>

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
  attach();
}

WorkspacePool::~WorkspacePool() { detach(); }

void WorkspacePool::beforeFork() { mutex.lock(); }

void WorkspacePool::afterForkInParent() { mutex.unlock(); }

void WorkspacePool::afterForkInChild() {
  // The others belong to calls that this process will never finish.  A call may have been growing one, so that it is
  // left alone rather than freed.
  held = 0;
  auto isIdle = [&](const std::unique_ptr<Workspace> &workspace) {
    return std::find(idle.begin(), idle.end(), workspace.get()) != idle.end();
  };
  for (std::unique_ptr<Workspace> &workspace : all)
    isIdle(workspace) ? void(held += workspace->memory.size()) : void(workspace.release());
  all.erase(std::remove(all.begin(), all.end(), nullptr), all.end());
  // It may count waiters that are gone, and its destructor would wait for them.
  new (&returned) std::condition_variable;
  mutex.unlock();
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
