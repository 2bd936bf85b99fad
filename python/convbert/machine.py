"""What this process has in memory, and how fast the machine copies."""

from __future__ import annotations

import re
import resource
import threading
import time

import numpy as np

#: Bytes that one thread copies in a go: more than caches hold, even large ones of servers.
_COPY_BYTES = 256 << 20


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
