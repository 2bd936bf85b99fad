"""A builder of functions: blocks composed of the dialect's operations, compiled and run on arrays.

    import convbert.nn as nn

    block = nn.Graph("gated")
    x = block.input("x", 512)
    y = nn.glu(x, block.parameter("gate.weight", (1024, 512)), block.parameter("gate.bias", 1024))
    block.output(x + y)
    print(block)                                  # its IR
    gated = block.compile("weights.safetensors")  # or a dictionary of arrays
    gated(np.zeros((1, 7, 512)))

Operations are functions on values, those of convbert.ops by the same names; blocks make their own parameters, named as
in the files that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .function import Function
from .graph import Graph, Value
from .ir_text import TensorType
from .operations import OPERATIONS, Padding
from .operations_attention import mixed_attention
from .operations_conv import depthwise_conv1d, dynamic_conv, light_conv
from .operations_gating import selective_kernel, squeeze_excite
from .operations_nn import dense, feed_forward, glu, layer_norm, mask_tokens

globals().update(OPERATIONS)

__all__ = ["Function", "Graph", "TensorType", "Value", "concat", "convbert_layer", "dynamic_conv_layer",
           "gated_linear_unit", "light_conv_layer", "linear", "norm", "repeat", "selective_kernel_block", "split",
           "squeeze_excite_block",
           *OPERATIONS]


def __getattr__(name: str) -> Callable[..., Any]:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def concat(*values: Value) -> Value:
    """Values with their features side by side."""
    return values[0].graph.concat(values)


def split(x: Value, sizes: Sequence[int]) -> tuple[Value, ...]:
    """The features of x in parts of these sizes."""
    if sum(sizes) != x.features:
        raise ValueError(f"split: requires sizes that sum to {x.features} features, but found {sum(sizes)}")
    return tuple(x.graph.slice(x, len(x.shape) - 1, sum(sizes[:index]), size) for index, size in enumerate(sizes))


def repeat(x: Value, count: int, body: Callable[..., Value], *others: Value, scope: str = "layers",
           first: int = 0) -> Value:
    """`count` layers, see Graph.repeat()."""
    return x.graph.repeat(x, count, body, *others, scope=scope, first=first)


# ---- blocks: parameters of their own ----------------------------------------------------------------------------------

def linear(x: Value, name: str, features: int, activation: str = "identity", bias: bool = True) -> Value:
    """A dense layer with the parameters `name.weight`, [out, in], and `name.bias`."""
    graph = x.graph
    return dense(x, graph.parameter(f"{name}.weight", (features, x.features)),
                 graph.parameter(f"{name}.bias", features) if bias else None, activation=activation)


def norm(x: Value, name: str, residual: Value | None = None, eps: float = 1e-12) -> Value:
    """A layer norm with the parameters `name.weight` and `name.bias`."""
    graph = x.graph
    return layer_norm(x, graph.parameter(f"{name}.weight", x.features), graph.parameter(f"{name}.bias", x.features),
                      residual, eps=eps)


def gated_linear_unit(x: Value, name: str = "linear1", features: int | None = None) -> Value:
    """linear to twice the features; the first half times the sigmoid of the second."""
    graph, half = x.graph, features or x.features
    return glu(x, graph.parameter(f"{name}.weight", (2 * half, x.features)), graph.parameter(f"{name}.bias", 2 * half))


def convbert_layer(x: Value, mask: Value | None = None, *, attn_heads: int, conv_heads: int, head_size: int, taps: int,
                   intermediate: int, activation: str = "gelu", eps: float = 1e-12) -> Value:
    """A layer of ConvBERT, with the names and shapes of Hugging Face's files."""
    graph, d = x.graph, x.features
    attn, conv = attn_heads * head_size, conv_heads * head_size
    wide = max(attn, conv)

    def pair(name: str, shape: Sequence[int]) -> tuple[Value, Value]:
        return graph.parameter(f"{name}.weight", shape), graph.parameter(f"{name}.bias", shape[0])

    own = "attention.self."
    wq, bq = pair(own + "query", (wide, d))
    weights = dict(wq=wq, bq=bq)
    if attn_heads:
        weights["wk"], weights["bk"] = pair(own + "key", (attn, d))
        weights["wv"], weights["bv"] = pair(own + "value", (attn, d))
    if conv_heads:
        separable = own + "key_conv_attn_layer."
        weights |= {"wd": graph.parameter(separable + "depthwise.weight", (d, 1, taps)),
                    "wp": graph.parameter(separable + "pointwise.weight", (conv, d, 1)),
                    "bp": graph.reshape(graph.parameter(separable + "bias", (conv, 1)), [[0, 1]])}
        weights["wf"], weights["bf"] = pair(own + "conv_kernel_layer", (conv_heads * taps, conv))
        weights["wc"], weights["bc"] = pair(own + "conv_out_layer", (conv, d))
    weights["wo"], weights["bo"] = pair("attention.output.dense", (d, attn + conv))
    y = mixed_attention(x, mask=mask, attn_heads=attn_heads, conv_heads=conv_heads, head_size=head_size, **weights)
    x = norm(y, "attention.output.LayerNorm", residual=x, eps=eps)
    up, down = pair("intermediate.dense", (intermediate, d)), pair("output.dense", (d, intermediate))
    return norm(feed_forward(x, *up, *down, activation=activation), "output.LayerNorm", residual=x, eps=eps)


