"""The dialect's operations on values of a graph: one function each, for convbert.nn and convbert.ops.

To add an operation: a function here, whose annotations say what its operands are (Rows: activations, Mask: one bit a
token, Factors: numbers that a call gives, Weight: parameters) and which emits it with the types of its results. Its name
then exists in both modules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .errors import shown
from .graph import Graph, Value
from .ir_text import BATCH, Keyword, TensorType, describe_extents, length_after

Rows: TypeAlias = Value
Mask: TypeAlias = Value
Factors: TypeAlias = Value
Weight: TypeAlias = Value
#: "same", "causal", "valid", or zeros before and behind.
Padding: TypeAlias = str | Sequence[int]

#: All operations by name.
OPERATIONS: dict[str, Callable[..., Any]] = {}

#: The dialect's elementwise functions.
ACTIVATIONS = ("identity", "gelu", "gelu_new", "relu", "silu", "tanh", "selu", "sigmoid", "gelu_10", "quick_gelu",
               "relu2", "relu6", "leaky_relu", "hardswish", "laplace", "mish", "sqrtsoftplus")

#: Whose orientation a weight has: "in_out" of the dialect or "out_in".
LAYOUTS = {"out_in": "out_in", "torch": "out_in", "in_out": "in_out", "keras": "in_out"}


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    OPERATIONS[function.__name__] = function
    return function


# ---- arguments ------------------------------------------------------------------------------------------------------

def pads(padding: Padding, taps: int, dilation: int = 1) -> tuple[int, int]:
    """Zeros before and behind a sequence."""
    reach = dilation * (taps - 1)
    named = {"same": (reach // 2, reach - reach // 2), "causal": (reach, 0), "valid": (0, 0)}
    if isinstance(padding, str):
        if padding not in named:
            raise ValueError(f"padding: requires same, causal, valid or a pair of numbers, but found {shown(padding)}")
        return named[padding]
    try:
        low, high = (int(number) for number in padding)
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


def squeezed(weight: Weight, rank: int = 2) -> Weight:
    """A weight without the axes of extent 1 that files have: [C, 1, K] of PyTorch, [K, C, 1] and [1, in, out] of
    Keras."""
    extra = len(weight.shape) - rank
    units = [axis for axis, size in enumerate(weight.shape) if size == 1][:max(extra, 0)]
    if extra <= 0:
        return weight
    if len(units) != extra:
        raise ValueError(f"weight: requires rank {rank}, or more with axes of 1, but found "
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


# ---- dense layers, norms ----------------------------------------------------------------------------------------------

@operation
def dense(x: Rows, weight: Weight, bias: Weight | None = None, multiplier: Rows | None = None, *,
          activation: str = "identity", layout: str = "out_in") -> Value:
    """act(x W^T + b) * multiplier. weight: [out, in], or [in, out] for layout="in_out" or "keras"."""
    weight, order = squeezed(weight), layout_of(layout)
    return one(x.graph.emit(
        "dense", "$x, $weight [, $bias] [times $multiplier]",
        dict(x=x, weight=weight, bias=bias, multiplier=multiplier), [x.type.with_features(out_features(weight, order))],
        layout=order, activation=activation_kind(activation, "identity")))


@operation
def grouped_dense(x: Rows, weight: Weight, bias: Weight | None = None, *, activation: str = "identity") -> Value:
    """Group g of the features meets group g of the result only. weight: [groups, in / groups, out / groups]."""
    features = math.prod(int(weight.shape[axis]) for axis in (0, -1))
    return one(x.graph.emit("grouped_dense", "$x, $weight [, $bias]", dict(x=x, weight=weight, bias=bias),
                            [x.type.with_features(features)], activation=activation_kind(activation, "identity")))


@operation
def activation(x: Rows, kind: str) -> Value:
    """An elementwise function by name: gelu, gelu_new, relu, silu, tanh, sigmoid, ..."""
    return x.graph.emit_same("activation", x, kind=activation_kind(kind))


@operation
def layer_norm(x: Rows, gamma: Weight, beta: Weight, residual: Rows | None = None, *, eps: float = 1e-12) -> Value:
    """gamma * (s - mean) / sqrt(variance + eps) + beta of s = x + residual."""
    return one(x.graph.emit("layer_norm", "$x [residual($residual)], $gamma, $beta",
                            dict(x=x, residual=residual, gamma=gamma, beta=beta), [x.type], eps=float(eps)))


@operation
def pool(x: Rows, kind: str = "mean") -> Value:
    """One row a sequence, [B, C]: its first token, its last, or the mean."""
    return one(x.graph.emit("pool", "$x", dict(x=x), [TensorType((BATCH, x.features))],
                            kind=keyword("kind", "pool", kind, ("first", "last", "mean"))))


@operation
def mask_tokens(x: Rows, mask: Mask) -> Value:
    """x with zeros in the tokens where the mask is not set."""
    return one(x.graph.emit("mask_tokens", "$x, $mask", dict(x=x, mask=mask), [x.type]))


@operation
def feed_forward(x: Rows, w1: Weight, b1: Weight, w2: Weight, b2: Weight, *, activation: str = "gelu") -> Value:
    """Two dense layers, weights [out, in] (or grouped, rank 3), with an activation between."""
    return one(x.graph.emit("feed_forward", "$x, $w1, $b1, $w2, $b2", dict(x=x, w1=w1, b1=b1, w2=w2, b2=b2),
                            [x.type.with_features(int(b2.shape[0]))], activation=activation_kind(activation)))


@operation
def add(x: Rows, y: Rows) -> Value:
    """x + y, of one shape."""
    return x + y


@operation
def subtract(x: Rows, y: Rows) -> Value:
    """x - y, of one shape."""
    return x - y


@operation
def multiply(x: Rows, y: Rows) -> Value:
    """x * y, of one shape."""
    return x * y


@operation
def glu(x: Rows, weight: Weight, bias: Weight | None = None, *, layout: str = "out_in") -> Value:
    """Gated linear unit: the first half of a dense layer's features times the sigmoid of the second half."""
    weight, order = squeezed(weight), layout_of(layout)
    axis, half, odd = 0 if order is None else 1, *divmod(out_features(weight, order), 2)
    if odd:
        raise ValueError(f"glu: requires a weight with an even number of output features, but found {2 * half + 1}")
    part = x.graph.slice
    value, gate = (dense(x, part(weight, axis, first, half), part(bias, 0, first, half) if bias else None,
                         layout=layout) for first in (0, half))
    return value * activation(gate, "sigmoid")


