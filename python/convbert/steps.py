"""A model that returns all that it computes, and the names of its steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .call import Call, bind, choose_input
from .entry import EXTRA_OUTPUTS, STEPS, CheckpointSource, Entry
from .interpreter import Program


class SteppedModel:
    """A checkpoint compiled so that it returns all that it computes on the way."""

    def __init__(self, path: str, target: str | None = None, threads: int | None = None, weights: str | None = None,
                 dtype: str = "float32") -> None:
        source = CheckpointSource(path, target, True, weights, dtype)
        self.entry = Entry(source, (*EXTRA_OUTPUTS, STEPS), threads or 0)
        self.program = Program(self.entry.steps or "", "forward")

    def _bind(self, inputs: Mapping[str, Any]) -> Call:
        main, manifest = ("input_ids", "inputs_embeds", "encoder_input"), self.entry.manifest
        name, value = choose_input(manifest, *(inputs.get(name) for name in main))
        return bind(manifest, name, value, **{name: array for name, array in inputs.items() if name not in main})

    def arguments(self, inputs: Mapping[str, Any]) -> list[Any]:
        """`inputs` as the program takes them."""
        call = self._bind(inputs)
        shape, positions = (call.batch, call.length), np.arange(call.length)
        defaults = {"attention_mask": np.ones(shape, bool), "token_type_ids": np.zeros(shape, np.int64),
                    "position_ids": np.broadcast_to(positions, shape)}
        return [call.arguments.get(item["name"], defaults.get(item["name"])) for item in self.entry.manifest["inputs"]]

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """All outputs, those of the user and the steps, by name."""
        return dict(self.entry.run(self._bind(inputs)))

    def names(self) -> dict[str, str]:
        """The output that holds a value of the program; that of the user where there are two."""
        return {value: item["name"] for value, item in reversed(list(zip(self.program.results,
                                                                         self.entry.manifest["outputs"])))}


def label(item: Mapping[str, Any]) -> str:
    """Where an output of the manifest is computed, and what it is for the user."""
    where = re.sub(r"encoder\.layer\.(\d+)", r"layer \1", item.get("where", ""))
    kind = item["name"].partition(".")[0]
    return where if kind in (STEPS, "hidden_states", "last_hidden_state") else f"{where} ({kind})"


def parts(program: Program, value: str, where: str) -> list[tuple[str, slice]]:
    """The steps that one operation computes side by side, and the features of each."""
    layer, colon, names = where.rpartition(": ")
    slices: dict[int, int] = {}
    for statement in program.statements:
        if statement.name == "tensor.extract_slice" and statement.operands[0] == value:
            offset, size = (int(re.findall(rf"{name} = array<i64: [^>]*?(\d+)>", statement.attributes or "")[0])
                            for name in ("static_offsets", "static_sizes"))
            slices[offset] = size
    split = names.split(", ")
    if len(split) == 1 or len(split) != len(slices):
        return [(where, slice(None))]
    return [(layer + colon + name, slice(offset, offset + slices[offset]))
            for name, offset in zip(split, sorted(slices))]
