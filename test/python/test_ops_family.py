"""Lightweight and dynamic convolution, gates, and the blocks made of them, against NumPy in float64."""

import numpy as np
import pytest

import convbert
import convbert.nn as nn
from convbert import ops, reference_ops as oracle
from test_nn import doubles, random_weights
from test_ops import B, C, MASK, T, TOY, X, check, normal, weight, wide

LN2, LN3 = np.log(2), np.log(3)


# ---- worked examples: exact rationals ---------------------------------------------------------------------------------

def test_light_conv_as_worked_out():
    w = np.array([[0, LN2, 0], [LN3, 0, 0]], np.float32)
    same = [[1, 1 / 4, 2 / 5, 2 / 5], [5 / 4, 5 / 4, 7 / 5, 6 / 5], [3 / 4, 2, 2 / 5, 1], [1 / 2, 5 / 4, 4 / 5, 6 / 5]]
    causal = [[1 / 4, 0, 2 / 5, 1 / 5], [1, 1 / 4, 2 / 5, 2 / 5], [5 / 4, 5 / 4, 7 / 5, 6 / 5], [3 / 4, 2, 2 / 5, 1]]
    np.testing.assert_allclose(ops.light_conv(TOY, w)[0], same, atol=1e-6)
    np.testing.assert_allclose(ops.light_conv(TOY, w[:, None], padding="causal")[0], causal, atol=1e-6)
    raw = np.array([[1, 2, 1], [3, 1, 1]], np.float32)
    np.testing.assert_allclose(ops.light_conv(TOY, raw, normalize="none")[0],
                               [[4, 1, 2, 2], [5, 5, 7, 6], [3, 8, 2, 5], [2, 5, 4, 6]], atol=1e-6)


#: [heads * taps, channels].
GENERATOR = (LN2 * np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]]).T
             ).astype(np.float32)


@pytest.mark.parametrize("options, want", [
    ({}, [[3 / 4, 1 / 4, 2 / 7, 3 / 7], [8 / 7, 5 / 7, 1, 3 / 2], [3 / 10, 13 / 5, 5 / 7, 4 / 7], [2 / 5, 8 / 5, 3 / 4, 1]]),
    ({"padding": "causal"},
     [[1 / 4, 0, 4 / 7, 2 / 7], [4 / 7, 1 / 7, 1 / 2, 3 / 4], [17 / 10, 11 / 10, 8 / 7, 11 / 7], [1, 9 / 5, 1 / 2, 1]]),
    ({"edge": "renorm"},
     [[3 / 2, 1 / 2, 2 / 3, 1], [8 / 7, 5 / 7, 1, 3 / 2], [3 / 10, 13 / 5, 5 / 7, 4 / 7], [1 / 2, 2, 1, 4 / 3]]),
])
def test_dynamic_conv_as_worked_out(options, want):
    np.testing.assert_allclose(ops.dynamic_conv(TOY, GENERATOR, heads=2, **options)[0], want, atol=1e-6)


# ---- against the oracle -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("heads, taps, padding, pads", [(2, 3, "same", (1, 1)), (12, 5, "causal", (4, 0)),
                                                        (3, 4, "same", (1, 2)), (1, 15, "same", (7, 7))])
def test_light_conv(heads, taps, padding, pads):
    w, b = normal(heads, taps), weight(C)
    check(ops.light_conv(X, w, b, padding=padding), oracle.light_conv(*wide(X, w, b), pads=pads))


@pytest.mark.parametrize("heads, taps", [(2, 3), (4, 7), (12, 1)])
def test_dynamic_conv_with_everything(heads, taps):
    q, w, b, cb = normal(B, T, 9, seed=1), weight(heads * taps, 9), weight(heads * taps), weight(C)
    half = taps // 2
    check(ops.dynamic_conv(X, w, b, q, cb, heads=heads),
          oracle.dynamic_conv(*wide(X, w, b, q, cb), heads=heads, pads=(half, half)))


@pytest.mark.parametrize("heads", [8, 16])
def test_as_many_heads_as_lanes(heads):
    """Heads without padding: what fusion left behind was once counted as part of the kernel."""
    x, w = normal(B, T, 32), weight(heads * 3, 32)
    check(ops.dynamic_conv(x, w, heads=heads), oracle.dynamic_conv(*wide(x, w), heads=heads, pads=(1, 1)))
    q, key = normal(B, T, 32, seed=1), normal(B, T, 32, seed=2)
    check(ops.span_dynamic_conv(q, key, x, w, heads=heads),
          oracle.span_dynamic_conv(*wide(q, key, x, w), heads=heads, pads=(1, 1)))


@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid"])
@pytest.mark.parametrize("mask", [None, MASK])
def test_squeeze_excite(gate, mask):
    w1, b1, w2, b2 = weight(3, C), weight(3), weight(C, 3), weight(C)
    want = oracle.squeeze_excite(*wide(X, w1, b1, w2, b2), mask=mask, gate=gate)
    check(ops.squeeze_excite(X, w1, w2, b1, b2, mask, gate=gate), want)


