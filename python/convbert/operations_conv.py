"""Convolutions over tokens, on values of a graph."""

from __future__ import annotations

from .graph import Value
from .ir_text import Keyword, TensorType
from .operations import (Mask, Padding, Rows, Weight, convolved, keyword, layout_of, one, operation, out_features, pads,
                         squeezed, taps_of)


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
