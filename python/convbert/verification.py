"""Comparing a compiled model with NumPy, step by step, and two ways of computing a model with each other."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reference
from .bfloat16 import other_bfloat16, to_bfloat16
from .entry import check_types
from .errors import Error
from .steps import SteppedModel, label, parts

#: A step may err this many times as much as NumPy does in float32 on the same input. The compiled code sums in another
#: order, and its exp, erf and square root are polynomials: measured factors are below 4.
FACTOR = 8.0
_STORED = {"float32": "<f4", "float16": "<f2", "float64": "<f8", "bfloat16": "<u2", "int64": "<i8", "int32": "<i4"}

Arrays = dict[str, npt.NDArray[Any]]


@dataclass
class Row:
    """One step of a model."""

    #: Where it is: the layer and the name of the step in it, or of the output.
    step: str
    #: Largest error against float64 from the ids on.
    error: float
    #: Largest error of the step itself: float64 takes the compiled code's own input of the step.
    own_error: float
    #: What own_error may be.
    bound: float
    #: Largest magnitude of the right result.
    magnitude: float
    #: The operation that computes it.
    operation: str = ""
    #: For products of bfloat16, where one number may be far off and most are not: the median error of the step itself,
    #: and what it may be.
    median: float | None = None
    median_bound: float | None = None

    @property
    def ok(self) -> bool:
        if self.median is not None and self.median_bound is not None and not self.median <= self.median_bound:
            return False
        return self.own_error <= self.bound  # false for NaN


@dataclass
class Report:
    """What verify() found."""

    model: str
    shape: tuple[int, int]
    rows: list[Row]
    #: Largest difference of the final outputs from those of transformers; None if it is not installed.
    transformers: float | None = None
    #: With bfloat16 weights or products: largest difference of the final outputs from float64 without rounding.
    rounding: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    @property
    def verdict(self) -> str:
        bad = [row.step for row in self.rows if not row.ok]
        return "ok" if not bad else f"wrong from {bad[0]} on"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "rows": [{**asdict(row), "ok": row.ok} for row in self.rows], "ok": self.ok,
                "verdict": self.verdict}


def load_parameters(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays, str]:
    """Configuration, parameters and class of a checkpoint as the compiler reads it, in whatever format it is."""
    from .compiler import inspected

    facts = inspected(path)
    config: dict[str, Any] = {"embedding_size": 768, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
    config_file = os.path.join(path, "config.json")
    with open(config_file, encoding="utf-8") as stream:
        config.update(json.load(stream))
    tensors = {}
    for item, weight in zip(facts["manifest"]["parameters"], facts["weights"]):
        raw = np.fromfile(weight["file"], np.dtype(_STORED[item["dtype"]]), math.prod(item["shape"]),
                          offset=weight["offset"])
        if item["dtype"] == "bfloat16":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        tensors[item["name"]] = raw.reshape(item["shape"])
    return config, tensors, facts["manifest"]["model_class"]


def sample_inputs(manifest: Mapping[str, Any], batch: int, length: int, choices: int = 2) -> Arrays:
    """Ids, mask and token types with every feature in them: both types, and padding in all sequences but the first."""
    rng = np.random.default_rng(0)
    shape = (batch, choices, length) if manifest["model_class"].endswith("ForMultipleChoice") else (batch, length)
    mask = np.ones(shape, np.int64).reshape(-1, length)
    for index in range(1, len(mask)):
        mask[index, length - length * index // (2 * len(mask)):] = 0
    if manifest["inputs"][0]["name"] == "encoder_input":
        vectors = rng.standard_normal((batch, length, manifest["hidden_size"]), np.float32)
        return {"encoder_input": vectors, "attention_mask": mask}
    return {"input_ids": rng.integers(0, manifest["vocab_size"], shape),
            "attention_mask": mask.reshape(shape),
            "token_type_ids": rng.integers(0, manifest["type_vocab_size"], shape)}


def _gap(found: npt.NDArray[Any], right: npt.NDArray[Any]) -> float:
    """Largest absolute difference; NaN if one of the two is not finite where the other is."""
    return float(np.abs(found.astype(np.float64) - right).max()) if found.size else 0.0


def _row(step: str, found: npt.NDArray[Any], right: npt.NDArray[Any], own: npt.NDArray[Any],
         own32: npt.NDArray[Any], other: npt.NDArray[Any] | None = None) -> Row:
    """other: for products of bfloat16, what comes of it where float32 leaves open which of two neighbours is the nearest,
    and the other one is taken. A step may be off by twice that, too."""
    magnitude = float(np.abs(own).max()) if own.size else 0.0
    # Where NumPy happens to round to the very result, one unit in the last place is still allowed for.
    bound = FACTOR * max(_gap(own32, own), float(np.spacing(np.float32(magnitude))))
    row = Row(step, _gap(found, right), _gap(found, own), bound, magnitude)
    if other is not None:
        row.bound += 2 * _gap(other, own)
        row.median = float(np.median(np.abs(found.astype(np.float64) - own)))
        row.median_bound = (FACTOR * max(float(np.median(np.abs(own32 - own))), float(np.spacing(np.float32(magnitude))))
                            + 2 * float(np.median(np.abs(other - own))))
    return row


class Judge:
    """What every step of a model should give, and the rows of a table of it."""

    def __init__(self, model: SteppedModel, parameters: Arrays, inputs: Mapping[str, Any], rounds: bool = True) -> None:
        """rounds: NumPy rounds to bfloat16 what the compiled code does."""
        self.weights = to_bfloat16 if rounds and model.entry.weights == "bf16" else None
        self.factors = to_bfloat16 if rounds and model.entry.dtype == "bfloat16" else None
        self.program, self.parameters, self.arguments = model.program, parameters, model.arguments(inputs)
        self.names = model.names()
        self.items = {item["name"]: item for item in model.entry.manifest["outputs"]}
        self.right = self.run(np.float64)

    def run(self, dtype: Any, given: Mapping[str, Any] | None = None, factors: Any = None) -> dict[str, Any]:
        """factors: how the activations in matrix products are rounded, where they are."""
        stored = np.float32 if self.weights else None  # packing computes in float32, and rounds that
        # Of wrong results too: what is not finite shows in the rows.
        with np.errstate(all="ignore"), reference.rounded_products(factors or self.factors, self.weights):
            return self.program.run(self.arguments, self.parameters, dtype, given, stored)

    def found(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the program that `outputs` holds."""
        return {value: np.asarray(outputs[name]).reshape(self.right[value].shape)
                for value, name in self.names.items() if name in outputs}

    def steps(self, found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, slice]]:
        """(value, step, operation, features) for every row, in the order in which they are computed."""
        for statement in self.program.statements:
            for value in statement.targets:
                if value in found:
                    for step, part in parts(self.program, value, label(self.items[self.names[value]])):
                        yield value, step, statement.name.rpartition(".")[2], part

    def rows(self, outputs: Mapping[str, Any]) -> list[Row]:
        """A row for every step of `outputs`, each judged by itself."""
        found = self.found(outputs)
        ways = [self.run(dtype, found) for dtype in (np.float64, np.float32)]
        if self.factors:
            ways.append(self.run(np.float64, found, other_bfloat16))
        rows = []
        for value, step, operation, part in self.steps(found):
            with np.errstate(all="ignore"):
                row = _row(step, *(values[value][..., part] for values in (found, self.right, *ways)))
            row.operation = operation
            rows.append(row)
        return rows

    def gap(self, outputs: Mapping[str, Any]) -> float:
        """Largest difference of the final outputs from float64 from the ids on."""
        found = self.found(outputs)
        return max(_gap(found[value], self.right[value]) for value, name in self.names.items() if "." not in name)

    def differences(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Row]:
        """A row for every step of both. A step parts them if the difference of its inputs does not explain that of its
        results."""
        one, two = self.found(first), self.found(second)
        own_one, own_two, own32 = self.run(np.float64, one), self.run(np.float64, two), self.run(np.float32, one)
        rows = []
        for value, step, operation, part in self.steps({value: one[value] for value in one if value in two}):
            a, b, x, y, x32 = (values[value][..., part] for values in (one, two, own_one, own_two, own32))
            with np.errstate(all="ignore"):
                row = _row(step, a, b.astype(np.float64), x, x32)
                row.own_error, row.bound = _gap(a - x, b - y), 2 * row.bound
            row.operation = operation
            rows.append(row)
        return rows


