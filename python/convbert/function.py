"""A compiled function on arrays: what convbert.nn makes, and what convbert.ops runs."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _runtime
from .arrays import as_array, describe_shape, floats, integers, mask
from .call import reuse
from .errors import CompileError, Error, shown
from .graph import Value
from .ir_text import BATCH, LENGTH, describe_extents, length_after

AnyArray = npt.NDArray[Any]
#: Batch, length and the shapes of the results.
_Plan = tuple[int, int, list[tuple[int, ...]]]
#: Plans that a function keeps.
_PLANS = 64


def _threads(value: int | None) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"threads: requires None or a number >= 1, but found {shown(value)}")
    return value


def weight(name: str, value: Any, shape: Sequence[int | str]) -> npt.NDArray[np.float32]:
    """`value` as the parameter `name` of `shape`; ValueError naming both shapes otherwise."""
    array = as_array(name, value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: requires numbers, but found {array.dtype}")
    if array.shape != tuple(shape):
        raise ValueError(f"{name}: requires the shape {describe_extents(shape)}, but found "
                         f"{describe_shape(array.shape)}")
    return np.require(array, np.float32, ["C", "A"])


def read_file(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """The tensors of a safetensors file by name; ValueError for another one."""
    from .reference_files import read_safetensors

    try:
        return dict(read_safetensors(path))
    except (KeyError, ValueError, TypeError, struct.error) as error:  # of a header, a type, a shape
        raise ValueError(f"weights: requires a safetensors file of numbers, but found another one at {os.fspath(path)} "
                         f"({type(error).__name__}: {shown(error)})") from None


def read_weights(weights: Any, parameters: Mapping[str, Value]) -> list[npt.NDArray[np.float32]]:
    """Arrays for all parameters, from a dictionary or a safetensors file; ValueError for what is missing or of another
    shape, and for names that are no parameter's."""
    if weights is None:
        weights = {}
    if isinstance(weights, (str, os.PathLike)):
        weights = read_file(weights)
    if not isinstance(weights, Mapping):
        raise ValueError(f"weights: requires arrays by name or the path of a safetensors file, but found "
                         f"{shown(weights)}")
    for name in weights:
        if name not in parameters:
            raise ValueError(f"weights: requires names of parameters ({', '.join(parameters) or 'there are none'}), but "
                             f"found {shown(name)}")
    for name in parameters:
        if name not in weights:
            raise ValueError(f"weights: requires an array for each parameter, but found none for {shown(name)}")
    return [weight(name, weights[name], value.shape) for name, value in parameters.items()]


