"""Convolutions over tokens, on values of a graph."""

from __future__ import annotations

from .graph import Value
from .ir_text import Keyword, TensorType, describe_extents
from .operations import (Mask, Padding, Rows, Weight, convolved, keyword, layout_of, one, operation, out_features, pads,
                         squeezed, taps_of)


def _but_one(value: int) -> int | None:
    """What need not be said where it is 1."""
    return None if value == 1 else value


def _edge(value: str) -> Keyword | None:
    return keyword("edge", "edge", value, ("zero", "renorm"), "zero")


def _head_map(value: str) -> Keyword | None:
    return keyword("head_map", "head_map", value, ("blocked", "interleaved"), "blocked")


@operation
def conv1d(x: Rows, weight: Weight, bias: Weight | None = None, *, padding: Padding = "same", stride: int = 1,
           dilation: int = 1, groups: int = 1, layout: str = "out_in") -> Value:
    """Convolution over tokens. weight: [out, in / groups, K] (PyTorch), or [K, in / groups, out] for layout="in_out" or
    "keras"."""
    weight, order = squeezed(weight, rank=3), layout_of(layout)
    taps = taps_of(weight, order)
    zeros = pads(padding, taps, dilation, stride)
    return one(x.graph.emit(
        "conv1d", "$x, $weight [, $bias]", dict(x=x, weight=weight, bias=bias),
        [convolved(x, taps, zeros, stride, dilation).with_features(out_features(weight, order))], pads=zeros,
        stride=_but_one(stride), dilation=_but_one(dilation), groups=_but_one(groups), layout=order))


@operation
def depthwise_conv1d(x: Rows, weight: Weight, bias: Weight | None = None, *, padding: Padding = "same", stride: int = 1,
                     dilation: int = 1, layout: str = "out_in") -> Value:
    """One filter a channel over tokens, or m of them: channel c*m + j of the result is filter j of channel c. weight:
    [m C, K] or PyTorch's [m C, 1, K]; layout="keras": [K, m C] or [K, C, m]."""
    if len(weight.shape) == 3 and layout_of(layout) is not None and weight.shape[2] != 1:
        weight = weight.graph.reshape(weight, [[0], [1, 2]])  # Keras' depth multiplier
    weight, order = squeezed(weight), layout_of(layout)
    taps = taps_of(weight, order)
    zeros = pads(padding, taps, dilation, stride)
    return one(x.graph.emit(
        "depthwise_conv1d", "$x, $weight [, $bias]", dict(x=x, weight=weight, bias=bias),
        [convolved(x, taps, zeros, stride, dilation).with_features(out_features(weight, order))], pads=zeros,
        stride=_but_one(stride), dilation=_but_one(dilation), layout=order))


@operation
def separable_conv1d(x: Rows, depthwise: Weight, pointwise: Weight, bias: Weight | None = None, *,
                     padding: Padding = "same", dilation: int = 1, layout: str = "out_in") -> Value:
    """depthwise_conv1d, then a dense layer. pointwise: [out, in] or [out, in, 1]; layout="keras": [in, out] or
    [1, in, out]."""
    order = layout_of(layout)
    depthwise, pointwise = squeezed(depthwise, "depthwise"), squeezed(pointwise, "pointwise", layout=order)
    taps = taps_of(depthwise, order)
    zeros = pads(padding, taps, dilation)
    return one(x.graph.emit(
        "separable_conv1d", "$x, $depthwise, $pointwise [, $bias]",
        dict(x=x, depthwise=depthwise, pointwise=pointwise, bias=bias),
        [convolved(x, taps, zeros, dilation=dilation).with_features(out_features(pointwise, order))], pads=zeros,
        dilation=_but_one(dilation), layout=order))


@operation
def light_conv(x: Rows, weight: Weight, bias: Weight | None = None, *, padding: Padding = "same", dilation: int = 1,
               normalize: str = "softmax", edge: str = "zero", head_map: str = "blocked") -> Value:
    """Lightweight convolution: the channels of a head share their taps, which a softmax makes sum to one. weight:
    [heads, K] or fairseq's [heads, 1, K]."""
    weight = squeezed(weight)
    taps = taps_of(weight, None)
    zeros = pads(padding, taps, dilation)
    return one(x.graph.emit(
        "light_conv", "$x, $weight [, $bias]", dict(x=x, weight=weight, bias=bias), [x.type], pads=zeros,
        dilation=_but_one(dilation), normalize=keyword("normalize", "norm", normalize, ("none", "softmax"), "softmax"),
        edge=_edge(edge), head_map=_head_map(head_map)))


def _taps_of_generator(weight: Weight, order: Keyword | None, heads: int) -> int:
    features = out_features(weight, order)
    if heads < 1:
        raise ValueError(f"heads: requires at least 1, but found {heads}")
    if features % heads:
        raise ValueError(f"weight: requires a multiple of {heads} heads of output features, but found {features}")
    return features // heads


@operation
def dynamic_conv(x: Rows, weight: Weight, bias: Weight | None = None, query: Rows | None = None,
                 channel_bias: Weight | None = None, *, heads: int, padding: Padding = "same", dilation: int = 1,
                 normalize: str = "softmax", edge: str = "zero", head_map: str = "blocked",
                 layout: str = "out_in") -> Value:
    """Dynamic convolution: taps from a dense layer of the current token, or of query. weight: [heads * K, C], feature
    h*K + k being tap k of head h, as in fairseq's weight_linear."""
    order = layout_of(layout)
    weight = squeezed(weight, layout=order)
    return one(x.graph.emit(
        "dynamic_conv", "$x, $weight [, $bias] [query($query)] [channel_bias($channel_bias)]",
        dict(x=x, weight=weight, bias=bias, query=query, channel_bias=channel_bias), [x.type], heads=heads,
        pads=pads(padding, _taps_of_generator(weight, order, heads), dilation), dilation=_but_one(dilation),
        normalize=keyword("normalize", "norm", normalize, ("none", "softmax"), "softmax"), edge=_edge(edge),
        head_map=_head_map(head_map), layout=order))


