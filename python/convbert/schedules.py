"""Which kernel and schedule each operation of a checkpoint gets, as the compiler's remarks say."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import asdict, dataclass
from typing import Any

from .entry import check_types
from .errors import Error

_REMARK = re.compile(r"^(?P<where>.*): remark: \[(?P<kind>\w+)\] (?P<name>\w+) \| Category:convbert-(?P<part>\w+) \| "
                     r"Function=(?P<function>[^ ]+) \| (?P<facts>.*)$")
_FACT = re.compile(r'(\w+)=("[^"]*"|[^,]*)')


@dataclass(frozen=True)
class Scheduled:
    """One operation of a function that is compiled."""

    #: Function of the module, @encoder_layer once for all layers of its shapes, and the parameters' names or the block's.
    function: str
    where: str
    #: Operation of the dialect.
    operation: str
    #: The last one that is called for it: that for many rows, where there are two.
    kernel: str
    #: Sequence of the schedule library and the parameters bound to it; empty for kernels that are loops of copies.
    schedule: str
    parameters: str
    #: What the choice of the kernel rests on, where there was one: sizes against the caches of the target's cores.
    why: str = ""
    #: Operations of the kernel that were left to scalar loops, with the reason; empty as long as all is well.
    fallbacks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _program() -> str:
    """convbert-compile of this installation, or of the build tree."""
    package = os.path.dirname(os.path.abspath(__file__))
    from . import _runtime

    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(_runtime.__file__))))
    for folder in (os.path.join(package, "bin"), os.path.join(build, "bin")):
        path = os.path.join(folder, "convbert-compile")
        if os.access(path, os.X_OK):
            return path
    raise Error("requires the compiler's tools, but found none in this installation")


def scheduled(directory: str | os.PathLike[str], target: str | None = None, *, weights: str | None = None,
              dtype: str = "float32") -> list[Scheduled]:
    """One row an operation, in the order in which they are computed; Error if the checkpoint is refused.

    weights, dtype: as for load(). The target need not be this machine's.
    """
    check_types(weights, dtype)
    command = [_program(), os.fspath(directory), "--compile-to=schedule", f"--target={target or 'native'}",
               f"--weights={weights or 'f32'}", f"--dtype={dtype}", "--remarks-filter=convbert-.*", "-o", os.devnull]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Error(done.stderr.strip().splitlines()[0].removeprefix("convbert-compile: "))
    remarks = [match for match in map(_REMARK.match, done.stderr.splitlines()) if match]

    def facts(remark: re.Match[str]) -> dict[str, str]:
        return {name: value.strip('"') for name, value in _FACT.findall(remark["facts"])}

    chosen = {facts(r)["Kernel"]: facts(r) for r in remarks if (r["part"], r["name"]) == ("schedule", "schedule")}
    scalar: dict[str, list[str]] = {}
    for remark in remarks:
        if (remark["part"], remark["name"]) == ("schedule", "scalar"):
            scalar.setdefault(remark["function"], []).append(f"{facts(remark)['Op']}: {facts(remark)['Reason']}")
    rows = []
    for remark in remarks:
        if (remark["part"], remark["name"]) != ("outline", "kernel"):
            continue
        kernels = [value for name, value in _FACT.findall(remark["facts"]) if name == "Kernel"]
        kernel = kernels[-1]
        schedule = dict(chosen.get(kernel, {}))
        name = schedule.pop("Schedule", "")
        bound = ", ".join(f"{key}={value}" for key, value in schedule.items() if key not in ("Kernel", "ISA"))
        rows.append(Scheduled(remark["function"], remark["where"], facts(remark)["Op"], kernel, name, bound,
                              facts(remark).get("Why", ""), tuple(text for name in dict.fromkeys(kernels) for text in scalar.get(name, ()))))
    return rows
