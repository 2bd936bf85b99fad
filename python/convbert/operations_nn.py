"""Dense layers, norms, elementwise operations, on values of a graph."""

from __future__ import annotations

import math

from .graph import Value
from .ir_text import BATCH, TensorType
from .operations import (Features, Mask, Rows, Weight, activation_kind, keyword, layout_of, one, operation,
                         out_features, squeezed)


@operation
def dense(x: Features, weight: Weight, bias: Weight | None = None, multiplier: Features | None = None, *,
          activation: str = "identity", layout: str = "out_in") -> Value:
    """act(x W^T + b) * multiplier. weight: [out, in], or [in, out] for layout="in_out" or "keras"."""
    order = layout_of(layout)
    weight = squeezed(weight, layout=order)
    return one(x.graph.emit(
        "dense", "$x, $weight [, $bias] [times $multiplier]",
        dict(x=x, weight=weight, bias=bias, multiplier=multiplier), [x.type.with_features(out_features(weight, order))],
        layout=order, activation=activation_kind(activation, "identity")))


@operation
def grouped_dense(x: Features, weight: Weight, bias: Weight | None = None, *, activation: str = "identity") -> Value:
    """Group g of the features meets group g of the result only. weight: [groups, in / groups, out / groups]."""
    features = math.prod(int(weight.shape[axis]) for axis in (0, -1))
    return one(x.graph.emit("grouped_dense", "$x, $weight [, $bias]", dict(x=x, weight=weight, bias=bias),
                            [x.type.with_features(features)], activation=activation_kind(activation, "identity")))


@operation
def activation(x: Features, kind: str) -> Value:
    """An elementwise function by name: gelu, gelu_new, relu, silu, tanh, sigmoid, ..."""
    return x.graph.emit_same("activation", x, kind=activation_kind(kind))


@operation
def layer_norm(x: Features, gamma: Weight, beta: Weight, residual: Features | None = None, *, eps: float = 1e-12) -> Value:
    """gamma * (s - mean) / sqrt(variance + eps) + beta of s = x + residual."""
    return one(x.graph.emit("layer_norm", "$x [residual($residual)], $gamma, $beta",
                            dict(x=x, residual=residual, gamma=gamma, beta=beta), [x.type], eps=float(eps)))


@operation
def pool(x: Rows, kind: str = "mean", mask: Mask | None = None) -> Value:
    """One row a sequence, [B, C]: its first token, its last, or the mean, with a mask that of the tokens that it has."""
    return one(x.graph.emit("pool", "$x [mask($mask)]", dict(x=x, mask=mask), [TensorType((BATCH, x.features))],
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
def add(x: Features, y: Features) -> Value:
    """x + y, of one shape."""
    return x + y


@operation
def subtract(x: Features, y: Features) -> Value:
    """x - y, of one shape."""
    return x - y


@operation
def add_bias(x: Features, bias: Weight) -> Value:
    """x plus one number for each channel."""
    return one(x.graph.emit("add_bias", "$x, $bias", dict(x=x, bias=bias), [x.type]))


@operation
def multiply(x: Features, y: Features) -> Value:
    """x * y, of one shape."""
    return x * y


@operation
def glu(x: Features, weight: Weight, bias: Weight | None = None, *, layout: str = "out_in") -> Value:
    """Gated linear unit: the first half of a dense layer's features times the sigmoid of the second half."""
    order = layout_of(layout)
    weight = squeezed(weight, layout=order)
    axis, half, odd = 0 if order is None else 1, *divmod(out_features(weight, order), 2)
    if odd:
        raise ValueError(f"glu: requires a weight with an even number of output features, but found {2 * half + 1}")
    part = x.graph.slice
    value, gate = (dense(x, part(weight, axis, first, half), part(bias, 0, first, half) if bias else None,
                         layout=layout) for first in (0, half))
    return value * activation(gate, "sigmoid")


@operation
def batch_norm(x: Rows, mean: Weight, variance: Weight, gamma: Weight, beta: Weight, *, eps: float = 1e-5) -> Value:
    """gamma * (x - mean) / sqrt(variance + eps) + beta, the statistics of training."""
    return one(x.graph.emit("batch_norm", "$x, $mean, $variance, $gamma, $beta",
                            dict(x=x, mean=mean, variance=variance, gamma=gamma, beta=beta), [x.type], eps=float(eps)))