def _transformers_gap(path: str, model_class: str, inputs: Arrays, outputs: Arrays) -> float:
    import torch
    import transformers

    theirs = getattr(transformers, model_class).from_pretrained(path, dtype=torch.float32).eval()
    with torch.no_grad():
        result = theirs(**{name: torch.from_numpy(array) for name, array in inputs.items()})
    return max(_gap(np.asarray(outputs[name]), result[name].numpy()) for name in outputs if name in result)


def has_transformers() -> bool:
    """Whether transformers and torch are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("transformers", "torch"))


def _inputs(manifest: Mapping[str, Any], shape: tuple[int, int] | None, inputs: Mapping[str, Any] | None = None
            ) -> Arrays:
    if inputs:
        return {name: np.asarray(value) for name, value in inputs.items()}
    batch, length = shape or (3, min(manifest.get("max_positions") or 24, 24))
    return sample_inputs(manifest, batch, length)


def _is_class_of_transformers(model_class: str, config: Mapping[str, Any]) -> bool:
    """Whether the library can load the checkpoint: it does not know every class, nor pruned layers."""
    import transformers

    return hasattr(transformers, model_class) and not config.get("convbert_pruned_heads")


def verify(path: str | os.PathLike[str], *, target: str | None = None, threads: int | None = None,
           shape: tuple[int, int] | None = None, inputs: Mapping[str, Any] | None = None,
           weights: str | None = None, dtype: str = "float32") -> Report:
    """Runs a checkpoint compiled and in NumPy with float64, and compares every step of every layer, and the results.

    shape: batch and length of random ids; default 3 sequences of up to 24 tokens. inputs: the ids themselves, and
        optionally attention_mask, token_type_ids and position_ids.
    weights, dtype: as for load(). NumPy rounds what the compiled code rounds, and the report says how far the results
        are from those without any rounding.
    Each step is judged by itself, on the compiled code's own input of it, against what NumPy errs in float32. If
    transformers is installed, the results are compared with its too. Raises Error if the checkpoint is refused.
    """
    from .artifact import is_artifact

    place = os.fspath(path)
    if is_artifact(place):
        raise Error(f"{place}: requires a checkpoint directory, but found an artefact")
    check_types(weights, dtype)
    model = SteppedModel(place, target, threads, weights, dtype)
    config, parameters, model_class = load_parameters(place)
    arrays = _inputs(model.entry.manifest, shape, inputs)
    outputs = model(arrays)
    found = arrays["input_ids"].shape if "input_ids" in arrays else arrays["encoder_input"].shape[:-1]
    report = Report(place, (int(np.prod(found[:-1])), found[-1]), Judge(model, parameters, arrays).rows(outputs),
                    notes=model.entry.notes)
    if model.entry.weights != "f32":
        report.rounding = Judge(model, parameters, arrays, rounds=False).gap(outputs)
    if has_transformers() and _is_class_of_transformers(model_class, config):
        report.transformers = _transformers_gap(place, model_class, arrays, outputs)
    return report


#: What bisect() takes beside targets: the model as specified, and the module after phase simplify, both in NumPy.
NUMPY_WAYS = ("reference", "float64", "float32")


def _compute(way: str, place: str, model: SteppedModel, arrays: Arrays) -> Arrays:
    """All outputs of `model` that one way of computing it gives, by name."""
    if way not in NUMPY_WAYS:
        return (model if way == "native" else SteppedModel(place, way))(arrays)
    config, parameters, model_class = load_parameters(place)
    if way == "reference":
        return reference.forward(config, parameters, arrays, model_class)
    values = model.program.run(model.arguments(arrays), parameters, np.dtype(way))
    return {name: values[value] for value, name in model.names().items()}


def bisect(path: str | os.PathLike[str], first: str, second: str, *, shape: tuple[int, int] | None = None) -> Report:
    """Computes a checkpoint in two ways and compares them from the ids on; the first row that is not ok names the
    operation at which they part: where the difference of its inputs does not explain that of its results.

    first, second: targets ("native", "x86-64-v2", "x86-64-v3", ...: what the last phase leaves), or, in NumPy, "float64" or
        "float32" (what phase simplify leaves), or "reference" (the model as specified, in float64; it has no names for
        what happens inside of a layer).
    """
    place = os.fspath(path)
    model = SteppedModel(place)
    arrays = _inputs(model.entry.manifest, shape)
    _, parameters, _ = load_parameters(place)
    rows = Judge(model, parameters, arrays).differences(*(_compute(way, place, model, arrays)
                                                          for way in (first, second)))
    found = arrays["input_ids"].shape
    return Report(f"{place}: {first} against {second}", (int(np.prod(found[:-1])), found[-1]), rows)
