"""Calls that compute in the caller's arrays give what calls give that copy."""

import numpy as np
import pytest

import convbert.nn as nn
from test_nn import random_weights
from test_ops import normal


def build(form):
    graph = nn.Graph(form)
    x, y = graph.input("x", 48), graph.input("y", 48)
    parameter = graph.parameter
    if form == "rows":
        z = nn.depthwise_conv1d(x + y, parameter("w", (48, 5)))
        graph.output(nn.activation(z, "silu"))
        graph.output(z)
        graph.output(nn.depthwise_conv1d(y, parameter("v", (48, 3)), padding="causal"))
    elif form == "products":
        z = nn.norm(nn.linear(x, "up", 96, "gelu"), "norm")
        graph.output(nn.linear(z, "down", 48) * y)
        graph.output(nn.glu(y, parameter("g", (96, 48))))
    else:
        graph.output(nn.self_attention(x, y, x, heads=3))
        graph.output(nn.dynamic_conv(x, parameter("w", (9, 48)), heads=3))
        graph.output(nn.squeeze_excite_block(y))
        graph.output(x)
    return graph


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", ["rows", "products", "gates"])
def test_dense(form, threads):
    """One more token, or a sequence beside that is shorter, and the rows are no longer those of the caller."""
    graph = build(form)
    function = graph.compile(random_weights(graph), threads=threads)
    for batch, length in [(1, 16), (2, 8), (3, 8), (2, 12), (1, 64), (4, 24)]:
        x, y = normal(batch, length, 48), normal(batch, length, 48, seed=1)
        before = x.copy(), y.copy()
        found = function(x, y)
        np.testing.assert_array_equal((x, y), before)
        wide = [np.concatenate([a, np.full((batch, 1, 48), np.nan, np.float32)], axis=1) for a in (x, y)]
        for got, copied in zip(found, function(*wide, lengths=[length] * batch)):
            np.testing.assert_array_equal(got, copied[:, :length])


def test_results_begin_on_cache_lines():
    graph = build("rows")
    function = graph.compile(random_weights(graph))
    for length in (5, 16, 16):
        assert {array.ctypes.data % 64 for array in function(normal(1, length, 48), normal(1, length, 48))} == {0}