class Function:
    """A function of the dialect, compiled, with arrays for its parameters.

    ir: the text or bytecode of a module with one public function. parameters: one array for each of its globals, in
    order. threads: None for the available CPUs. target, cache, weights, dtype: as for convbert.load().
    """

    def __init__(self, ir: str | bytes, parameters: Sequence[AnyArray] = (), *, name: str = "function",
                 threads: int | None = None, target: str | None = None, cache: bool | str | os.PathLike[str] = True,
                 weights: str | None = None, dtype: str = "float32") -> None:
        from .compiler import compiled_module

        self.name = name
        count = _threads(threads)
        try:
            with compiled_module(ir, name, target=target, cache=cache, weights=weights, dtype=dtype) as description:
                self._runtime = _runtime.Model.with_arrays(json.dumps(description), list(parameters), count)
        except CompileError:
            raise
        except Error as error:
            raise Error(_refusal(name, str(error))) from None
        except RuntimeError as error:
            raise Error(f"{name}: {error}") from None
        manifest = description["manifest"]
        #: With fewer, some convolution would make no token at all.
        self._least_tokens: int = manifest["least_tokens"]
        #: {"name", "dtype", "shape"} of what it takes and gives.
        self.inputs: list[dict[str, Any]] = manifest["inputs"]
        self._results: list[dict[str, Any]] = manifest["outputs"]
        #: What calls with arrays of these shapes and types came to.
        self._plans: dict[Any, _Plan] = {}
        self.outputs: list[dict[str, Any]] = [{**item, "shape": [_extent(size) for size in item["shape"]]}
                                              for item in manifest["outputs"]]
        self.parameters: list[dict[str, Any]] = manifest["parameters"]
        self.isa: str = description["target"]["isa"]
        self.timings = {"compile_ms": description["compile_ms"], "cached": description["cached"],
                        "prepack_ms": self._runtime.prepack_ms}

    def with_parameters(self, parameters: Sequence[AnyArray]) -> Function:
        """The same code with other arrays for its parameters."""
        made = object.__new__(Function)
        made.__dict__.update(self.__dict__)
        made._runtime = self._runtime.with_parameters(list(parameters))
        return made

    def __repr__(self) -> str:
        def describe(items: Sequence[Mapping[str, Any]]) -> str:
            return ", ".join(f"{item['name']} {describe_extents(item['shape'])}" for item in items)

        return f"<{self.name}({describe(self.inputs)}) -> {describe(self.outputs)}>"

    def __call__(self, *arguments: Any, lengths: Any = None, out: Any = None, **named: Any) -> Any:
        """The outputs for arrays, in order or by name: one array, or a tuple of several.

        Arrays are NumPy's, anything with DLPack in CPU memory, or nested lists; results are float32.
        lengths: tokens of each sequence, [B]; what is behind them is not read, and zero in the results.
        out: NumPy arrays of float32 that results are written to instead of new ones: one, or by the names of outputs.
        """
        key = tuple(map(_as_it_is, arguments)) if not named and lengths is None else None
        plan = self._plans.get(key) if key else None
        if plan is not None:
            return self._run(plan, list(arguments), self._outputs(plan, out))
        values = self._bind(arguments, named)
        inputs, plan = self._plan(values)
        counts = None if lengths is None else self._counts(lengths, plan[0])
        outputs = self._outputs(plan, out, {item["name"]: array for item, array in zip(self.inputs, inputs)})
        for output in outputs if counts is not None else ():
            output.fill(0)
        if key and None not in key and all(array is value for array, value in zip(inputs, values)):
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return self._run(plan, inputs, outputs, counts)

    def fastest_ms(self, *arguments: Any, calls: int = 100, **named: Any) -> float:
        """Milliseconds of the fastest of some calls with the same arrays: as C and C++ would see it, with no Python around
        each and no memory taken for results."""
        if calls < 1:
            raise ValueError(f"calls: requires a number >= 1, but found {shown(calls)}")
        inputs, plan = self._plan(self._bind(arguments, named))
        return self._runtime.fastest_call(plan[0], plan[1], inputs, self._outputs(plan, None), calls)

    def _plan(self, values: Sequence[Any]) -> tuple[list[AnyArray], _Plan]:
        """Arrays for all inputs, and what they come to."""
        sizes: dict[str, tuple[int, str]] = {}
        inputs = [_input(item, value, sizes) for item, value in zip(self.inputs, values)]
        batch, length = sizes.get(BATCH, (1, ""))[0], sizes.get(LENGTH, (1, ""))[0]
        if length < self._least_tokens:
            raise ValueError(f"{self.name}: requires inputs of at least {self._least_tokens} tokens, but found {length}")
        shapes = [tuple(_number(size, batch, length) for size in item["shape"]) for item in self._results]
        return inputs, (batch, length, shapes)

    def _outputs(self, plan: _Plan, out: Any, inputs: Mapping[str, AnyArray] = {}) -> list[AnyArray]:
        """Arrays for the results. The runtime looks once more that those of a caller lie apart from all others."""
        if out is None:
            return [_runtime.empty(shape) for shape in plan[2]]
        names = [item["name"] for item in self._results]
        given = out if isinstance(out, Mapping) else {names[0]: out}
        if set(given) != set(names):
            raise ValueError(f"out: requires an array for each of {', '.join(names)}, but found {', '.join(map(str, given))}")
        return [reuse(name, given[name], shape, inputs) for name, shape in zip(names, plan[2])]

    def _counts(self, lengths: Any, batch: int) -> AnyArray:
        """Tokens of each sequence; what is beyond an input is the runtime's to say."""
        counts = integers("lengths", lengths)
        if counts.shape != (batch,):
            raise ValueError(f"lengths: requires the shape [{batch}], but found {describe_shape(counts.shape)}")
        if self._least_tokens > 1 and counts.min(initial=self._least_tokens) < self._least_tokens:
            raise ValueError(f"lengths: requires at least {self._least_tokens} tokens, but found {counts.min()} at "
                             f"[{counts.argmin()}]")
        return counts

    def _run(self, plan: _Plan, inputs: list[AnyArray], outputs: list[AnyArray], counts: AnyArray | None = None) -> Any:
        try:
            self._runtime.forward(plan[0], plan[1], inputs, outputs, counts)
        except RuntimeError as error:
            raise Error(f"{self.name}: {error}") from None
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """One value for each input."""
        names = [item["name"] for item in self.inputs]
        if len(arguments) > len(names):
            raise ValueError(f"{self.name}: requires at most {len(names)} inputs ({', '.join(names)}), but found "
                             f"{len(arguments)}")
        given = dict(zip(names, arguments))
        for name, value in named.items():
            if name not in names or name in given:
                what = "twice" if name in given else "which is no input"
                raise ValueError(f"{self.name}: requires the inputs {', '.join(names)}, but found {name}, {what}")
            given[name] = value
        for name in names:
            if given.get(name) is None:
                raise ValueError(f"{name}: requires an array, but found none")
        return [given[name] for name in names]


