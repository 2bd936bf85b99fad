"""Times the operators of the family on one input, beside what this CPU can do: what `convbert compare-ops` measures.

Every operator is compiled once, with weights packed beforehand, and serves all lengths. The bound of a call is the time
that its multiply-accumulates or its bytes take at the rates that this CPU was measured to have in the same run, whichever
is longer. Bytes are input, weights and results once each, in float32; nothing counts that an implementation could keep in
registers or caches. The rate of bytes is that of a copy of as many bytes, again and again, so that the caches hold of them
what they hold of an operator's.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from . import __version__, _runtime
from .benchmark import Timing, take_turns
from .compiler import module_costs
from .errors import Error
from .function import AnyArray, Function
from .graph import Graph, Value
from .ir_text import BATCH, LENGTH
from .machine import cpu_name, moved_gbps
from .op_costs import OPERATORS, Operator, Sizes

#: Tokens of the plot over lengths.
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
#: Seconds of an operator at the length of the table, all its turns together.
SECONDS = 0.5
_PEAK_SECONDS, _COPY_SECONDS = 0.03, 0.004


@dataclass
class Point:
    """An operator at a length."""

    length: int
    #: Milliseconds of the fastest and of the median call.
    best_ms: float
    median_ms: float
    calls: int
    #: Multiply-accumulates; bytes of input, weights and results.
    macs: int
    bytes: int
    #: Milliseconds that the multiply-accumulates take at the peak, and the bytes at the rate of a copy of so many.
    compute_ms: float
    memory_ms: float

    @property
    def bound_ms(self) -> float:
        return max(self.compute_ms, self.memory_ms)

    @property
    def share(self) -> float:
        """Of the bound that the fastest call reached: 1 at the bound."""
        return self.bound_ms / self.best_ms


@dataclass
class Entry:
    """An operator."""

    operator: str
    family: str
    parameters: int
    #: Tokens around one that its result depends on; None: all tokens of the sequence.
    window: int | None
    #: One point a length, in order; none if it was refused.
    points: list[Point] = field(default_factory=list)
    #: Why there is no code for it: one line.
    refused: str | None = None

    def at(self, length: int) -> Point | None:
        return next((point for point in self.points if point.length == length), None)


@dataclass
class Comparison:
    """What compare() measured, with all that it takes to measure it again."""

    channels: int
    length: int
    kernel: int
    heads: int
    batch: int
    threads: int
    #: For an operator at `length`, all its turns together.
    seconds: float
    processor: str
    isa: str
    #: Of this package, Python and NumPy.
    versions: dict[str, str]
    #: Day of the measurement, ISO 8601.
    date: str
    #: 1e9 operations a second, two a multiply-accumulate: the largest that a loop of nothing else reached in the run.
    peak_gflops: float
    #: 1e9 bytes a second, read and written, of copies by the bytes that they moved: the largest of the run.
    copy_gbps: dict[int, float]
    entries: list[Entry]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: dataclasses as dictionaries, points with their bounds and shares."""
        made = asdict(self)
        for entry, found in zip(made["entries"], self.entries):
            for point, of in zip(entry["points"], found.points):
                point |= {"bound_ms": of.bound_ms, "share": of.share}
        return made


class Rates:
    """The fastest that this CPU was seen to multiply and to copy."""

    def __init__(self, isa: str, threads: int) -> None:
        self._isa, self._threads = isa, threads
        self.peak_gflops = 0.0
        self.copy_gbps: dict[int, float] = {}

    @staticmethod
    def footprint(count: int) -> int:
        """The bytes of the copy for `count` bytes: a power of two that is not above, so that caches do not hold less."""
        return 1 << max(count.bit_length() - 1, 14)

    def measure(self, counts: Sequence[int]) -> None:
        """Looks again, for multiplications and for copies of `counts` bytes."""
        self.peak_gflops = max(self.peak_gflops, _runtime.fma_peak(self._isa, self._threads, _PEAK_SECONDS))
        for size in sorted({self.footprint(count) for count in counts}):
            self.copy_gbps[size] = max(self.copy_gbps.get(size, 0.0), moved_gbps(size, self._threads, _COPY_SECONDS))

    def compute_ms(self, macs: int) -> float:
        return 2e-6 * macs / self.peak_gflops

    def memory_ms(self, count: int) -> float:
        return 1e-6 * count / self.copy_gbps[self.footprint(count)]