# ---- convolutions -------------------------------------------------------------------------------------------------

@operation
def depthwise_conv1d(x: Rows, weight: Weight, *, padding: Padding = "same", layout: str = "out_in") -> Value:
    """One filter a channel over tokens. weight: [C, K] or PyTorch's [C, 1, K]; layout="keras": [K, C] or [K, C, 1]."""
    weight, order = squeezed(weight), layout_of(layout)
    taps = taps_of(weight, order)
    zeros = pads(padding, taps)
    return one(x.graph.emit("depthwise_conv1d", "$x, $weight", dict(x=x, weight=weight), [convolved(x, taps, zeros)],
                            pads=zeros, layout=order))


@operation
def separable_conv1d(x: Rows, depthwise: Weight, pointwise: Weight, bias: Weight | None = None, *,
                     padding: Padding = "same", layout: str = "out_in") -> Value:
    """depthwise_conv1d, then a dense layer. pointwise: [out, in] or [out, in, 1]; layout="keras": [in, out] or
    [1, in, out]."""
    depthwise, pointwise, order = squeezed(depthwise), squeezed(pointwise), layout_of(layout)
    taps = taps_of(depthwise, order)
    zeros = pads(padding, taps)
    return one(x.graph.emit(
        "separable_conv1d", "$x, $depthwise, $pointwise [, $bias]",
        dict(x=x, depthwise=depthwise, pointwise=pointwise, bias=bias),
        [convolved(x, taps, zeros).with_features(out_features(pointwise, order))], pads=zeros, layout=order))


def _taps_of_generator(weight: Weight, order: Keyword | None, heads: int) -> int:
    features = out_features(weight, order)
    if heads < 1 or features % heads:
        raise ValueError(f"weight: requires a multiple of {heads} heads of output features, but found {features}")
    return features // heads


@operation
def dynamic_kernel(q: Rows, weight: Weight, bias: Weight | None = None, span_key: Rows | None = None, *, heads: int,
                   normalize: str = "softmax", layout: str = "out_in") -> Value:
    """Taps [B, T, H, K] for every token from a dense layer of q (* span_key): feature h*K + k is tap k of head h, as in
    fairseq's weight_linear."""
    weight, order = squeezed(weight), layout_of(layout)
    taps = _taps_of_generator(weight, order, heads)
    return one(q.graph.emit("dynamic_kernel", "$q, $weight [, $bias] [span($span_key)]",
                            dict(q=q, weight=weight, bias=bias, span_key=span_key),
                            [TensorType((*q.shape[:2], heads, taps))], heads=heads,
                            normalize=keyword("normalize", "norm", normalize, ("none", "softmax")), layout=order))


