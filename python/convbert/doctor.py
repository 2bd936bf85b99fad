"""What this machine has and what is missing for what."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from typing import Any

from . import __version__, cache
from .errors import Error
from .machine import cpu_name
from .targets import LEVELS, cpu_flags, host_level

#: Packages that something needs, and what.
PACKAGES = {
    "numpy": "everything", "tokenizers": "text", "rich": "progress bars", "pyarrow": "Parquet files",
    "torch": "comparisons with transformers", "transformers": "comparisons with transformers",
    "onnxruntime": "comparisons of speed", "openvino": "comparisons of speed",
}
#: Features that some code uses.
_USED = {feature for level in LEVELS for feature in level.features}


def _gpu_driver() -> str | None:
    """The NVIDIA driver's version, or None."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8", errors="replace") as file:
            words = file.readline().split()
        return next((word for word in words if word[:1].isdigit() and "." in word), "unknown version")
    except OSError:
        return None


def examine() -> dict[str, Any]:
    """Facts by topic, and "problems": [{"missing", "for"}], those of `essential` first."""
    problems: list[dict[str, Any]] = []

    def missing(what: str, needed_for: str, essential: bool = False) -> None:
        problems.append({"missing": what, "for": needed_for, "essential": essential})

    flags = cpu_flags()
    level = host_level(flags)
    if level is None:
        missing(f"CPU features {', '.join(sorted(set(LEVELS[0].features) - flags))}", "compiled models", essential=True)
    threads: int | None = None
    try:
        from . import _runtime

        threads = _runtime.available_cpus()
    except ImportError as error:
        missing(f"the runtime ({error})", "running models", essential=True)
    compiler: str | None = None
    try:
        from .compiler import version

        compiler = version()
    except Error as error:
        missing(str(error), "compiling checkpoints (artefacts still run)", essential=True)
    linker = os.environ.get("CONVBERT_LLD") or next(
        filter(None, map(shutil.which, ("/usr/lib/llvm-22/bin/ld.lld", "ld.lld-22", "ld.lld"))), None)
    if linker is None:
        missing("ld.lld (Debian: lld-22)", "compiling checkpoints (artefacts still run)", essential=True)
    packages: dict[str, str | None] = {}
    for name, needed_for in PACKAGES.items():
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            packages[name] = None
            missing(f"the Python package {name}", needed_for, essential=name == "numpy")
    folder = cache.default_directory()
    found = cache.entries(folder)
    writable = os.access(folder if os.path.isdir(folder) else _existing_parent(folder), os.W_OK)
    if not writable:
        missing(f"a cache folder that can be written to ({folder}); CONVBERT_CACHE names another",
                "keeping compiled code between runs")
    driver = _gpu_driver()
    if driver is None:
        missing("an NVIDIA driver", "GPUs (not supported yet)")
    return {
        "versions": {"convbert": __version__, "compiler": compiler, "python": platform.python_version(),
                     "system": platform.platform()},
        "executable": sys.executable,
        "cpu": {"name": cpu_name(), "isa": level and level.isa, "target": level and level.name,
                "threads": threads, "features": sorted(flag for flag in flags if flag in _USED or flag.startswith(
                    ("avx", "amx")))},
        "cache": {"directory": folder, "entries": len(found), "bytes": sum(entry.bytes for entry in found),
                  "limit": cache.limit(), "writable": writable},
        "linker": linker, "gpu_driver": driver, "packages": packages,
        "problems": sorted(problems, key=lambda problem: not problem["essential"]),
    }


def _existing_parent(path: str) -> str:
    while not os.path.isdir(path):
        path = os.path.dirname(path) or "/"
    return path


def healthy(facts: dict[str, Any]) -> bool:
    """Whether nothing essential is missing."""
    return not any(problem["essential"] for problem in facts["problems"])
