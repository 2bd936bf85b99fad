"""Speed of a compiled model, as a share of what this CPU can do, and beside other tools if they are installed."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import _runtime
from .errors import Error
from .machine import copy_gbps, peak_bytes, reset_peak, rss_bytes
from .model import Model, load
from .peers import agree, make_rival

#: Seconds for which an engine runs a shape, all turns together.
SECONDS = 1.0
#: An engine's turn: long enough to be warm, short enough that all engines see the same minute.
_TURN_SECONDS = 0.2
#: Between turns: the threads of another tool still spin for some time after its last call.
_PAUSE_SECONDS = 0.25
_PEAK_SECONDS = 0.05


@dataclass(frozen=True)
class Workload:
    """A batch: `batch` sequences padded to `length`, with as many real tokens as `lengths` says."""

    batch: int
    length: int
    #: Real tokens of each sequence; None: all of them have `length`.
    lengths: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        return f"{self.batch}x{min(self.lengths)}-{self.length}" if self.lengths else f"{self.batch}x{self.length}"

    @property
    def pad_share(self) -> float:
        """Share of the batch's tokens that are pads."""
        return 1 - sum(self.lengths) / (self.batch * self.length) if self.lengths else 0.0


@dataclass
class Timing:
    """Calls of one engine on one batch, in milliseconds."""

    best_ms: float
    median_ms: float
    calls: int


@dataclass
class Measurement:
    """One batch."""

    shape: str
    batch: int
    length: int
    pad_share: float
    #: Median and fastest call.
    milliseconds: float
    best_ms: float
    calls: int
    #: 1e9 floating-point operations a second of the median call, two a multiply-accumulate, of the model's mathematics
    #: on the padded batch (what the kernels add for their own padding does not count).
    gflops: float
    #: Share that the fastest call had of the multiply-add peak of the same number of threads, measured between turns.
    share: float
    peak_gflops: float
    #: The same batch in other engines, by name.  `exact` is this compiler with padding="exact", which computes no pads.
    peers: dict[str, Timing] = field(default_factory=dict)


@dataclass
class Benchmark:
    """What benchmark() measured."""

    model: str
    isa: str
    threads: int
    parameters: int
    #: What matrix products multiply, and what their weights are stored as.
    dtype: str
    weights: str
    #: 1e9 operations a second of a loop that only multiplies and adds; the largest of the run.
    peak_gflops: float
    compile_ms: float
    cached: bool
    prepack_ms: float
    packed_bytes: int
    #: 1e9 bytes a second that the same number of threads copies to fresh memory: what packing, which also reads and
    #: writes everything about once, is a share of.
    copy_gbps: float
    #: Resident memory of the process after the last call of this engine alone, other engines not yet loaded.
    rss_bytes: int
    #: The most memory that the calls took beyond what was there when the model was loaded: activations, temporaries of
    #: kernels, inputs and results.
    call_bytes: int
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def prepack_gbps(self) -> float:
        """1e9 bytes of packed weights a second."""
        return self.packed_bytes / max(self.prepack_ms, 1e-3) * 1e-6

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def parse_shapes(text: str) -> list[Workload]:
    """Batches of "1x16,8x128,8x16-128": the last is 8 sequences of 16 to 128 tokens in equal steps, padded to 128.

    ValueError for anything else.
    """
    shapes = []
    for item in text.split(","):
        batch, _, length = item.strip().partition("x")
        shortest, dash, longest = length.partition("-")
        numbers = [batch, shortest, *([longest] if dash else [])]
        if not all(number.isdecimal() and 0 < int(number) < 2**31 for number in numbers):
            raise ValueError(f"requires shapes such as 1x16,8x128,8x16-128, but found {item!r}")
        if not dash:
            shapes.append(Workload(int(batch), int(length)))
            continue
        if int(batch) < 2 or int(shortest) >= int(longest):
            raise ValueError(f"requires two sequences or more and a shortest below the longest, but found {item!r}")
        steps = np.linspace(int(shortest), int(longest), int(batch)).round().astype(int)
        shapes.append(Workload(int(batch), int(longest), tuple(steps.tolist())))
    return shapes


def _inputs(model: Model, workload: Workload) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    size = (workload.batch, workload.length)
    lengths = np.array(workload.lengths or [workload.length] * workload.batch)
    mask = (np.arange(workload.length) < lengths[:, None]).astype(np.int64)
    if model._manifest["inputs"][0]["name"] == "encoder_input":
        return {"encoder_input": rng.standard_normal((*size, model._manifest["hidden_size"]), np.float32),
                "attention_mask": mask}
    ids = rng.integers(0, model._manifest["vocab_size"], size)
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    if model.model_class.endswith("ForMultipleChoice"):
        return {name: array[:, None] for name, array in arrays.items()}
    return arrays


