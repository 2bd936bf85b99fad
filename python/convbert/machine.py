"""Which CPU this is, what this process has in memory, and how fast the machine copies."""

from __future__ import annotations

import math
import platform
import re
import resource
import threading
import time

import numpy as np

#: Bytes that one thread copies in a go: more than caches hold, even large ones of servers.
_COPY_BYTES = 256 << 20


def cpu_name() -> str:
    """The model name of this CPU as Linux gives it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def rss_bytes() -> int:
    """Memory of this process that is resident now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def reset_peak() -> None:
    """Lets peak_bytes() begin from now; where the system does not allow it, from the start of the process."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def peak_bytes() -> int:
    """The most memory of this process that was resident at a time."""
    with open("/proc/self/status", encoding="ascii") as file:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", file.read(), re.MULTILINE)
    return int(found[1]) << 10 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def copy_gbps(threads: int, count: int = _COPY_BYTES, goes: int = 3) -> float:
    """1e9 bytes a second that `threads` threads together copy to memory fresh from the system, which clears it first;
    the best of some goes."""
    share = max(count // threads // 8, 1)
    sources = [np.ones(share, np.float64) for _ in range(threads)]

    def copy_all() -> float:
        others = [threading.Thread(target=source.copy) for source in sources[1:]]
        start = time.perf_counter()
        for other in others:
            other.start()
        sources[0].copy()
        for other in others:
            other.join()
        return time.perf_counter() - start

    return threads * share * 8 / min(copy_all() for _ in range(goes)) * 1e-9


def moved_gbps(count: int, threads: int, seconds: float) -> float:
    """1e9 bytes a second, read and written, that `threads` threads together move who each copy a share of `count` bytes
    (half of them read, half written) again and again for `seconds`: from where the caches hold so many."""
    share = max(count // threads // 8, 1)  # of elements of 4 bytes, in two arrays
    rates = [0.0] * threads
    together = threading.Barrier(threads)

    def copy(index: int) -> None:
        source, target = np.ones(share, np.float32), np.empty(share, np.float32)
        # So many in a go that reading the clock does not count.
        repeats = max((1 << 18) // share, 1)
        together.wait()
        best = math.inf
        start = now = time.perf_counter()
        while now - start < seconds:
            before = now
            for _ in range(repeats):
                np.copyto(target, source)
            now = time.perf_counter()
            best = min(best, now - before)
        rates[index] = repeats * share * 8 / best * 1e-9

    others = [threading.Thread(target=copy, args=(index,)) for index in range(1, threads)]
    for other in others:
        other.start()
    copy(0)
    for other in others:
        other.join()
    return sum(rates)
