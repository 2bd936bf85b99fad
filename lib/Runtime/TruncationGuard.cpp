#include "lib/Runtime/TruncationGuard.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace convbert::rt;

namespace {
struct Range {
  std::atomic<uintptr_t> begin{0};
  std::atomic<size_t> bytes{0};
  std::atomic<bool> tripped{false};
};
} // namespace

// What a signal handler may look at: plain atomics, no locks, no memory of the heap.
static constexpr int kSlots = 256;
static Range ranges[kSlots];
static struct sigaction previous;
static uintptr_t pageBytes;

// Guarded by the mutex: how many guards live, and thereby whether the handler is installed.
static std::mutex mutex;
static int guards;

static void onBusError(int signal, siginfo_t *info, void *context) {
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Range &range : ranges) {
    uintptr_t begin = range.begin;
    if (!begin || address < begin || address - begin >= range.bytes)
      continue;
    void *page = reinterpret_cast<void *>(address & ~(pageBytes - 1));
    if (mmap(page, pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      break;
    range.tripped = true;
    return; // and read again
  }
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The instruction faults again and finds the default.
    std::signal(SIGBUS, SIG_DFL);
  }
}

TruncationGuard::TruncationGuard(void *base, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  for (int i = 0; i < kSlots && slot < 0; ++i)
    if (!ranges[i].begin)
      slot = i;
  if (slot < 0)
    return;
  if (guards++ == 0) {
    pageBytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
  }
  ranges[slot].tripped = false;
  ranges[slot].bytes = bytes;
  ranges[slot].begin = reinterpret_cast<uintptr_t>(base);
}

TruncationGuard::~TruncationGuard() {
  std::lock_guard<std::mutex> lock(mutex);
  if (slot < 0)
    return;
  ranges[slot].begin = 0;
  if (--guards > 0)
    return;
  struct sigaction current;
  // A handler that was installed since stays.
  if (sigaction(SIGBUS, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) &&
      current.sa_sigaction == onBusError)
    sigaction(SIGBUS, &previous, nullptr);
}

bool TruncationGuard::tripped() const { return slot >= 0 && ranges[slot].tripped; }