def take_turns(engines: dict[str, Callable[[], Any]], seconds: float, between: Callable[[], Any] = lambda: None,
               pause: float = _PAUSE_SECONDS) -> dict[str, Timing]:
    """Runs the engines in turns until each has had `seconds` and three calls; two calls before are not counted.

    The order changes from round to round, so that none always follows the same other; `between` runs before a round.
    pause: seconds between turns; none is needed where all engines are this one.
    """
    times: dict[str, list[float]] = {name: [] for name in engines}
    for call in engines.values():
        call()
        call()
    names = list(engines)
    left = dict.fromkeys(engines, seconds)
    while any(left[name] > 0 or len(times[name]) < 3 for name in engines):
        between()
        for name in names:
            if len(names) > 1:
                time.sleep(pause)
                engines[name]()
            turn = min(_TURN_SECONDS, left[name])
            start = now = time.perf_counter()
            while now == start or now - start < turn:
                before = now
                engines[name]()
                now = time.perf_counter()
                times[name].append((now - before) * 1e3)
            left[name] -= now - start
        names.append(names.pop(0))
    return {name: Timing(min(of), statistics.median(of), len(of)) for name, of in times.items()}


def _read_weights(path: str | os.PathLike[str]) -> None:
    """Reads the weights once, so that packing finds them in memory: the disk is not what is measured."""
    given = Path(path)
    for file in [*given.glob("*.safetensors"), *given.glob("*.bin")] if given.is_dir() else [given]:
        with file.open("rb") as stream:
            while stream.read(2**24):
                pass


def benchmark(path: str | os.PathLike[str], shapes: Sequence[Workload], *, threads: int | None = None,
              target: str | None = None, weights: str | None = None, dtype: str = "float32",
              peers: Sequence[str] = (), seconds: float = SECONDS,
              shown: Callable[[Sequence[Workload]], Iterator[Workload]] = iter) -> Benchmark:
    """Measures a checkpoint or an artefact on batches, see parse_shapes().

    peers: names from peers.PEERS; those that are not installed, and one whose result is not ours, are an Error. The
    engines take turns. seconds: for an engine and a shape. shown: wraps the shapes, to show progress. weights, dtype: as
    for load(), for this engine alone; peers are held to its results in float32.
    """
    if os.path.exists(path):
        _read_weights(path)
    model = load(path, threads=threads, target=target, weights=weights, dtype=dtype)
    for workload in shapes:
        if model.max_positions is not None and workload.length > model.max_positions:
            raise Error(f"shape {workload.name}: requires at most {model.max_positions} tokens (the model's "
                        f"positions), but found {workload.length}")
    reset_peak()
    loaded = rss_bytes()
    batches = [_inputs(model, workload) for workload in shapes]
    for inputs in batches:
        model(**inputs)
    resident, above = rss_bytes(), peak_bytes() - loaded
    exact = load(path, threads=threads, target=target, weights=weights, dtype=dtype,
                 padding="exact") if any(w.lengths for w in shapes) else None
    # What other engines are held to.
    right = load(path, threads=threads, target=target) if peers and model.weights != "f32" else model
    rivals = {name: make_rival(name, os.fspath(path), model.model_class, model.threads, target or "native") for name in peers}
    wanted = [right(**inputs)[0] for inputs in batches] if rivals else []
    # One after the other with all shapes, as one that compiles may leave settings behind that others would compile with.
    for name, rival in rivals.items():
        for inputs, expected in zip(batches, wanted):
            agree(name, rival(inputs), expected)
    timings = model.timings
    result = Benchmark(os.fspath(path), model.isa, model.threads,
                       sum(int(np.prod(item["shape"])) for item in model.parameters), model.dtype, model.weights, 0.0,
                       timings["compile_ms"] or 0.0, timings["cached"], timings["prepack_ms"], model.packed_bytes,
                       copy_gbps(model.threads), resident, above)
    for workload, inputs in zip(shown(shapes), batches):
        out = model(**inputs)
        engines: dict[str, Callable[[], Any]] = {"": lambda: model(**inputs, out=out)}
        engines.update({name: partial(rival, inputs) for name, rival in rivals.items()})
        if exact and workload.lengths:
            engines["exact"] = partial(exact, **inputs)
        peaks: list[float] = []
        found = take_turns(engines, seconds, lambda: peaks.append(_runtime.fma_peak(model.isa, model.threads, _PEAK_SECONDS)))
        ours, flops = found.pop(""), model.cost(workload.batch, workload.length).flops
        result.measurements.append(Measurement(
            workload.name, workload.batch, workload.length, workload.pad_share, ours.median_ms, ours.best_ms, ours.calls,
            flops / ours.median_ms * 1e-6, flops / ours.best_ms * 1e-6 / max(peaks), max(peaks), found))
    result.peak_gflops = max((m.peak_gflops for m in result.measurements), default=0.0)
    return result
