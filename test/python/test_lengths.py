"""Convolutions that make another number of tokens than they read, and what comes behind them."""

import numpy as np
import pytest

import convbert.nn as nn
from convbert import ops, reference_ops as oracle
from test_nn import doubles, random_weights
from test_ops import C, check, normal, weight, wide


def convolved(x, w, low, high):
    padded = np.pad(x, ((0, 0), (low, high), (0, 0)))
    length = padded.shape[1] - w.shape[1] + 1
    return sum(padded[:, j:j + length] * w[:, j] for j in range(w.shape[1]))


@pytest.mark.parametrize("length", [3, 4, 5, 9, 40, 100])
@pytest.mark.parametrize("taps, padding, pads", [(3, "valid", (0, 0)), (5, (0, 2), (0, 2)), (3, (4, 4), (4, 4)),
                                                 (1, (2, 3), (2, 3))])
def test_depthwise(taps, padding, pads, length):
    x, w = normal(3, length, 37), weight(37, taps)
    check(ops.depthwise_conv1d(x, w, padding=padding), convolved(*wide(x, w), *pads))


def test_too_few_tokens():
    with pytest.raises(ValueError, match="^depthwise_conv1d: requires inputs of at least 7 tokens, but found 6$"):
        ops.depthwise_conv1d(normal(2, 6, C), weight(C, 7), padding="valid")


def test_too_few_tokens_on_the_way():
    """Where no token is left between two layers, zeros around none are no result, and there is no mean of none."""
    graph = nn.Graph("way")
    x = graph.input("x", C)
    a = nn.depthwise_conv1d(x, graph.parameter("w", (C, 5)), padding=(1, 0), stride=3, dilation=2)
    graph.output(nn.depthwise_conv1d(a, graph.parameter("v", (C, 3)), padding=(4, 4)))
    graph.output(nn.pool(nn.depthwise_conv1d(a, graph.parameter("u", (C, 2)), padding="valid")))
    way = graph.compile({"w": weight(C, 5), "v": weight(C, 3), "u": weight(C, 2)})
    # Two tokens behind a window of nine with one zero, in steps of three.
    found = way(normal(2, 11, C))
    assert found[0].shape == (2, 8, C) and all(np.isfinite(array).all() for array in found)
    with pytest.raises(ValueError, match="^way: requires inputs of at least 11 tokens, but found 10$"):
        way(normal(2, 10, C))
    with pytest.raises(ValueError, match=r"^lengths: requires at least 11 tokens, but found 10 at \[1\]$"):
        way(normal(2, 12, C), lengths=[12, 10])


def chain():
    """Shorter, then longer; matrix products, attention, sums and means on both lengths."""
    graph = nn.Graph("chain")
    x = graph.input("x", C)
    a = nn.depthwise_conv1d(x, graph.parameter("w1", (C, 3)), padding="valid")
    b = nn.dense(a, graph.parameter("d", (32, C)), activation="relu")
    c = nn.depthwise_conv1d(b, graph.parameter("w2", (32, 5)), padding=(0, 6))
    e = nn.self_attention(c, c, c, heads=2)
    for value in (a, c, e, nn.pool(e, "mean"), nn.pool(x, "mean"), b + b):
        graph.output(value)
    return graph


def chain_in_numpy(x, w):
    a = convolved(x, w["w1"], 0, 0)
    b = np.maximum(oracle.dense(a, w["d"]), 0)
    c = convolved(b, w["w2"], 0, 6)
    e = oracle.self_attention(c, c, c, heads=2, scale=1 / np.sqrt(16))
    return a, c, e, e.mean(axis=1), x.mean(axis=1), 2 * b


@pytest.mark.parametrize("batch, length", [(1, 3), (2, 9), (3, 50)])
def test_what_comes_behind(batch, length):
    graph = chain()
    weights = random_weights(graph)
    function = graph.compile(weights)
    assert repr(function).startswith("<chain(x [B, T, 12]) -> output0 [B, (T-2), 12], output1 [B, ((T-2)+2), 32]")
    x, w = normal(batch, length, C), doubles(weights)
    for got, want in zip(function(x), chain_in_numpy(*wide(x), w)):
        check(got, want)
    # Sequences of several lengths: what is behind their ends is not read.
    lengths = [max(3, length - 2 * index) for index in range(batch)]
    ragged = x.copy()
    for row, count in zip(ragged, lengths):
        row[count:] = np.nan
    results = function(ragged, lengths=lengths)
    for index, count in enumerate(lengths):
        for got, want in zip(results, chain_in_numpy(*wide(x[index:index + 1, :count]), w)):
            part = got[index:index + 1]
            check(part if part.ndim == 2 else part[:, :want.shape[1]], want)
            assert part.ndim == 2 or (part[:, want.shape[1]:] == 0).all()


def test_one_length_is_required():
    graph = nn.Graph()
    x = graph.input("x", C)
    with pytest.raises(ValueError, match=r"requires values of one shape, but found \[B, \(T-2\), 12\] and \[B, T, 12\]"):
        nn.add(nn.depthwise_conv1d(x, graph.parameter("w", (C, 3)), padding="valid"), x)