@operation
def apply_kernel(v: Rows, taps: Rows, mask: Mask | None = None, *, padding: Padding = "same",
                 normalize: str = "none") -> Value:
    """y[b, t, h, r] = sum_k taps[b, t, h, k] v[b, t + k - low, h, r]; normalize="softmax": taps holds logits."""
    return one(v.graph.emit("apply_kernel", "$v, $taps [mask($mask)]", dict(v=v, taps=taps, mask=mask), [v.type],
                            pads=pads(padding, taps.features),
                            normalize=keyword("normalize", "norm", normalize, ("none", "softmax"))))


@operation
def span_dynamic_conv(q: Rows, span_key: Rows, v: Rows, weight: Weight, bias: Weight | None = None,
                      mask: Mask | None = None, *, heads: int, padding: Padding = "same",
                      layout: str = "out_in") -> Value:
    """apply_kernel(v, dynamic_kernel(q * span_key))."""
    weight, order = squeezed(weight), layout_of(layout)
    return one(q.graph.emit("span_dynamic_conv", "$q, $span_key, $v, $weight [, $bias] [mask($mask)]",
                            dict(q=q, span_key=span_key, v=v, weight=weight, bias=bias, mask=mask), [v.type],
                            heads=heads, pads=pads(padding, _taps_of_generator(weight, order, heads)), layout=order))


# ---- attention ------------------------------------------------------------------------------------------------------

def _key_bias(graph: Graph, mask: Mask | None) -> Value | None:
    if mask is None:
        return None
    return one(graph.emit("attention_bias", "$mask", dict(mask=mask), [TensorType(mask.shape)]))


@operation
def scale_heads(x: Rows, scales: Factors) -> Value:
    """The features of head h times scales[h]."""
    return one(x.graph.emit("scale_heads", "$x, $scales", dict(x=x, scales=scales), [x.type]))


@operation
def self_attention(q: Rows, k: Rows, v: Rows, mask: Mask | None = None, head_mask: Factors | None = None, *, heads: int,
                   scale: float | None = None, with_probabilities: bool = False) -> Value | tuple[Value, ...]:
    """softmax(scale q k^T) v on heads; mask: which keys count. scale: 1 / sqrt(features of a head) if left out.

    with_probabilities: also what the values are mixed with, [B, H, T, T].
    """
    if heads < 1 or k.features % heads:
        raise ValueError(f"heads: requires a divisor of the {k.features} features of k, but found {heads}")
    scale = 1 / math.sqrt(k.features // heads) if scale is None else float(scale)
    results = [q.type.with_features(v.features)]
    if with_probabilities:
        results.append(TensorType((BATCH, heads, q.shape[1], k.shape[1])))
    made = q.graph.emit("self_attention", "$q, $k, $v [bias($bias)] [head_mask($head_mask)]",
                        dict(q=q, k=k, v=v, bias=_key_bias(q.graph, mask), head_mask=head_mask), results,
                        heads=heads, scale=scale, with_probabilities=with_probabilities)
    return made if with_probabilities else one(made)


@operation
def mixed_attention(x: Rows, wq: Weight, bq: Weight, wk: Weight | None = None, bk: Weight | None = None,
                    wv: Weight | None = None, bv: Weight | None = None, wd: Weight | None = None,
                    wp: Weight | None = None, bp: Weight | None = None, wf: Weight | None = None,
                    bf: Weight | None = None, wc: Weight | None = None, bc: Weight | None = None, *, wo: Weight,
                    bo: Weight, mask: Mask | None = None, conv_mask: Mask | None = None,
                    head_mask: Factors | None = None, attn_heads: int, conv_heads: int, head_size: int,
                    layout: str = "out_in") -> Value:
    """Self-attention heads beside span-based dynamic convolution heads, as in ConvBERT; without wc both share the
    values, as in the paper."""
    order = layout_of(layout)
    wd, wp = squeezed(wd) if wd else None, squeezed(wp) if wp else None
    return one(x.graph.emit(
        "mixed_attention", "$x query($wq, [$bq]) [key($wk,] [$bk)] [value($wv,] [$bv)] [span($wd,] [$wp,] [$bp)] "
        "[kernel($wf,] [$bf)] [conv($wc,] [$bc)] output($wo, [$bo]) [bias($bias)] [conv_mask($conv_mask)] "
        "[head_mask($head_mask)]",
        dict(x=x, wq=wq, bq=bq, wk=wk, bk=bk, wv=wv, bv=bv, wd=wd, wp=wp, bp=bp, wf=wf, bf=bf, wc=wc, bc=bc, wo=wo,
             bo=bo, bias=_key_bias(x.graph, mask), conv_mask=conv_mask, head_mask=head_mask),
        [x.type.with_features(out_features(wo, order))], attn_heads=attn_heads, conv_heads=conv_heads,
        head_size=head_size, layout=order))