def random_weights(graph: Graph, seed: int = 0) -> dict[str, AnyArray]:
    """Weights of a size that keeps values near 1."""
    rng = np.random.default_rng(seed)
    shapes = {name: [int(size) for size in value.shape] for name, value in graph.parameters.items()}
    return {name: (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32) for name, shape in shapes.items()}


def inputs_of(function: Function, x: AnyArray) -> list[AnyArray]:
    """x for the first input; its first channels for those beside, such as a query that is given."""
    return [np.ascontiguousarray(x[..., :item["shape"][-1]]) for item in function.inputs]


def _elements(value: Value, batch: int, length: int) -> int:
    extents = {BATCH: batch, LENGTH: length}
    return math.prod(extents[size] if isinstance(size, str) else size for size in value.shape)


def moved_bytes(graph: Graph, batch: int, length: int) -> int:
    """Of inputs, weights and results, once each, in float32."""
    values = (*graph.inputs.values(), *graph.parameters.values(), *graph.outputs.values())
    return 4 * sum(_elements(value, batch, length) for value in values)


def _compiled(found: Operator, graph: Graph, entry: Entry, threads: int) -> Function | None:
    try:
        return graph.compile(random_weights(graph), threads=threads)
    except Error as error:
        entry.refused = " ".join(str(error).removeprefix(f"{graph.name}: ").split())
        return None


def compare(sizes: Sizes, *, batch: int = 1, threads: int | None = None, lengths: Sequence[int] = LENGTHS,
            seconds: float = SECONDS, operators: Mapping[str, Operator] = OPERATORS,
            compiling: Callable[[Sequence[str]], Iterator[str]] = iter,
            timing: Callable[[Sequence[int]], Iterator[int]] = iter) -> Comparison:
    """Measures all operators on inputs of [batch, length, sizes.channels], for sizes.length and for each of `lengths`.

    threads: None for the available CPUs. seconds: for an operator at sizes.length; a fifth of it at other lengths.
    compiling, timing: wrap operators and lengths, to show progress. ValueError for arguments that are none.
    """
    for name, value in (("batch", batch), *(("lengths", length) for length in lengths)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: requires numbers >= 1, but found {value!r}")
    entries, functions, graphs = [], dict[str, Function](), dict[str, Graph]()
    count = threads or _runtime.available_cpus()
    for name in compiling(list(operators)):
        found = operators[name]
        graphs[name] = graph = found.graph(sizes)
        parameters = sum(_elements(value, batch, sizes.length) for value in graph.parameters.values())
        entries.append(Entry(name, found.family, parameters, found.window(sizes)))
        function = _compiled(found, graph, entries[-1], count)
        if function is not None:
            functions[name] = function
    if not functions:
        raise Error(f"requires an operator that this compiler has kernels for, but found none: {entries[0].refused}")
    isa = next(iter(functions.values())).isa
    rates = Rates(isa, count)
    x = np.random.default_rng(0).standard_normal((batch, max(*lengths, sizes.length), sizes.channels), np.float32)
    measured: dict[tuple[str, int], tuple[Timing, int, int]] = {}
    for length in timing(sorted({*lengths, sizes.length})):
        calls: dict[str, Callable[[], Any]] = {}
        moved = {name: moved_bytes(graphs[name], batch, length) for name in functions}
        for name, function in functions.items():
            calls[name] = partial(function, *inputs_of(function, x[:, :length]))
        found_times = take_turns(calls, seconds if length == sizes.length else seconds / 5,
                                 lambda: rates.measure(list(moved.values())), pause=0)
        for name, times in found_times.items():
            macs = sum(part["macs"] for part in module_costs(str(graphs[name]), batch, length))
            measured[name, length] = times, macs, moved[name]
    # Bounds at the end: the best rates of the whole run hold for all.
    for entry in entries:
        for (name, length), (times, macs, bytes) in measured.items():
            if name == entry.operator:
                entry.points.append(Point(length, times.best_ms, times.median_ms, times.calls, macs, bytes,
                                          rates.compute_ms(macs), rates.memory_ms(bytes)))
    versions = {"convbert": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    return Comparison(sizes.channels, sizes.length, sizes.kernel, sizes.heads, batch, count, seconds, cpu_name(), isa,
                      versions, time.strftime("%Y-%m-%d"), rates.peak_gflops, dict(sorted(rates.copy_gbps.items())), entries)