def _as_it_is(value: Any) -> tuple[Any, ...] | None:
    """Shape and type of an array that code may read where it lies; None for anything else."""
    return (value.shape, value.dtype.num) if type(value) is np.ndarray and value.flags.carray else None


def _refusal(name: str, message: str) -> str:
    """What the compiler says of a function: the operation in place of a line of its text."""
    message = re.sub(r"^module:\d+:\d+: ", "", message)
    found = re.match(r"'(?:convbert|arith|tensor|func)\.(\w+)' op (.*)", message)
    if found is None:
        return f"{name}: {message}"
    return f"{name}: {found[2]}" if found[1] == name else f"{name}: {found[1]}: {found[2]}"


def _extent(size: Any) -> int | str:
    """An extent of the manifest as the types of values have them."""
    length: int | str = LENGTH if isinstance(size, dict) else size
    for extra, stride in size["tokens"] if isinstance(size, dict) else ():
        length = length_after(length, extra, stride)
    return length


def _number(size: Any, batch: int, length: int) -> int:
    """The same for a call."""
    for extra, stride in size["tokens"] if isinstance(size, dict) else ():
        length = (length + extra) // stride + 1
    return length if isinstance(size, dict) else {BATCH: batch, LENGTH: length}.get(size, size)


def _input(item: Mapping[str, Any], value: Any, sizes: dict[str, tuple[int, str]]) -> AnyArray:
    """`value` as the input `item`; notes the batch and the length in `sizes`, with the input that had them first."""
    name, shape = item["name"], item["shape"]
    array = {"bool": mask, "int64": integers}.get(item["dtype"], floats)(name, value)
    fits = array.ndim == len(shape)
    for found, size in zip(array.shape, shape):
        if isinstance(size, str):
            size, _ = sizes.setdefault(size, (found, name))
        fits = fits and found == size
    if not fits:
        known = [sizes[size][0] if size in sizes and sizes[size][1] != name else size for size in shape]
        raise ValueError(f"{name}: requires the shape {describe_extents(known)}, but found "
                         f"{describe_shape(array.shape)}")
    if 0 in array.shape:
        raise ValueError(f"{name}: requires at least one sequence and one token, but found "
                         f"{describe_shape(array.shape)}")
    return np.require(array, requirements=["C", "A"])
