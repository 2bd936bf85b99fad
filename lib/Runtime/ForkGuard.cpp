#include "lib/Runtime/ForkGuard.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <vector>

using namespace convbert::rt;

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<ForkGuard *> guards;
};
} // namespace

/// Never destroyed: a fork may come while the process exits.
static Registry &registry() {
  static Registry *instance = new Registry;
  return *instance;
}

static void prepare() {
  registry().mutex.lock();
  for (ForkGuard *guard : registry().guards)
    guard->beforeFork();
}

static void inParent() {
  for (ForkGuard *guard : registry().guards)
    guard->afterForkInParent();
  registry().mutex.unlock();
}

static void inChild() {
  for (ForkGuard *guard : registry().guards)
    guard->afterForkInChild();
  registry().mutex.unlock();
}

void ForkGuard::attach() {
  static int registered = pthread_atfork(prepare, inParent, inChild);
  (void)registered;
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().guards.push_back(this);
}

void ForkGuard::detach() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto &guards = registry().guards;
  guards.erase(std::find(guards.begin(), guards.end(), this));
}
