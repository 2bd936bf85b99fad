"""Compiled code for one set of outputs and inputs, loaded, and where it comes from."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _runtime
from .call import Call, reuse, user_shape
from .errors import Error, shown

FloatArray = npt.NDArray[np.float32]

#: What an entry may give and take beyond the plain one, in the order in which results and names have them.
EXTRA_OUTPUTS = ("hidden_states", "attentions", "conv_kernels")
EXTRA_INPUTS = ("head_mask", "inputs_embeds")
#: All that is computed on the way, for verification.
STEPS = "steps"


def in_order(name: str, extras: Iterable[str]) -> tuple[str, ...]:
    """`extras`, each once and in order; ValueError naming `name` if one is unknown."""
    wanted, known = list(extras), (*EXTRA_OUTPUTS, *EXTRA_INPUTS)
    for extra in wanted:
        if extra not in known:
            raise ValueError(f"{name}: requires names from {', '.join(known)}, but found {shown(extra)}")
    return tuple(extra for extra in known if extra in wanted)


def check_types(weights: str | None, dtype: str) -> None:
    """Raises ValueError for what load() does not take."""
    if weights not in (None, "bf16"):
        raise ValueError(f'weights: requires None or "bf16", but found {shown(weights)}')
    if dtype not in ("float32", "bfloat16"):
        raise ValueError(f'dtype: requires "float32" or "bfloat16", but found {shown(dtype)}')


class Source(Protocol):
    """A checkpoint directory or an artefact."""

    #: Where it is.
    path: str

    def description(self, extras: tuple[str, ...]) -> Any:
        """A context manager that yields what the runtime loads, as a dictionary."""
        ...

    def config(self) -> dict[str, Any]:
        """The checkpoint's config.json."""
        ...

    def cost(self) -> dict[str, Any]:
        """{operation: {"count": n, "macs": [c0, c1, c2]}}, see compiler.inspected()."""
        ...


class CheckpointSource:
    """A checkpoint directory in Hugging Face's format, compiled when an entry is asked for."""

    def __init__(self, path: str, target: str | None, cache: bool | str | os.PathLike[str],
                 weights: str | None = None, dtype: str = "float32") -> None:
        self.path = path
        self._target = target
        self._weights = weights
        self._dtype = dtype
        self._cache = cache

    @contextmanager
    def description(self, extras: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        from .compiler import compiled

        with compiled(self.path, target=self._target, extras=extras, cache=self._cache,
                      weights=self._weights, dtype=self._dtype) as description:
            yield description

    def config(self) -> dict[str, Any]:
        with open(os.path.join(self.path, "config.json"), encoding="utf-8") as file:
            return json.load(file)

    def cost(self) -> dict[str, Any]:
        from .compiler import inspected

        return inspected(self.path, cache=self._cache)["cost"]


def _load(source: Source, extras: tuple[str, ...], threads: int, like: _runtime.Model | None
          ) -> tuple[dict[str, Any], _runtime.Model]:
    """What the compiler says, and the code and packed weights, loaded."""
    for again in (True, False):
        with source.description(extras) as description:
            try:
                return description, _runtime.Model(json.dumps(description), threads, like)
            except RuntimeError as error:
                # Another process may have made room in the cache between compiling and loading.
                if not again or os.path.exists(description["object"]):
                    raise Error(str(error)) from None
    raise AssertionError("the second round returns or raises")


class Entry:
    """Compiled code for one set of outputs and inputs. It shares the packed weights of `like`, another entry."""

    def __init__(self, source: Source, extras: tuple[str, ...], threads: int, like: Entry | None = None) -> None:
        start = time.perf_counter()
        self.runtime: _runtime.Model
        description, self.runtime = _load(source, extras, threads, like.runtime if like else None)
        self.manifest: dict[str, Any] = description["manifest"]
        self.weights: str = description.get("stored_weights", "f32")
        self.dtype: str = description.get("dtype", "float32")
        self.isa: str = description.get("target", {}).get("isa", "")
        self.notes: list[str] = description.get("notes", [])
        #: With STEPS, the module that was compiled.
        self.steps: str | None = description.get("steps")
        self.is_choice = self.manifest["model_class"].endswith("ForMultipleChoice")
        self.timings = {
            "import_ms": description.get("import_ms"),
            "compile_ms": description.get("compile_ms"),
            "phases_ms": description.get("phases_ms", {}),
            "cached": bool(description.get("cached")),
            "prepack_ms": self.runtime.prepack_ms,
            "load_ms": (time.perf_counter() - start) * 1e3,
        }

    def run(self, call: Call, out: Mapping[str, Any] | None = None) -> dict[str, FloatArray]:
        """The outputs, by name, in arrays of `out` (by name) where there is one."""
        outputs: dict[str, FloatArray] = {}
        for item in self.manifest["outputs"]:
            name = item["name"]
            shape = user_shape(item, call, self.is_choice)
            if out is not None and name in out:
                outputs[name] = reuse(name, out[name], shape, call.arguments)
            else:
                outputs[name] = _runtime.empty(shape)
            if call.lengths is not None:
                outputs[name].fill(0)  # rows beyond a sequence's length are not written
        if out is not None:
            self._check_out(out, outputs)
        inputs = [call.arguments.get(item["name"]) for item in self.manifest["inputs"]]
        try:
            self.runtime.forward(call.batch, call.length, inputs, list(outputs.values()), call.lengths)
        except RuntimeError as error:
            raise Error(str(error)) from None
        return outputs

    def _check_out(self, out: Mapping[str, Any], outputs: dict[str, FloatArray]) -> None:
        unknown = [name for name in out if name not in outputs]
        if unknown:
            raise ValueError(f"out: requires names of outputs ({', '.join(outputs)}), but found {unknown[0]!r}")
        reused = [(name, outputs[name]) for name in out]
        for index, (name, array) in enumerate(reused):
            for other, previous in reused[:index]:
                if np.may_share_memory(array, previous):
                    raise ValueError(f"out[{name!r}]: requires memory of its own, but found that of out[{other!r}]")
