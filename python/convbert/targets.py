"""What the compiler makes code for: the levels of CPUs, and which one this machine has. No compiler is needed here."""

from __future__ import annotations

from dataclasses import dataclass

# What a level may use beyond the one before it, by the names of /proc/cpuinfo.
_V2 = ("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3")
_V3 = (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")


@dataclass(frozen=True)
class Level:
    """A CPU without a maker."""

    #: The target's name.
    name: str
    #: Instruction set of the schedules.
    isa: str
    #: Features that a CPU must have, by the names of /proc/cpuinfo.
    features: tuple[str, ...]
    #: What `platform.machine()` says there.
    machine: str = "x86_64"


#: From the one that most CPUs have.
LEVELS = (Level("x86-64-v2", "generic", _V2), Level("x86-64-v3", "avx2", _V3), Level("x86-64-v4", "avx512", _V4),
          Level("x86-64-v4-bf16", "avx512", (*_V4, "avx512_bf16")), Level("aarch64", "neon", ("asimd",), "aarch64"))
#: Names of all targets.
TARGETS = ("native", *(level.name for level in LEVELS))


def cpu_flags() -> set[str]:
    """Features of this machine's CPU, by Linux's names; empty if they cannot be read."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    return set()


def find_level(name: str) -> Level | None:
    """The level called `name`."""
    return next((level for level in LEVELS if level.name == name), None)


def host_level(flags: set[str]) -> Level | None:
    """The last level of which a machine with these features has all."""
    return next((level for level in reversed(LEVELS) if flags >= set(level.features)), None)