@operation
def dynamic_kernel(q: Rows, weight: Weight, bias: Weight | None = None, span_key: Rows | None = None, *, heads: int,
                   normalize: str = "softmax", edge: str = "zero", padding: Padding | None = None, dilation: int = 1,
                   layout: str = "out_in") -> Value:
    """Taps [B, T, H, K] for every token from a dense layer of q (* span_key): feature h*K + k is tap k of head h, as in
    fairseq's weight_linear. edge="renorm", with the padding that they are for: taps that read beyond an end are zero."""
    order = layout_of(layout)
    weight = squeezed(weight, layout=order)
    taps = _taps_of_generator(weight, order, heads)
    return one(q.graph.emit(
        "dynamic_kernel", "$q, $weight [, $bias] [span($span_key)]",
        dict(q=q, weight=weight, bias=bias, span_key=span_key), [TensorType((*q.shape[:2], heads, taps))], heads=heads,
        normalize=keyword("normalize", "norm", normalize, ("none", "softmax")), edge=_edge(edge),
        pads=None if padding is None else pads(padding, taps, dilation), dilation=_but_one(dilation), layout=order))


@operation
def apply_kernel(v: Rows, taps: Rows, mask: Mask | None = None, *, padding: Padding = "same", normalize: str = "none",
                 dilation: int = 1, edge: str = "zero", head_map: str = "blocked") -> Value:
    """y[b, t, h, r] = sum_k taps[b, t, h, k] v[b, t + k - low, h, r]; normalize="softmax": taps holds logits."""
    if len(taps.shape) != 4:
        raise ValueError("taps: requires rank 4 [batch, tokens, heads, taps], but found rank "
                         f"{len(taps.shape)} with shape {describe_extents(taps.shape)}")
    return one(v.graph.emit(
        "apply_kernel", "$v, $taps [mask($mask)]", dict(v=v, taps=taps, mask=mask), [v.type],
        pads=pads(padding, taps.features, dilation),
        normalize=keyword("normalize", "norm", normalize, ("none", "softmax")), dilation=_but_one(dilation),
        edge=_edge(edge), head_map=_head_map(head_map)))


@operation
def span_dynamic_conv(q: Rows, span_key: Rows, v: Rows, weight: Weight, bias: Weight | None = None,
                      mask: Mask | None = None, *, heads: int, padding: Padding = "same", dilation: int = 1,
                      edge: str = "zero", head_map: str = "blocked", layout: str = "out_in") -> Value:
    """apply_kernel(v, dynamic_kernel(q * span_key))."""
    order = layout_of(layout)
    weight = squeezed(weight, layout=order)
    return one(q.graph.emit(
        "span_dynamic_conv", "$q, $span_key, $v, $weight [, $bias] [mask($mask)]",
        dict(q=q, span_key=span_key, v=v, weight=weight, bias=bias, mask=mask), [v.type], heads=heads,
        pads=pads(padding, _taps_of_generator(weight, order, heads), dilation), dilation=_but_one(dilation),
        edge=_edge(edge), head_map=_head_map(head_map), layout=order))


@operation
def kernel_attention_conv(x: Rows, f1: Weight, f2: Weight, kernels: Weight, b1: Weight | None = None,
                          b2: Weight | None = None, biases: Weight | None = None, *, padding: Padding = "same",
                          stride: int = 1, dilation: int = 1, temperature: float = 1.0, aggregate: str = "auto",
                          layout: str = "out_in") -> Value:
    """Attention over convolution kernels (Chen et al. 2020, "dynamic convolution"): conv1d with the mix of N kernels that
    softmax((relu(mean(x) F1 + b1) F2 + b2) / temperature) weighs for each sequence; the mean is over all of its tokens.

    kernels: [N, out, in, K], biases: [N, out], f1: [hidden, in], f2: [N, hidden]; for layout="in_out" or "keras":
    [N, K, in, out], [in, hidden], [hidden, N]. aggregate: what is mixed, "kernels" or "outputs", which is the same but
    for rounding; "auto" is "kernels", since it knows no lengths; for sequences below some 12 tokens "outputs" is
    faster. temperature: positive; 1 as trained models are used.
    """
    order = layout_of(layout)
    f1, f2 = squeezed(f1, "f1", layout=order), squeezed(f2, "f2", layout=order)
    if len(kernels.shape) != 4:
        raise ValueError(f"kernels: requires rank 4, but found {describe_extents(kernels.shape)}")
    taps, features = (int(kernels.shape[axis]) for axis in ((3, 1) if order is None else (1, 3)))
    zeros = pads(padding, taps, dilation, stride)
    return one(x.graph.emit(
        "kernel_attention_conv", "$x squeeze($f1 [, $b1]) excite($f2 [, $b2]) kernels($kernels [, $biases])",
        dict(x=x, f1=f1, b1=b1, f2=f2, b2=b2, kernels=kernels, biases=biases),
        [convolved(x, taps, zeros, stride, dilation).with_features(features)], pads=zeros, stride=_but_one(stride),
        dilation=_but_one(dilation), temperature=None if temperature == 1 else float(temperature),
        aggregate=keyword("aggregate", "aggregate", aggregate, ("auto", "kernels", "outputs"), "auto"), layout=order))
