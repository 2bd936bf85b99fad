"""The operations on arrays: each compiles once for what it is given and is then found again.

    import convbert.ops as ops
    y = ops.depthwise_conv1d(x, w, padding="causal")

Activations are [B, T, C] (see axes), NumPy's arrays, anything with DLPack in CPU memory, or nested lists. Code does not
depend on batch and length. All take, beside what their signature says:

Weights are packed anew in each call; Prepared keeps them packed.

axes: the order of batch, tokens and channels of activations: "btc"; "tbc", fairseq's; "bct", that of PyTorch's
convolutions. threads: threads of a call; None for the available CPUs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import operations_attention, operations_conv, operations_gating, operations_nn  # noqa: F401  for their names
from .arrays import as_array, describe_shape, mask, numbers
from .errors import Error, shown
from .function import AnyArray, Function
from .graph import Graph, Value
from .operations import OPERATIONS

#: Axes of an activation, by the names of their orders.
_AXES = {"btc": (0, 1, 2), "tbc": (1, 0, 2), "bct": (0, 2, 1)}
#: Ranks of activations, by what annotations call them; taps are of rank 4.
_RANKS = {"Rows": (3, 4), "Pooled": (2,), "Features": (2, 3)}
#: Signatures whose code is kept loaded.
_KEPT = 256


@functools.lru_cache(maxsize=None)
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(OPERATIONS[name])


@functools.lru_cache(maxsize=None)
def _roles(name: str) -> dict[str, str]:
    """Rows, Pooled, Features, Mask, Factors or Weight by the name of the operand."""
    annotated = {operand: str(parameter.annotation).split(" ")[0]
                 for operand, parameter in _signature(name).parameters.items()}
    return {name: role for name, role in annotated.items()
            if role in _RANKS or role in ("Mask", "Factors", "Weight", "Sequence[Rows]", "Sequence[Pooled]")}


def _order(axes: str) -> tuple[int, int, int]:
    if axes not in _AXES:
        raise ValueError(f"axes: requires one of {', '.join(_AXES)}, but found {shown(axes)}")
    return _AXES[axes]


def _array(name: str, value: Any, role: str, order: tuple[int, int, int]) -> AnyArray:
    """An operand as the compiled code takes it."""
    if role == "Mask":
        array: AnyArray = mask(name, value)
    elif as_array(name, value).dtype.kind not in "biuf":
        raise ValueError(f"{name}: requires numbers, but found {as_array(name, value).dtype}")
    else:
        array = numbers(name, value)
    if role == "Mask" and order == _AXES["tbc"]:
        array = array.T
    if role in _RANKS and array.ndim not in _RANKS[role]:
        axes = "rank 2 [batch, channels]" if role == "Pooled" else "rank 3 [batch, tokens, channels]"
        raise ValueError(f"{name}: requires {axes}, but found rank {array.ndim} with shape "
                         f"{describe_shape(array.shape)}")
    if role in _RANKS and array.ndim == 3:
        array = array.transpose(order)
    if 0 in array.shape:
        raise ValueError(f"{name}: requires no empty axis, but found {describe_shape(array.shape)}")
    return np.require(array, requirements=["C", "A"])


@dataclass(frozen=True)
class _Operand:
    """One array of a call: the parameter of the function that it is, or is one of, and what it is called."""

    parameter: str
    name: str
    role: str
    array: AnyArray

    def declare(self, graph: Graph) -> Value:
        shape = self.array.shape
        if self.role == "Mask":
            return graph.mask(self.name)
        if self.role == "Factors":
            return graph.factors(self.name, shape[0])
        if self.role not in _RANKS:
            return graph.parameter(self.name, shape)
        return graph.pooled(self.name, shape[1]) if len(shape) == 2 else graph.input(self.name, shape[2:])

    def signature(self) -> tuple[Any, ...]:
        """What code depends on: not batch and length."""
        shape = self.array.shape
        if self.role in _RANKS:
            shape = (len(shape), *shape[min(len(shape) - 1, 2):])
        return (self.name, () if self.role == "Mask" else shape)


def _operands(name: str, bound: Mapping[str, Any], order: tuple[int, int, int]) -> list[_Operand]:
    found = []
    for parameter, role in _roles(name).items():
        value = bound.get(parameter)
        if role.startswith("Sequence"):
            if not isinstance(value, (list, tuple)) or not value:
                raise ValueError(f"{parameter}: requires a list of arrays, but found {shown(value)}")
            of = role.removeprefix("Sequence[").removesuffix("]")
            for index, item in enumerate(value):
                part = f"{parameter}{index}"
                found.append(_Operand(parameter, part, of, _array(part, item, of, order)))
        elif value is not None:
            found.append(_Operand(parameter, parameter, role, _array(parameter, value, role, order)))
    return found


def _trace(name: str, operands: list[_Operand], options: Mapping[str, Any]) -> Graph:
    """The graph of one operation."""
    graph, values = Graph(name), dict[str, Any]()
    for operand in operands:
        value = operand.declare(graph)
        if _roles(name)[operand.parameter].startswith("Sequence"):
            values.setdefault(operand.parameter, []).append(value)
        else:
            values[operand.parameter] = value
    results = OPERATIONS[name](**values, **options)
    for value in results if isinstance(results, tuple) else (results,):
        graph.output(value)
    return graph


_functions: dict[Any, Function] = {}


def _compiled(name: str, operands: list[_Operand], options: Mapping[str, Any], threads: int | None) -> Function:
    """The code for operands of these shapes, batch and length apart, with the parameters among them."""
    # As text: what is no value of an option is found out by the operation, whether it can be a key or not.
    key = (name, threads, tuple(operand.signature() for operand in operands), repr(sorted(options.items())))
    parameters = [operand.array for operand in operands if operand.role == "Weight"]
    known = _functions.get(key)
    if known is not None:
        return known.with_parameters(parameters) if parameters else known
    graph = _trace(name, operands, options)
    try:
        made = Function(str(graph), parameters, name=name, threads=threads)
    except Error as error:
        raise _refused(error) from None
    while len(_functions) >= _KEPT:
        _functions.pop(next(iter(_functions)), None)
    _functions[key] = made
    return made


def _refused(error: Error) -> Exception:
    """What the dialect says of wrong operands is about the arguments of a call."""
    from .errors import CompileError

    return error if isinstance(error, CompileError) else ValueError(str(error))


def _bound(name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(_signature(name).bind(*arguments, **keywords).arguments)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None


def _options(name: str, bound: Mapping[str, Any]) -> dict[str, Any]:
    """What is no operand."""
    return {option: value for option, value in bound.items() if option not in _roles(name)}


def _turned(results: Any, axes: str, order: tuple[int, int, int]) -> Any:
    """Results in the order of axes that was asked for, the inverse of each order being the order itself."""
    if axes == "btc":
        return results
    turned = tuple(result.transpose(order) if result.ndim == 3 else result
                   for result in (results if isinstance(results, tuple) else (results,)))
    return turned if isinstance(results, tuple) else turned[0]


def _run(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    axes, threads = keywords.pop("axes", "btc"), keywords.pop("threads", None)
    order = _order(axes)
    bound = _bound(name, arguments, keywords)
    operands = _operands(name, bound, order)
    function = _compiled(name, operands, _options(name, bound), threads)
    return _turned(function(*(operand.array for operand in operands if operand.role != "Weight")), axes, order)


class Prepared:
    """An operation that keeps its weights as the compiled code wants them.

        layer = ops.Prepared(ops.dense, weight=w, bias=b, activation="gelu")
        y = layer(x)        # ops.dense(x, w, b, activation="gelu"), without packing w again

    An operation packs its weights in every call, since they may have changed: for 768 x 768 half a millisecond, half as long
    as the product with 128 tokens takes. Here they are copied now; changes of w are not seen. Weights and options go by their
    names, axes and threads as for operations; a call takes what is left of the operands, in order or by name. Many threads
    may call it at once.
    """

    def __init__(self, operation: Callable[..., Any] | str, *, axes: str = "btc", threads: int | None = None,
                 **fixed: Any) -> None:
        name = operation if isinstance(operation, str) else getattr(operation, "__name__", "")
        if name not in OPERATIONS or operation not in (name, globals()[name], OPERATIONS[name]):
            raise ValueError(f"operation: requires one of convbert.ops, but found {shown(operation)}")
        self.name, self._axes, self._order, self._threads = name, axes, _order(axes), threads
        roles = _roles(name)
        #: Operands of a call, in order.
        self._inputs = [operand for operand, role in roles.items() if role != "Weight"]
        for given in fixed:
            if given in self._inputs:
                raise ValueError(f"{given}: requires weights and options of {name} alone, but found an operand of its calls")
            if given not in _signature(name).parameters:
                raise TypeError(f"{name}() got an unexpected keyword argument {given!r}")
        self._fixed = {given: np.array(_array(given, value, "Weight", self._order)) if given in roles and value is not None
                       else value for given, value in fixed.items()}
        self._functions: dict[Any, Function] = {}

    def __repr__(self) -> str:
        return f"<{self.name}({', '.join(self._inputs)}) with {', '.join(self._fixed)}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The operation on arrays, see convbert.ops."""
        if len(arguments) > len(self._inputs):
            raise TypeError(f"{self.name}() takes {len(self._inputs)} operands ({', '.join(self._inputs)}), but found "
                            f"{len(arguments)}")
        given = dict(zip(self._inputs, arguments))
        for name in named:
            if name in given or name not in self._inputs:
                what = "is given twice" if name in given else f"is none of the operands {', '.join(self._inputs)}"
                raise TypeError(f"{self.name}() argument {name!r} {what}")
        bound = _bound(self.name, (), self._fixed | given | named)
        inputs = _operands(self.name, {name: bound[name] for name in self._inputs if name in bound}, self._order)
        key = tuple(operand.signature() for operand in inputs)
        if key not in self._functions:
            operands = _operands(self.name, bound, self._order)
            self._functions[key] = _compiled(self.name, operands, _options(self.name, bound), self._threads)
        return _turned(self._functions[key](*(operand.array for operand in inputs)), self._axes, self._order)


def _on_arrays(name: str) -> Callable[..., Any]:
    """The operation on arrays, with the signature and the description of the one on values."""
    @functools.wraps(OPERATIONS[name])
    def function(*arguments: Any, **keywords: Any) -> Any:
        return _run(name, arguments, keywords)

    function.__module__ = __name__
    return function


for _name in OPERATIONS:
    globals()[_name] = _on_arrays(_name)

__all__ = ["Prepared", *OPERATIONS]


def __getattr__(name: str) -> Callable[..., Any]:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
