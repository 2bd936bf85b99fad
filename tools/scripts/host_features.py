"""What the processor offers to compiled models: names that lit files put into REQUIRES."""

# x86-64-v2, -v3 and -v4, as far as the kernels depend on them.
FLAGS = {
    "generic": {"ssse3", "sse4_1", "sse4_2", "popcnt"},
    "avx2": {"avx2", "fma", "bmi2", "f16c"},
    "avx512": {"avx2", "fma", "bmi2", "f16c", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def host_features(cpuinfo="/proc/cpuinfo"):
    """Returns the subset of {"generic", "avx2", "avx512"} that the processor described by `cpuinfo` has (empty if unreadable)."""
    flags = set()
    try:
        with open(cpuinfo, encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    flags = set(line.partition(":")[2].split())
                    break
    except OSError:
        pass
    return {name for name, needed in FLAGS.items() if needed <= flags}