def squeeze_excite_block(x: Value, name: str = "se", reduction: int = 16, mask: Value | None = None,
                         gate: str = "sigmoid") -> Value:
    """Squeeze-and-excitation with the parameters `name.fc1.weight`, `.bias`, `name.fc2.weight`, `.bias`."""
    graph, c, r = x.graph, x.features, max(x.features // reduction, 1)
    return squeeze_excite(x, graph.parameter(f"{name}.fc1.weight", (r, c)), graph.parameter(f"{name}.fc2.weight", (c, r)),
                          graph.parameter(f"{name}.fc1.bias", r), graph.parameter(f"{name}.fc2.bias", c), mask, gate=gate)


def selective_kernel_block(x: Value, name: str = "sk", kernels: Sequence[int] = (3, 5), reduction: int = 16,
                           least: int = 32) -> Value:
    """Depthwise branches of several kernel sizes, weighed against each other for each channel: `name.branches.M.weight`,
    `name.squeeze.weight`, `name.select` [M, D, C]."""
    graph, c = x.graph, x.features
    d = max(c // reduction, least)
    branches = [depthwise_conv1d(x, graph.parameter(f"{name}.branches.{index}.weight", (c, 1, taps)))
                for index, taps in enumerate(kernels)]
    return selective_kernel(branches, graph.parameter(f"{name}.squeeze.weight", (d, c)),
                            graph.parameter(f"{name}.select", (len(kernels), d, c)))


def _fairseq_layer(x: Value, mask: Value | None, conv: Callable[[Value], Value], intermediate: int, gated: bool,
                   conv_channels: int | None, normalize_before: bool) -> Value:
    """Encoder layer of fairseq's convolution models: linear1 (GLU), mask, convolution, linear2, feed forward; names and
    epsilon of its files."""
    d, c = x.features, conv_channels or x.features

    def before(y: Value, name: str) -> Value:
        return norm(y, name, eps=1e-5) if normalize_before else y

    def add(y: Value, to: Value, name: str) -> Value:
        return to + y if normalize_before else norm(y, name, residual=to, eps=1e-5)

    y = before(x, "layer_norms.0")
    y = gated_linear_unit(y, "linear1", c) if gated else linear(y, "linear1", c)
    y = linear(conv(y if mask is None else mask_tokens(y, mask)), "linear2", d)
    x = add(y, x, "layer_norms.0")
    y = linear(linear(before(x, "layer_norms.1"), "fc1", intermediate, "relu"), "fc2", d)
    return add(y, x, "layer_norms.1")


def light_conv_layer(x: Value, mask: Value | None = None, *, heads: int, taps: int, intermediate: int,
                     gated: bool = True, padding: Padding = "same", normalize: str = "softmax",
                     conv_channels: int | None = None, normalize_before: bool = False, bias: bool = False) -> Value:
    """Lightweight-convolution encoder layer of fairseq: `conv.weight` is [heads, 1, taps], with bias also `conv.bias`,
    [conv_channels]. x: [B, T, C]; mask: the tokens that are no padding. conv_channels: as many as x has, if left out;
    normalize_before: norms in front of the two blocks, not behind."""
    def conv(y: Value) -> Value:
        parameter = y.graph.parameter
        return light_conv(y, parameter("conv.weight", (heads, 1, taps)),
                          parameter("conv.bias", y.features) if bias else None, padding=padding, normalize=normalize)
    return _fairseq_layer(x, mask, conv, intermediate, gated, conv_channels, normalize_before)


def dynamic_conv_layer(x: Value, mask: Value | None = None, *, heads: int, taps: int, intermediate: int,
                       gated: bool = True, padding: Padding = "same", normalize: str = "softmax",
                       conv_channels: int | None = None, normalize_before: bool = False, bias: bool = False,
                       channel_bias: bool = False) -> Value:
    """Dynamic-convolution encoder layer of fairseq: `conv.weight_linear.weight` is [heads * taps, conv_channels], with
    bias also `conv.weight_linear.bias`, with channel_bias `conv.conv_bias`. The rest as light_conv_layer()."""
    def conv(y: Value) -> Value:
        parameter, name = y.graph.parameter, "conv.weight_linear"
        return dynamic_conv(y, parameter(f"{name}.weight", (heads * taps, y.features)),
                            parameter(f"{name}.bias", heads * taps) if bias else None,
                            channel_bias=parameter("conv.conv_bias", y.features) if channel_bias else None, heads=heads,
                            padding=padding, normalize=normalize)
    return _fairseq_layer(x, mask, conv, intermediate, gated, conv_channels, normalize_before)
