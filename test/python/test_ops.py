"""convbert.ops: operations on arrays, against NumPy in float64."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from convbert import ops, reference_ops as oracle
from convbert.operations import ACTIVATIONS, pads
from dlpack_arrays import OnlyDLPack

#: Of the magnitude of the result: the largest gap of float32 to float64 measured over all cases here is 2.1e-6.
TOLERANCE = 1e-5


def normal(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


def weight(*shape, seed=0):
    return (normal(*shape, seed=seed) / np.sqrt(shape[-1])).astype(np.float32)


def wide(*arrays):
    return [None if a is None else a.astype(np.float64) for a in arrays]


def check(got, want):
    assert got.dtype == np.float32 and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE * max(1, np.abs(want).max()))


X, B, T, C = normal(2, 7, 12), 2, 7, 12
MASK = np.arange(T) < np.array([[7], [4]])


@pytest.mark.parametrize("options", [{}, {"activation": "gelu"}, {"layout": "in_out"}, {"layout": "keras"}])
def test_dense(options):
    w, b = weight(20, C), weight(20)
    given = w.T if options.get("layout") else w
    x, w64, b64 = wide(X, w, b)
    check(ops.dense(X, given, b, **options), oracle.dense(x, w64, b64, activation=options.get("activation", "identity")))


def test_dense_without_bias_and_with_a_multiplier():
    w, m = weight(C, C), normal(B, T, C, seed=1)
    check(ops.dense(X, w), oracle.dense(*wide(X, w)))
    check(ops.dense(X, w, multiplier=m), oracle.dense(*wide(X, w), multiplier=wide(m)[0]))


def test_one_row_a_sequence():
    """Dense layers and what is elementwise take pooled rows too."""
    row, w, b = normal(3, C), weight(5, C), weight(5)
    check(ops.dense(row, w, b, activation="tanh"), np.tanh(oracle.dense(*wide(row, w, b))))
    check(ops.multiply(row, row), wide(row)[0] ** 2)
    check(ops.layer_norm(row, w[0], w[1]), oracle.layer_norm(*wide(row, w[0], w[1])))
    check(ops.dense(np.ascontiguousarray(row[:, None]), w), oracle.dense(*wide(row, w))[:, None])


def test_grouped_dense():
    w, b = weight(3, 4, 5), weight(15)
    check(ops.grouped_dense(X, w, b), oracle.grouped_dense(*wide(X, w, b)))


def test_the_dialect_has_these_activations(root):
    text = (root / "dialect" / "IR" / "ConvBERTEnums.td").read_text(encoding="utf-8")
    kinds = text[text.index('<"ActivationKind"'):text.index("ConvBERT_ActivationAttr")]
    assert tuple(re.findall(r'EnumAttrCase<"\w+", \d+, "(\w+)">', kinds)) == ACTIVATIONS


@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_activation(kind):
    check(ops.activation(X, kind), oracle.ACTIVATIONS[kind](*wide(X)))


def test_layer_norm():
    g, b, r = weight(C), weight(C, seed=1), normal(B, T, C, seed=2)
    check(ops.layer_norm(X, g, b, eps=1e-5), oracle.layer_norm(*wide(X, g, b), eps=1e-5))
    check(ops.layer_norm(X, g, b, r), oracle.layer_norm(*wide(X, g, b, r)))


@pytest.mark.parametrize("kind", ["first", "last", "mean"])
def test_pool(kind):
    check(ops.pool(X, kind), oracle.pool(*wide(X), kind))


def test_sums_and_products():
    y = normal(B, T, C, seed=3)
    check(ops.add(X, y), X.astype(np.float64) + y)
    check(ops.subtract(X, y), X.astype(np.float64) - y)
    check(ops.multiply(X, y), X.astype(np.float64) * y)


def test_mask_tokens():
    check(ops.mask_tokens(X, MASK), oracle.mask_tokens(*wide(X), MASK))


def test_feed_forward():
    w1, b1, w2, b2 = weight(20, C), weight(20), weight(C, 20), weight(C)
    check(ops.feed_forward(X, w1, b1, w2, b2), oracle.feed_forward(*wide(X, w1, b1, w2, b2)))


@pytest.mark.parametrize("layout", ["out_in", "in_out"])
def test_glu(layout):
    w, b = weight(10, C), weight(10)
    y = oracle.dense(*wide(X, w, b))
    check(ops.glu(X, w if layout == "out_in" else w.T, b, layout=layout), y[..., :5] / (1 + np.exp(-y[..., 5:])))


# ---- convolutions ---------------------------------------------------------------------------------------------------

def test_conv1d_as_worked_out():
    x = np.array([[[1, 0], [2, 1], [0, 3], [1, 1]]], np.float32)
    w = np.array([[[1, 0], [0, 1]], [[1, 1], [0, 2]], [[0, 1], [1, 0]]], np.float32)
    b = np.array([1, -1], np.float32)
    for padding, want in (("same", [[3, 2], [7, 3], [4, 7], [2, 5]]), ("causal", [[1, 0], [3, 2], [7, 3], [4, 7]])):
        np.testing.assert_allclose(ops.conv1d(x, w, b, padding=padding, layout="keras")[0], want, atol=1e-6)


@pytest.mark.parametrize("groups, taps, padding, pads", [(1, 3, "same", (1, 1)), (4, 5, "causal", (4, 0)),
                                                         (2, 4, "same", (1, 2)), (3, 1, "same", (0, 0))])
def test_conv1d(groups, taps, padding, pads):
    w, b = weight(24, C // groups, taps), weight(24)
    want = oracle.conv1d(*wide(X, w, b), pads=pads, groups=groups)
    check(ops.conv1d(X, w, b, padding=padding, groups=groups), want)
    check(ops.conv1d(X, w.transpose(2, 1, 0), b, padding=padding, groups=groups, layout="keras"), want)


def test_depthwise_conv1d_with_a_bias():
    w, b = weight(C, 4), weight(C)
    check(ops.depthwise_conv1d(X, w, b, padding="causal"), oracle.depthwise_conv1d(*wide(X, w, b), pads=(3, 0)))


def test_batch_norm():
    mean, variance, gamma, beta = weight(C), weight(C, seed=1) ** 2, weight(C, seed=2), weight(C, seed=3)
    check(ops.batch_norm(X, mean, variance, gamma, beta),
          oracle.batch_norm(*wide(X, mean, variance, gamma, beta), eps=1e-5))


#: Toy input and answers of the specification of the operators, exact rationals.
TOY = np.array([[[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2], [1, 1, 1, 0]]], np.float32)
TOY_TAPS = np.array([[1, 1, 0, 2], [2, 0, 1, 1], [1, -1, 2, 0]], np.float32)  # [K, C]


def test_the_worked_example():
    same = [[4, -1, 2, 1], [5, -3, 2, 3], [3, 0, 3, 4], [2, 3, 1, 4]]
    causal = [[1, 0, 4, 0], [4, -1, 2, 1], [5, -3, 2, 3], [3, 0, 3, 4]]
    pointwise = np.array([[1, 0], [0, 1], [1, 1], [-1, 2]], np.float32)  # [in, out]
    np.testing.assert_array_equal(ops.depthwise_conv1d(TOY, TOY_TAPS, layout="in_out")[0], same)
    np.testing.assert_array_equal(ops.depthwise_conv1d(TOY, TOY_TAPS.T, padding="causal")[0], causal)
    np.testing.assert_array_equal(ops.separable_conv1d(TOY, TOY_TAPS, pointwise, layout="keras")[0],
                                  [[5, 3], [4, 5], [2, 11], [-1, 12]])


@pytest.mark.parametrize("taps, padding, pads", [(3, "same", (1, 1)), (9, "same", (4, 4)), (5, "causal", (4, 0)),
                                                 (4, "same", (1, 2)), (4, (3, 0), (3, 0)), (15, "same", (7, 7)), (1, "valid", (0, 0))])
def test_depthwise_conv1d(taps, padding, pads):
    w = weight(C, taps)
    check(ops.depthwise_conv1d(X, w, padding=padding), oracle.depthwise_conv1d(*wide(X, w), pads=pads))


def test_depthwise_layouts():
    w = weight(C, 3)
    want = ops.depthwise_conv1d(X, w)
    for stored, layout in [(w[:, None], "torch"), (w.T, "keras"), (w.T[:, :, None], "keras")]:
        np.testing.assert_array_equal(ops.depthwise_conv1d(X, stored, layout=layout), want)
    np.testing.assert_array_equal(ops.depthwise_conv1d(X.transpose(1, 0, 2), w, axes="tbc"), want.transpose(1, 0, 2))
    np.testing.assert_array_equal(ops.depthwise_conv1d(X.transpose(0, 2, 1), w, axes="bct"), want.transpose(0, 2, 1))


def test_separable_conv1d():
    wd, wp, b = weight(C, 5), weight(9, C), weight(9)
    want = oracle.separable_conv1d(*wide(X, wd, wp, b), pads=(2, 2))
    check(ops.separable_conv1d(X, wd, wp, b), want)
    check(ops.separable_conv1d(X, wd[:, None], wp[..., None], b, layout="torch"), want)
    check(ops.separable_conv1d(X, wd.T[..., None], wp.T[None], b, layout="keras"), want)


@pytest.mark.parametrize("heads, taps", [(2, 3), (3, 5), (9, 1)])
def test_dynamic_kernel(heads, taps):
    w, b = weight(heads * taps, C), weight(heads * taps)
    check(ops.dynamic_kernel(X, w, b, heads=heads, normalize="none"),
          oracle.dynamic_kernel(*wide(X, w, b), heads=heads, normalize="none"))


@pytest.mark.parametrize("heads, taps, padding, pads", [(2, 3, "same", (1, 1)), (3, 5, "causal", (4, 0)),
                                                        (12, 4, "same", (1, 2))])
def test_apply_kernel(heads, taps, padding, pads):
    logits = normal(B, T, heads, taps)
    check(ops.apply_kernel(X, logits, padding=padding, normalize="softmax"),
          oracle.apply_kernel(*wide(X, logits), pads=pads, normalize="softmax"))


@pytest.mark.parametrize("mask", [None, MASK])
def test_span_dynamic_conv(mask):
    q, ks, w, b = normal(B, T, C, seed=1), normal(B, T, C, seed=2), weight(2 * 3, C), weight(2 * 3)
    arguments = [q, ks, X, w, b]
    check(ops.span_dynamic_conv(*arguments, mask, heads=2),
          oracle.span_dynamic_conv(*wide(*arguments), mask=mask, heads=2, pads=(1, 1)))


# ---- attention ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("heads", [1, 3, 12])
@pytest.mark.parametrize("mask", [None, MASK])
def test_self_attention(heads, mask):
    q, k, v = (normal(B, T, C, seed=seed) for seed in (1, 2, 3))
    bias = None if mask is None else oracle.attention_bias(mask, np.float64)
    check(ops.self_attention(q, k, v, mask, heads=heads),
          oracle.self_attention(*wide(q, k, v), bias, heads=heads, scale=1 / np.sqrt(C // heads)))


def test_self_attention_with_everything():
    q, k, v, factors = *(normal(B, T, C, seed=seed) for seed in (1, 2, 3)), np.array([1, 0, 0.5], np.float32)
    mixed, probabilities = ops.self_attention(q, k, v, head_mask=factors, heads=3, scale=0.25, with_probabilities=True)
    want = oracle.self_attention(*wide(q, k, v), head_mask=factors, heads=3, scale=0.25, with_probabilities=True)
    check(mixed, want[0])
    check(probabilities, want[1])


def test_scale_heads():
    factors = np.array([2, 0, 1, -1], np.float32)
    check(ops.scale_heads(X, factors), oracle.scale_heads(*wide(X), factors))


@pytest.mark.parametrize("shared", [False, True])
def test_mixed_attention(shared):
    d, a, taps = C, 6, 3
    shapes = {"q": (a, d), "k": (a, d), "v": (a, d), "c": (a, d), "f": (2 * taps, a), "o": (d, 2 * a)}
    weights = {"wd": weight(d, taps), "wp": weight(a, d, seed=9), "bp": weight(a)}
    for seed, (name, shape) in enumerate(shapes.items()):
        if name != "c" or not shared:
            weights |= {f"w{name}": weight(*shape, seed=seed), f"b{name}": weight(shape[0], seed=seed)}
    options = dict(attn_heads=2, conv_heads=2, head_size=3)
    check(ops.mixed_attention(X, mask=MASK, **weights, **options),
          oracle.mixed_attention(*wide(X), bias=oracle.attention_bias(MASK, np.float64),
                                 **dict(zip(weights, wide(*weights.values()))), **options))


def test_padding_names():
    """The window arithmetic of the specification: an even number of zeros too many has the spare one behind."""
    assert [pads(name, 9) for name in ("same", "causal", "valid")] == [(4, 4), (8, 0), (0, 0)]
    assert [pads("same", taps, dilation) for taps, dilation in ((4, 1), (4, 2), (3, 5), (1, 7))] == [
        (1, 2), (3, 3), (5, 5), (0, 0)]
    assert pads("causal", 3, 4, stride=2) == (8, 0)
    with pytest.raises(ValueError, match="requires a pair of numbers for a stride of 2, but found 'same', which would "
                                         "depend on the number of tokens"):
        pads("same", 3, stride=2)


# ---- any size -------------------------------------------------------------------------------------------------------

@settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 3), st.integers(1, 40), st.integers(1, 50), st.integers(1, 31), st.integers(0, 30))
def test_depthwise_of_any_size(batch, length, channels, taps, low):
    x, w, low = normal(batch, length, channels), weight(channels, taps), min(low, taps - 1)
    pads = (low, taps - 1 - low)
    check(ops.depthwise_conv1d(x, w, padding=pads), oracle.depthwise_conv1d(*wide(x, w), pads=pads))


@settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 3), st.integers(1, 40), st.integers(1, 5), st.integers(1, 20), st.integers(1, 15), st.integers(0, 14))
def test_dynamic_convolution_of_any_size(batch, length, heads, size, taps, low):
    x, logits, low = normal(batch, length, heads * size), normal(batch, length, heads, taps, seed=1), min(low, taps - 1)
    pads = (low, taps - 1 - low)
    check(ops.apply_kernel(x, logits, padding=pads, normalize="softmax"),
          oracle.apply_kernel(*wide(x, logits), pads=pads, normalize="softmax"))


# ---- code is found again --------------------------------------------------------------------------------------------

def test_compiles_once_for_a_signature(monkeypatch):
    made = []
    original = ops.Function.__init__
    monkeypatch.setattr(ops.Function, "__init__", lambda self, *a, **k: (made.append(a), original(self, *a, **k))[1])
    w = weight(17, 5)
    for length in (3, 9):
        for seed in (0, 1):
            x = normal(1, length, 17, seed=seed)
            check(ops.depthwise_conv1d(x, w + seed), oracle.depthwise_conv1d(*wide(x, w + seed), pads=(2, 2)))
    assert len(made) == 1
    ops.depthwise_conv1d(normal(1, 3, 17), w, padding="causal")
    assert len(made) == 2


def test_weights_may_change_in_place():
    w = weight(6, C)
    first = ops.dense(X, w)
    w *= 2
    np.testing.assert_array_equal(ops.dense(X, w), 2 * first)


def test_threads_do_not_change_bits():
    w = weight(40, C)
    np.testing.assert_array_equal(ops.dense(X, w, threads=1), ops.dense(X, w, threads=2))


def test_many_threads_with_weights_of_their_own():
    from concurrent.futures import ThreadPoolExecutor

    weights = [weight(30, C, seed=seed) for seed in range(16)]
    want = [ops.dense(X, w, threads=1) for w in weights]
    with ThreadPoolExecutor(8) as pool:
        for got, expected in zip(pool.map(lambda w: ops.dense(X, w, threads=1), weights * 4), want * 4):
            np.testing.assert_array_equal(got, expected)


def test_other_forms_of_arrays():
    w = weight(8, C)
    want = ops.dense(X, w)
    np.testing.assert_array_equal(ops.dense(X.tolist(), w.astype(np.float64).tolist()), want)
    np.testing.assert_array_equal(ops.dense(np.asfortranarray(X), w.T.copy().T), want)
    np.testing.assert_array_equal(ops.dense(np.repeat(X, 2, axis=1)[:, ::2], w), want)


def test_dlpack():
    w = weight(8, C)
    np.testing.assert_array_equal(ops.dense(OnlyDLPack(X), OnlyDLPack(w)), ops.dense(X, w))


def test_signatures_and_descriptions_are_those_of_the_operations():
    import inspect

    assert "padding" in inspect.signature(ops.depthwise_conv1d).parameters
    assert ops.depthwise_conv1d.__doc__.startswith("One filter a channel")


# ---- wrong calls ----------------------------------------------------------------------------------------------------

W = weight(C, 3)


@pytest.mark.parametrize("call, message", [
    (lambda: ops.depthwise_conv1d(X, W, padding="reflect"),
     "padding: requires same, causal, valid or a pair of numbers, but found 'reflect'"),
    (lambda: ops.depthwise_conv1d(X, W, padding=(1, 2, 3)),
     "padding: requires same, causal, valid or a pair of numbers, but found (1, 2, 3)"),
    (lambda: ops.depthwise_conv1d(X, W, layout="tf"),
     "layout: requires one of out_in, torch, in_out, keras, but found 'tf'"),
    (lambda: ops.depthwise_conv1d(X, W[:5]), "depthwise_conv1d: requires the channels of `weight` to be a multiple of the 12 channels of `x`, but found 5"),
    (lambda: ops.depthwise_conv1d(X, W, axes="cbt"), "axes: requires one of btc, tbc, bct, but found 'cbt'"),
    (lambda: ops.depthwise_conv1d(X[0], W),
     "x: requires rank 3 [batch, tokens, channels], but found rank 2 with shape [7, 12]"),
    (lambda: ops.depthwise_conv1d(X[:, :0], W), "x: requires no empty axis, but found [2, 0, 12]"),
    (lambda: ops.depthwise_conv1d(X, np.ones((C, 2, 3))),
     "weight: requires rank 2, or more with axes of 1, but found [12, 2, 3]"),
    (lambda: ops.depthwise_conv1d(X, "w"), "weight: requires "),
    (lambda: ops.depthwise_conv1d(X, W, threads=0), "threads: requires None or a number >= 1, but found 0"),
    (lambda: ops.dense(X, W), "dense: requires the input features of `weight` to be 12, but found 3"),
    (lambda: ops.activation(X, "swishy"), "activation: requires one of "),
    (lambda: ops.pool(X, "max"), "kind: requires one of first, last, mean, but found 'max'"),
    (lambda: ops.add(X, X[..., :3]), "addf: requires values of one shape, but found [B, T, 12] and [B, T, 3]"),
    (lambda: ops.add(X, X[:, :3]), "y: requires the shape [2, 7, 12], but found [2, 3, 12]"),
    (lambda: ops.glu(X, weight(5, C)), "glu: requires a weight with an even number of output features, but found 5"),
    (lambda: ops.dynamic_kernel(X, weight(7, C), heads=2),
     "weight: requires a multiple of 2 heads of output features, but found 7"),
    (lambda: ops.self_attention(X, X, X, heads=5), "heads: requires a divisor of the 12 features of k, but found 5"),
    (lambda: ops.mask_tokens(X, MASK[:, :3]), "mask: requires the shape [2, 7], but found [2, 3]"),
])
def test_wrong_calls(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_wrong_names_of_arguments():
    with pytest.raises(TypeError, match=r"depthwise_conv1d\(\) got an unexpected keyword argument 'pad'"):
        ops.depthwise_conv1d(X, W, pad=1)
    with pytest.raises(AttributeError, match="has no attribute 'convolve'"):
        ops.convolve


def test_what_has_no_kernel_is_named():
    with pytest.raises(ValueError, match="^self_attention: requires values as wide as keys for the CPU kernel, but found 24 "
                                         "and 12 features$"):
        ops.self_attention(X, X, normal(B, T, 24), heads=2)
