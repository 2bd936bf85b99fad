"""The operations on arrays: each compiles once for what it is given and is then found again.

    import convbert.ops as ops
    y = ops.depthwise_conv1d(x, w, padding="causal")

Activations are [B, T, C] (see axes), NumPy's arrays, anything with DLPack in CPU memory, or nested lists. Code does not
depend on batch and length. All take, beside what their signature says:

axes: the order of batch, tokens and channels of activations: "btc"; "tbc", fairseq's; "bct", that of PyTorch's
convolutions. threads: threads of a call; None for the available CPUs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import operations_attention, operations_conv, operations_nn  # noqa: F401  for their names
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
    return {name: role for name, role in annotated.items() if role in _RANKS or role in ("Mask", "Factors", "Weight")}


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


def _declare(graph: Graph, name: str, role: str, shape: tuple[int, ...]) -> Value:
    if role == "Mask":
        return graph.mask(name)
    if role == "Factors":
        return graph.factors(name, shape[0])
    if role not in _RANKS:
        return graph.parameter(name, shape)
    return graph.pooled(name, shape[1]) if len(shape) == 2 else graph.input(name, shape[2:])


def trace(name: str, arrays: Mapping[str, tuple[int, ...]], options: Mapping[str, Any]) -> Graph:
    """The graph of one operation on operands of these shapes."""
    roles, graph = _roles(name), Graph(name)
    operands = {operand: _declare(graph, operand, roles[operand], shape) for operand, shape in arrays.items()}
    results = OPERATIONS[name](**operands, **options)
    for value in results if isinstance(results, tuple) else (results,):
        graph.output(value)
    return graph


_functions: dict[Any, Function] = {}


def _compiled(name: str, arrays: Mapping[str, AnyArray], options: Mapping[str, Any], threads: int | None) -> Function:
    """The code for operands of these shapes, batch and length apart, with the parameters among them."""
    roles = _roles(name)
    shapes = {operand: (array.ndim, *array.shape[min(array.ndim - 1, 2):]) if roles[operand] in _RANKS
              else () if roles[operand] == "Mask" else array.shape for operand, array in arrays.items()}
    key = (name, threads, tuple(shapes.items()), tuple((o, tuple(v) if isinstance(v, list) else v)
                                                       for o, v in sorted(options.items())))
    parameters = [array for operand, array in arrays.items() if roles[operand] == "Weight"]
    known = _functions.get(key)
    if known is not None:
        return known.with_parameters(parameters) if parameters else known
    graph = trace(name, {operand: array.shape for operand, array in arrays.items()}, options)
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


def _run(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    axes, threads = keywords.pop("axes", "btc"), keywords.pop("threads", None)
    order = _order(axes)
    try:
        bound = _signature(name).bind(*arguments, **keywords).arguments
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    roles = _roles(name)
    arrays = {operand: _array(operand, value, roles[operand], order) for operand, value in bound.items()
              if operand in roles and value is not None}
    options = {option: value for option, value in bound.items() if option not in roles}
    function = _compiled(name, arrays, options, threads)
    results = function(*(array for operand, array in arrays.items() if roles[operand] != "Weight"))
    if axes == "btc":
        return results
    # The inverse of each order is the order itself.
    turned = tuple(result.transpose(order) if result.ndim == 3 else result
                   for result in (results if isinstance(results, tuple) else (results,)))
    return turned if isinstance(results, tuple) else turned[0]


def _on_arrays(name: str) -> Callable[..., Any]:
    """The operation on arrays, with the signature and the description of the one on values."""
    @functools.wraps(OPERATIONS[name])
    def function(*arguments: Any, **keywords: Any) -> Any:
        return _run(name, arguments, keywords)

    function.__module__ = __name__
    return function


for _name in OPERATIONS:
    globals()[_name] = _on_arrays(_name)

__all__ = [*OPERATIONS]


def __getattr__(name: str) -> Callable[..., Any]:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
