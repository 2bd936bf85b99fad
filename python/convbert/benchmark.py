"""Speed of a compiled model, as a share of what this CPU can do, and beside other tools if they are installed."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from . import _runtime
from .errors import Error
from .model import Model, load
from .peers import PEERS

#: Seconds for which a shape is run.
SECONDS = 1.0
_PEAK_SECONDS = 0.3


@dataclass
class Measurement:
    """One shape."""

    batch: int
    length: int
    #: Median of a call.
    milliseconds: float
    #: Fastest call.
    best_ms: float
    calls: int
    #: 1e9 floating-point operations a second, two a multiply-accumulate, of the model's mathematics (no padding).
    gflops: float
    #: Share that the fastest call had of the multiply-add peak of the same number of threads in this run.
    share: float
    #: Milliseconds of other tools on the same batch, by name.
    peers: dict[str, float] = field(default_factory=dict)


@dataclass
class Benchmark:
    """What benchmark() measured."""

    model: str
    isa: str
    threads: int
    parameters: int
    #: 1e9 operations a second of a loop that only multiplies and adds, measured before and after; the larger.
    peak_gflops: float
    compile_ms: float
    cached: bool
    prepack_ms: float
    packed_bytes: int
    measurements: list[Measurement] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def parse_shapes(text: str) -> list[tuple[int, int]]:
    """[(1, 16), (8, 128)] of "1x16,8x128"; ValueError for anything else."""
    shapes = []
    for item in text.split(","):
        batch, _, length = item.strip().partition("x")
        if not (batch.isdecimal() and length.isdecimal() and int(batch) > 0 and int(length) > 0):
            raise ValueError(f"requires shapes such as 1x16,8x128, but found {item!r}")
        shapes.append((int(batch), int(length)))
    return shapes


def timed(call: Callable[[], Any], seconds: float) -> list[float]:
    """Milliseconds of calls that fill `seconds`, at least three, after two that are not counted."""
    for _ in range(2):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def _inputs(model: Model, batch: int, length: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    is_choice = model.model_class == "ConvBertForMultipleChoice"
    ids = rng.integers(0, model._manifest["vocab_size"], (batch, 1, length) if is_choice else (batch, length))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def benchmark(path: str | os.PathLike[str], shapes: Sequence[tuple[int, int]], *, threads: int | None = None,
              target: str | None = None, peers: Sequence[str] = (), seconds: float = SECONDS,
              shown: Callable[[Sequence[tuple[int, int]]], Iterator[tuple[int, int]]] = iter) -> Benchmark:
    """Measures a checkpoint or an artefact at `shapes` (batch, length).

    peers: names from PEERS; those that are not installed are an Error. shown: wraps the shapes, to show progress.
    """
    model = load(path, threads=threads, target=target)
    for batch, length in shapes:
        if length > model.max_positions:
            raise Error(f"shape {batch}x{length}: requires at most {model.max_positions} tokens (the model's positions), "
                        f"but found {length}")
    rivals = {name: PEERS[name](os.fspath(path), model.model_class, model.threads) for name in peers}
    peak = _runtime.fma_peak(model.isa, model.threads, _PEAK_SECONDS)
    timings = model.timings
    result = Benchmark(os.fspath(path), model.isa, model.threads,
                       sum(int(np.prod(item["shape"])) for item in model.parameters), peak,
                       timings["compile_ms"] or 0.0, timings["cached"], timings["prepack_ms"], model.packed_bytes)
    for batch, length in shown(shapes):
        inputs = _inputs(model, batch, length)
        out = model(**inputs)
        times = timed(lambda: model(**inputs, out=out), seconds)
        median = statistics.median(times)
        gflops = model.cost(batch, length).flops / median * 1e-6
        measurement = Measurement(batch, length, median, min(times), len(times), gflops, 0.0)
        for name, rival in rivals.items():
            measurement.peers[name] = statistics.median(timed(lambda: rival(inputs), seconds))
        result.measurements.append(measurement)
    result.peak_gflops = max(peak, _runtime.fma_peak(model.isa, model.threads, _PEAK_SECONDS))
    for measurement in result.measurements:
        fastest = measurement.gflops * measurement.milliseconds / measurement.best_ms
        measurement.share = fastest / result.peak_gflops if result.peak_gflops else 0.0
    return result
