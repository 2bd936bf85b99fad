"""Comparing a compiled model with the NumPy reference, step by step, and two compiled models with each other."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import reference
from .errors import Error
from .output import ModelOutput

#: A step may err this many times as much as NumPy does in float32 on the same input. The compiled code sums in another
#: order, and its exp, erf and square root are polynomials: measured factors are below 4.
FACTOR = 8.0
_STORED = {"float32": "<f4", "float16": "<f2", "float64": "<f8", "bfloat16": "<u2", "int64": "<i8", "int32": "<i4"}

Arrays = dict[str, npt.NDArray[Any]]
Outputs = Mapping[str, Any] | ModelOutput


@dataclass
class Row:
    """One step of a model."""

    step: str
    #: Largest error against float64 from the ids on.
    error: float
    #: Largest error of the step itself: float64 takes the compiled code's own input of the step.
    own_error: float
    #: What own_error may be.
    bound: float
    #: Largest magnitude of the right result.
    magnitude: float

    @property
    def ok(self) -> bool:
        return self.own_error <= self.bound  # false for NaN


@dataclass
class Report:
    """What verify() found."""

    model: str
    shape: tuple[int, int]
    rows: list[Row]
    #: Largest difference of the final outputs from those of transformers; None if it is not installed.
    transformers: float | None = None
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
    shape = (batch, choices, length) if manifest["model_class"] == "ConvBertForMultipleChoice" else (batch, length)
    mask = np.ones(shape, np.int64).reshape(-1, length)
    for index in range(1, len(mask)):
        mask[index, length - length * index // (2 * len(mask)):] = 0
    return {"input_ids": rng.integers(0, manifest["vocab_size"], shape),
            "attention_mask": mask.reshape(shape),
            "token_type_ids": rng.integers(0, manifest["type_vocab_size"], shape)}


def _gap(found: npt.NDArray[Any], right: npt.NDArray[Any]) -> float:
    """Largest absolute difference; NaN if one of the two is not finite where the other is."""
    return float(np.abs(found.astype(np.float64) - right).max()) if found.size else 0.0


def _row(step: str, found: npt.NDArray[Any], right: npt.NDArray[Any], own: npt.NDArray[Any],
         own32: npt.NDArray[Any]) -> Row:
    magnitude = float(np.abs(own).max()) if own.size else 0.0
    # Where NumPy happens to round to the very result, one unit in the last place is still allowed for.
    bound = FACTOR * max(_gap(own32, own), float(np.spacing(np.float32(magnitude))))
    return Row(step, _gap(found, right), _gap(found, own), bound, magnitude)


def compare(config: dict[str, Any], parameters: Arrays, model_class: str, inputs: Arrays, outputs: Outputs
            ) -> list[Row]:
    """Rows for the embeddings, every layer and every final output; `outputs` come with hidden_states."""
    states: Sequence[npt.NDArray[Any]] = outputs["hidden_states"]
    eps = config["layer_norm_eps"]
    prepared: dict[Any, Any] = {dtype: reference.prepare(parameters, inputs, model_class, dtype)
                                for dtype in (np.float64, np.float32)}
    bias = {dtype: reference.mask_bias(prepared[dtype][1].get("attention_mask"), dtype) for dtype in prepared}

    def embed(dtype: Any) -> npt.NDArray[Any]:
        return reference.embeddings(prepared[dtype][0], prepared[dtype][1], np.asarray(eps, dtype))

    def layer(dtype: Any, index: int, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return reference.encoder_layer(config, prepared[dtype][0], index, x.astype(dtype), bias[dtype])[0]

    def head(dtype: Any, x: npt.NDArray[Any]) -> Arrays:
        return reference.head(config, prepared[dtype][0], x.astype(dtype), model_class)

    with np.errstate(all="ignore"):  # of wrong results too; what is not finite shows in the rows
        return _rows(embed, layer, head, states, outputs)


def _rows(embed: Any, layer: Any, head: Any, states: Sequence[npt.NDArray[Any]], outputs: Outputs
          ) -> list[Row]:
    right = embed(np.float64)
    rows = [_row("embeddings", states[0], right, right, embed(np.float32))]
    for index in range(len(states) - 1):
        right = layer(np.float64, index, right)
        rows.append(_row(f"layer {index}", states[index + 1], right, layer(np.float64, index, states[index]),
                         layer(np.float32, index, states[index])))
    right_head, own, own32 = head(np.float64, right), head(np.float64, states[-1]), head(np.float32, states[-1])
    for name in right_head:
        found = np.asarray(outputs[name])
        rows.append(_row(name, found, *(h[name].reshape(found.shape) for h in (right_head, own, own32))))
    if "last_hidden_state" in outputs:
        rows.append(_row("last_hidden_state", outputs["last_hidden_state"], right, states[-1], states[-1]))
    return rows


def _transformers_gap(path: str, model_class: str, inputs: Arrays, outputs: Outputs) -> float:
    import torch
    import transformers

    theirs = getattr(transformers, model_class).from_pretrained(path, dtype=torch.float32).eval()
    with torch.no_grad():
        result = theirs(**{name: torch.from_numpy(array) for name, array in inputs.items()})
    return max(_gap(np.asarray(outputs[name]), result[name].numpy()) for name in outputs if name != "hidden_states")


def has_transformers() -> bool:
    """Whether transformers and torch are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("transformers", "torch"))


