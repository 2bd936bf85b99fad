"""What the functions of operations_nn, _conv, _attention and _gating are made of: the dialect's operations
on values of a graph, one function each, for convbert.nn and convbert.ops.

To add an operation: a function in one of these modules, whose annotations say what its operands are (Rows: activations,
[B, T, C]; Pooled: [B, C]; Features: either; Mask: one bit a token, [B, T]; Factors: numbers that a call gives; Weight:
parameters; Sequence[Rows], Sequence[Pooled]: several) and which emits it with the types of its results. Its name then exists for values and for arrays.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .errors import shown
from .graph import Value
from .ir_text import Keyword, TensorType, describe_extents, length_after

Rows: TypeAlias = Value
Pooled: TypeAlias = Value
Features: TypeAlias = Value
Mask: TypeAlias = Value
Factors: TypeAlias = Value
Weight: TypeAlias = Value
#: "same", "causal", "valid", or zeros before and behind.
Padding: TypeAlias = str | Sequence[int]

#: All operations by name.
OPERATIONS: dict[str, Callable[..., Any]] = {}

#: The dialect's elementwise functions.
ACTIVATIONS = ("identity", "gelu", "gelu_new", "relu", "silu", "tanh", "selu", "sigmoid", "gelu_10", "quick_gelu",
               "relu2", "relu6", "leaky_relu", "hardswish", "laplace", "mish", "sqrtsoftplus", "hard_sigmoid")

#: Whose orientation a weight has: "in_out" of the dialect or "out_in".
LAYOUTS = {"out_in": "out_in", "torch": "out_in", "in_out": "in_out", "keras": "in_out"}


def whole(argument: str, value: Any) -> int:
    """A whole number, of Python's or NumPy's types."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ValueError(f"{argument}: requires a whole number, but found {shown(value)}")


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes `function` one of OPERATIONS; what it declares to be an int is one."""
    counts = [name for name, parameter in inspect.signature(function).parameters.items() if parameter.annotation == "int"]

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for name in counts:
            if name in keywords:
                keywords[name] = whole(name, keywords[name])
        return function(*arguments, **keywords)

    OPERATIONS[function.__name__] = checked
    return checked


def pads(padding: Padding, taps: int, dilation: int = 1, stride: int = 1) -> tuple[int, int]:
    """Zeros before and behind a sequence."""
    reach = dilation * (taps - 1)
    named = {"same": (reach // 2, reach - reach // 2), "causal": (reach, 0), "valid": (0, 0)}
    if isinstance(padding, str):
        if padding not in named:
            raise ValueError(f"padding: requires same, causal, valid or a pair of numbers, but found {shown(padding)}")
        if padding == "same" and stride != 1:
            raise ValueError(f"padding: requires a pair of numbers for a stride of {stride}, but found 'same', which "
                             "would depend on the number of tokens")
        return named[padding]
    try:
        low, high = (whole("padding", number) for number in padding)
    except (TypeError, ValueError):
        raise ValueError(f"padding: requires same, causal, valid or a pair of numbers, but found {shown(padding)}"
                         ) from None
    return low, high


def convolved(x: Rows, taps: int, zeros: tuple[int, int], stride: int = 1, dilation: int = 1) -> TensorType:
    """The type of a convolution of x, its features apart."""
    return x.type.with_length(length_after(x.shape[1], sum(zeros) - dilation * (taps - 1) - 1, stride))


def keyword(argument: str, kind: str, value: str, known: Sequence[str], default: str | None = None) -> Keyword | None:
    """The attribute for one of `known`; None for what need not be said."""
    if value not in known:
        raise ValueError(f"{argument}: requires one of {', '.join(known)}, but found {shown(value)}")
    return None if value == default else Keyword(kind, value)


def activation_kind(value: str, default: str | None = None) -> Keyword | None:
    return keyword("activation", "activation", value, ACTIVATIONS, default)


def layout_of(value: str) -> Keyword | None:
    keyword("layout", "layout", value, list(LAYOUTS))
    return None if LAYOUTS[value] == "out_in" else Keyword("layout", "in_out")


def squeezed(weight: Weight, name: str = "weight", rank: int = 2, layout: Keyword | None = None) -> Weight:
    """A weight without the axes of extent 1 that files have: [C, 1, K] and [out, in, 1] of PyTorch, [K, C, 1] of Keras.

    Where other extents are 1 too, the last axes go; for a dense weight of the layout in_out, Keras' [1, in, out], the
    first."""
    extra = len(weight.shape) - rank
    if extra == 0:
        return weight
    units = [axis for axis, size in enumerate(weight.shape) if size == 1]
    units = units[:max(extra, 0)] if layout is not None else units[max(len(units) - extra, 0):]
    if len(units) != extra:
        raise ValueError(f"{name}: requires rank {rank}, or more with axes of 1, but found "
                         f"{describe_extents(weight.shape)}")
    groups: list[list[int]] = []
    pending: list[int] = []
    for axis in range(len(weight.shape)):
        if axis in units:
            (groups[-1] if groups else pending).append(axis)
        else:
            groups.append([*pending, axis])
            pending = []
    return weight.graph.reshape(weight, groups)


def out_features(weight: Weight, layout: Keyword | None) -> int:
    size = weight.shape[0 if layout is None else -1]
    assert isinstance(size, int)
    return size


def taps_of(weight: Weight, layout: Keyword | None) -> int:
    """Taps of a depthwise weight, [C, K] or [K, C]."""
    size = weight.shape[-1 if layout is None else 0]
    assert isinstance(size, int)
    return size


def one(values: Sequence[Value]) -> Value:
    (value,) = values
    return value
