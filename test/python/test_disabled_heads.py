"""Heads that are disabled: silent ones have a factor of 0, uniform ones attend to all tokens alike.

A head whose part of the key projection is zero has equal scores for all keys, so it gives the mean of its values over the
tokens that are no padding, whatever the query holds; the convolution beside it does not notice.
"""

import numpy as np
import pytest

import convbert.nn as nn
from convbert import ops, reference_ops as oracle
from convbert.targets import cpu_flags
from test_ops import B, C, MASK, T, X, check, normal, wide

LN2 = np.log(2)
targets = pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", pytest.param("x86-64-v4", marks=pytest.mark.skipif(
    "avx512f" not in cpu_flags(), reason="no AVX-512 here"))])

#: The worked example of mixed attention: two attention and two convolution heads of one feature, weights [in, out].
TOKENS = np.array([[[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2], [1, 1, 1, 0]]], np.float32)
WO = np.array([[1, 0], [0, 1], [1, 1], [0, 2]], np.float32)
WEIGHTS = {
    "wq": [[0, 0], [0, 0], [0, 1], [1, 0]], "wk": LN2 * np.array([[0, 1], [0, 0], [0, 0], [1, 0]]),
    "wv": [[1, 0], [0, 1], [0, 0], [0, 0]], "wd": [[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]],
    "wp": [[1, 0], [0, 1], [0, 0], [0, 0]], "wf": LN2 * np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]]), "wo": WO,
}
SIZES = {"bq": 2, "bk": 2, "bv": 2, "bp": 2, "bf": 6, "bo": 2}
#: What the convolution makes, and the first attention head with the last token masked.
CONVOLVED = np.array([[1 / 2, 1 / 6], [1, 4 / 3], [9 / 7, 15 / 7], [4 / 5, 2 / 5]])
FIRST_MASKED = np.array([3 / 4, 3 / 4, 1 / 2, 1])


def block(target, disabled, mask):
    """The block, the second attention head of which is disabled."""
    weights = {name: np.array(value, np.float32) for name, value in WEIGHTS.items()}
    weights |= {name: np.zeros(size, np.float32) for name, size in SIZES.items()}
    if disabled == "uniform":
        weights["wk"][:, 1] = 0
    graph = nn.Graph("block")
    x, real, factors = graph.input("x", 4), graph.mask("mask"), graph.factors("factors", 4)
    graph.output(nn.mixed_attention(x, **{name: graph.parameter(name, value.shape) for name, value in weights.items()},
                                    mask=real, head_mask=factors, attn_heads=2, conv_heads=2, head_size=1, layout="in_out"))
    factors = np.array([1, disabled != "zero", 1, 1], np.float32)
    return graph.compile(weights, target=target)(TOKENS, mask, factors)[0]


@targets
@pytest.mark.parametrize("disabled, want", [
    ("uniform", [[23 / 18, 25 / 12], [16 / 9, 59 / 12], [316 / 175, 191 / 28], [9 / 5, 57 / 20]]),
    ("zero", [[23 / 18, 5 / 6], [16 / 9, 11 / 3], [316 / 175, 39 / 7], [9 / 5, 8 / 5]]),
    ("no", [[23 / 18, 263 / 150], [16 / 9, 59 / 12], [316 / 175, 46 / 7], [9 / 5, 13 / 5]])])
def test_as_worked_out(target, disabled, want):
    np.testing.assert_allclose(block(target, disabled, np.ones((1, 4), bool)), want, rtol=0, atol=1e-6)


@targets
def test_a_uniform_head_means_tokens_that_are_no_padding(target):
    """4/3 is the mean of 0, 1, 3."""
    attended = np.stack([FIRST_MASKED, np.full(4, 4 / 3)], -1)
    found = block(target, "uniform", np.array([[True, True, True, False]]))
    np.testing.assert_allclose(found, np.hstack([attended, CONVOLVED]) @ WO, rtol=0, atol=1e-6)


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("heads", [1, 3])
def test_uniform_attention_is_a_mean(mask, heads):
    """Keys of zeros, probabilities of 1/L that are written down, and a mean: one and the same."""
    q, v = normal(B, T, C, seed=1), normal(B, T, C, seed=2)
    uniform = ops.self_attention(q, np.zeros_like(X), v, mask, heads=heads)
    real = np.ones((B, T)) if mask is None else mask.astype(np.float64)
    explicit = np.einsum("bj,bjc->bc", real / real.sum(1, keepdims=True), wide(v)[0])
    check(uniform, np.broadcast_to(explicit[:, None], v.shape))
    check(ops.pool(v, "mean", mask), explicit)


@pytest.mark.parametrize("taps", [3, 9])
def test_a_uniform_convolution_head_is_a_box(taps):
    """The same for a head of a dynamic convolution: a generator of zeros."""
    box = np.full((C, taps), 1 / taps, np.float32)
    check(ops.dynamic_conv(X, np.zeros((3 * taps, C)), heads=3),
          oracle.depthwise_conv1d(*wide(X, box), pads=(taps // 2, taps // 2)))