def _shape(model: Any, shape: tuple[int, int] | None) -> tuple[int, int]:
    return shape or (3, min(model.max_positions, 24))


def verify(path: str | os.PathLike[str], *, target: str | None = None, threads: int | None = None,
           shape: tuple[int, int] | None = None, inputs: Mapping[str, Any] | None = None) -> Report:
    """Runs a checkpoint compiled and in NumPy with float64, and compares embeddings, every layer and the results.

    shape: batch and length of random ids; default 3 sequences of up to 24 tokens. inputs: the ids themselves, and
        optionally attention_mask, token_type_ids and position_ids.
    Each step is judged by itself, on the compiled code's own input of it, against what NumPy errs in float32. If
    transformers is installed, the results are compared with its too. Raises Error if the checkpoint is refused.
    """
    from .artifact import is_artifact
    from .model import load

    place = os.fspath(path)
    if is_artifact(place):
        raise Error(f"{place}: requires a checkpoint directory, but found an artefact")
    model = load(place, target=target, threads=threads)
    config, parameters, model_class = load_parameters(place)
    batch, length = _shape(model, shape)
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in inputs.items()} if inputs else sample_inputs(
        model._manifest, batch, length)
    outputs = model(**arrays, output_hidden_states=True)
    found = arrays["input_ids"].shape
    report = Report(place, (int(np.prod(found[:-1])), found[-1]),
                    compare(config, parameters, model_class, arrays, outputs), notes=model.notes)
    # TODO(#6): a row for every step of a layer, as soon as a set of outputs gives the intermediate results.
    if has_transformers():
        report.transformers = _transformers_gap(place, model_class, arrays, outputs)
    return report


def bisect(path: str | os.PathLike[str], first: str, second: str, *, shape: tuple[int, int] | None = None) -> Report:
    """Runs a checkpoint compiled for two targets and compares them from the ids on; the first row that is not ok names
    where they part. What NumPy errs in float32 on the first one's input of a step is the measure again."""
    from .model import load

    place = os.fspath(path)
    models = [load(place, target=target) for target in (first, second)]
    config, parameters, model_class = load_parameters(place)
    batch, length = _shape(models[0], shape)
    arrays: dict[str, Any] = sample_inputs(models[0]._manifest, batch, length)
    one, two = (model(**arrays, output_hidden_states=True) for model in models)
    rows = compare(config, parameters, model_class, arrays, one)
    growth = 0.0
    for index, row in enumerate(rows):
        name = row.step
        pair = [out.hidden_states[index] if index < len(one.hidden_states) else out[name] for out in (one, two)]
        row.error = row.own_error = _gap(pair[0], pair[1].astype(np.float64))
        # Differences of earlier steps come in too, and a layer may enlarge them.
        growth = row.bound = 2 * row.bound + 2 * growth
    return Report(f"{place}: {first} against {second}", (batch, length), rows)