@pytest.mark.parametrize("count, scaled, shifted, layout", [(2, False, False, "out_in"), (3, True, False, "in_out"),
                                                            (4, False, True, "out_in"), (7, True, True, "out_in")])
def test_selective_kernel(count, scaled, shifted, layout):
    branches = [normal(B, T, C, seed=seed) for seed in range(count)]
    wz, a, scale, shift = weight(5, C), weight(count, 5, C), normal(5) if scaled else None, normal(5) if shifted else None
    wz64, a64, scale64, shift64 = wide(wz, a, scale, shift)
    check(ops.selective_kernel(branches, wz if layout == "out_in" else wz.T, a, scale, shift, layout=layout),
          oracle.selective_kernel(*wide(*branches), wz=wz64, a=a64, scale=scale64, shift=shift64))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_select_branches(count):
    branches, logits = [normal(B, T, C, seed=m) for m in range(count)], [normal(B, C, seed=m) for m in range(count)]
    check(ops.select_branches(branches, logits), oracle.select_branches(*wide(*branches, *logits)))


def test_what_select_branches_refuses():
    with pytest.raises(ValueError, match="^logits: requires a list of arrays, but found None$"):
        ops.select_branches([X], None)
    with pytest.raises(ValueError, match="^logits0: requires rank 2 \\[batch, channels\\], but found rank 3"):
        ops.select_branches([X], [X])
    with pytest.raises(ValueError, match="^select_branches: requires as many logits as branches, 2, but found 1"):
        ops.select_branches([X, X], [normal(B, C)])


def test_what_selective_kernel_refuses():
    wz, a = weight(5, C), weight(2, 5, C)
    with pytest.raises(ValueError, match="branches: requires a list of arrays, but found"):
        ops.selective_kernel(X, wz, a)


def test_small_ones():
    b, gate = weight(C), normal(B, C)
    check(ops.add_bias(X, b), wide(X)[0] + b)
    check(ops.scale_channels(X, gate), oracle.scale_channels(*wide(X, gate)))
    check(ops.pool(X, "mean", MASK), oracle.pool(*wide(X), "mean", MASK))


# ---- blocks -----------------------------------------------------------------------------------------------------------

def fairseq_layer(x, w, conv, gated, mask):
    """An encoder layer of fairseq's convolution models, from the names of its files."""
    y = oracle.dense(x, w["linear1.weight"], w["linear1.bias"])
    if gated:
        y = y[..., :C] / (1 + np.exp(-y[..., C:]))
    y = conv(oracle.mask_tokens(y, mask))
    x = oracle.layer_norm(oracle.dense(y, w["linear2.weight"], w["linear2.bias"]), w["layer_norms.0.weight"],
                          w["layer_norms.0.bias"], x, eps=1e-5)
    h = oracle.dense(x, w["fc1.weight"], w["fc1.bias"], activation="relu")
    return oracle.layer_norm(oracle.dense(h, w["fc2.weight"], w["fc2.bias"]), w["layer_norms.1.weight"],
                             w["layer_norms.1.bias"], x, eps=1e-5)


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("kind", ["light", "dynamic"])
def test_encoder_layers(kind, gated):
    graph = nn.Graph("layer")
    x, mask = graph.input("x", C), graph.mask("mask")
    build = nn.light_conv_layer if kind == "light" else nn.dynamic_conv_layer
    graph.output(build(x, mask, heads=3, taps=5, intermediate=20, gated=gated))
    weights = random_weights(graph)
    w = doubles(weights)

    def conv(y):
        if kind == "light":
            return oracle.light_conv(y, w["conv.weight"][:, 0], pads=(2, 2))
        return oracle.dynamic_conv(y, w["conv.weight_linear.weight"], heads=3, pads=(2, 2))

    check(graph.compile(weights)(X, MASK), fairseq_layer(wide(X)[0], w, conv, gated, MASK))


def test_squeeze_excite_block():
    graph = nn.Graph("se")
    graph.output(nn.squeeze_excite_block(graph.input("x", C), reduction=4))
    weights = random_weights(graph)
    w = doubles(weights)
    check(graph.compile(weights)(X), oracle.squeeze_excite(
        *wide(X), w["se.fc1.weight"], w["se.fc1.bias"], w["se.fc2.weight"], w["se.fc2.bias"]))


def test_selective_kernel_block():
    graph = nn.Graph("sk")
    graph.output(nn.selective_kernel_block(graph.input("x", C), kernels=(3, 5), least=4))
    weights = random_weights(graph)
    w = doubles(weights)
    branches = [oracle.depthwise_conv1d(*wide(X), w[f"sk.branches.{index}.weight"][:, 0], pads=(half, half))
                for index, half in enumerate((1, 2))]
    check(graph.compile(weights)(X), oracle.selective_kernel(*branches, wz=w["sk.squeeze.weight"], a=w["sk.select"]))
