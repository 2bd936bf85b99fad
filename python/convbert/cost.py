"""What a model is and what a call takes, in numbers and as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from .errors import shown

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True)
class Cost:
    """What one call takes."""

    batch: int
    length: int
    #: Multiply-accumulates of all operations.
    macs: int
    #: The same by operation of the dialect: dense, self_attention, depthwise_conv1d, dynamic_kernel, apply_kernel.
    operations: dict[str, int]
    #: Bytes of packed weights; a call reads each at least once, apart from rows of embedding tables.
    weight_bytes: int

    @property
    def flops(self) -> int:
        """Floating-point operations: two a multiply-accumulate."""
        return 2 * self.macs


def evaluate(cost: Mapping[str, Any], batch: int, length: int, max_positions: int | None, weight_bytes: int) -> Cost:
    """The polynomials of compiler.inspected() at a shape; ValueError for a shape that the model does not take."""
    for name, value, limit in (("batch", batch, None), ("length", length, max_positions)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (limit and value > limit):
            most = f" and <= {limit}" if limit else ""
            raise ValueError(f"{name}: requires an integer >= 1{most}, but found {shown(value)}")
    operations = {}
    for name, item in cost.items():
        constant, linear, square = item["macs"]
        macs = batch * (constant + linear * length + square * length * length)
        if macs:
            operations[name] = macs
    return Cost(batch, length, sum(operations.values()), operations, weight_bytes)


def elements(parameters: Iterable[Mapping[str, Any]]) -> int:
    """Numbers in all parameters."""
    return sum(prod(item["shape"]) for item in parameters)


def group_parameters(parameters: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Elements of the parameters by part of the model: embeddings, each layer, head; in this order."""
    groups: dict[str, int] = {}
    for item in parameters:
        match = re.search(r"(?:^|\.)layer\.(\d+)\.", item["name"])
        part = f"layer {match[1]}" if match else "embeddings" if "embeddings" in item["name"] else "head"
        groups[part] = groups.get(part, 0) + prod(item["shape"])

    def order(part: str) -> tuple[int, int]:
        return (0, 0) if part == "embeddings" else (2, 0) if part == "head" else (1, int(part.split()[1]))

    return {part: groups[part] for part in sorted(groups, key=order)}


def describe_array(item: Mapping[str, Any]) -> str:
    """"logits float32[B, 20]"."""
    return f"{item['name']} {item['dtype']}[{', '.join(map(str, item['shape']))}]"


def summarize(model: Model) -> str:
    """The text of Model.summary()."""
    lines = [f"{model.model_class}, {model.path}"]
    total = elements(model.parameters)
    for part, count in group_parameters(model.parameters).items():
        lines.append(f"  {part:<12} {count:>14,} parameters")
    lines.append(f"  {'all':<12} {total:>14,} parameters in {len(model.parameters)} tensors")
    lines.append(f"  {'packed':<12} {model.packed_bytes:>14,} bytes, {model.isa}, {model.threads} "
                 f"thread{'s' if model.threads > 1 else ''}")
    if model.max_positions is not None:
        lines.append(f"  {'positions':<12} {model.max_positions:>14,}")
    for kind, items in (("input", model.inputs), ("output", model.outputs)):
        lines += [f"  {kind:<12} {describe_array(item)}" for item in items]
    return "\n".join(lines)
