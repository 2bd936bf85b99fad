"""Every form of the convolutions, on each instruction set and with one and two threads, against NumPy in float64."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import convbert.nn as nn
from convbert import ops, reference_ops as oracle
from convbert.operations import pads as zeros_of
from convbert.targets import cpu_flags
from test_ops import B, C, T, X, check, normal, weight, wide

targets = pytest.mark.parametrize("target", ["x86-64-v3", pytest.param("x86-64-v4", marks=pytest.mark.skipif(
    "avx512f" not in cpu_flags(), reason="no AVX-512 here"))])


def run(target, build, x, parameters):
    """What `build(value of x, values of parameters)` makes of `x`; the bits of one thread and of two are the same."""
    graph = nn.Graph("form")
    values = {name: graph.parameter(name, array.shape) for name, array in parameters.items()}
    graph.output(build(graph.input("x", x.shape[-1]), values))
    one, two = (graph.compile(parameters, target=target, threads=threads)(x) for threads in (1, 2))
    assert one.tobytes() == two.tobytes(), "other bits with two threads"
    return one


def doubles(parameters):
    return {name: array.astype(np.float64) for name, array in parameters.items()}


@st.composite
def windows(draw, keeps_tokens=False):
    """taps, pads, stride, dilation and as many tokens as some window needs; often more taps than tokens."""
    taps, dilation = draw(st.integers(1, 31)), draw(st.sampled_from([1, 1, 2, 3, 7]))
    reach = (taps - 1) * dilation
    stride = 1 if keeps_tokens else draw(st.integers(1, 5))
    low = draw(st.integers(0, reach))
    high = reach - low if keeps_tokens else draw(st.integers(0, reach))
    least = max(1, reach + 1 - low - high)
    return taps, (low, high), stride, dilation, draw(st.sampled_from([least, least + 1, least + 12, 71]).filter(
        lambda length: length >= least))


examples = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@targets
@examples
@given(windows(), st.integers(1, 70), st.integers(1, 4), st.booleans())
def test_depthwise_conv1d(target, window, channels, filters, biased):
    taps, pads, stride, dilation, length = window
    parameters = {"w": weight(channels * filters, taps)} | ({"b": weight(channels * filters)} if biased else {})
    x, p = normal(2, length, channels), doubles(parameters)
    options = dict(stride=stride, dilation=dilation)
    got = run(target, lambda x, v: nn.depthwise_conv1d(x, v["w"], v.get("b"), padding=pads, **options), x, parameters)
    check(got, oracle.depthwise_conv1d(x.astype(np.float64), p["w"], p.get("b"), pads, **options))


@targets
@examples
@given(windows(), st.integers(1, 37), st.integers(1, 50), st.integers(1, 3))
def test_conv1d(target, window, size, out, groups):
    taps, pads, stride, dilation, length = window
    parameters = {"w": weight(out * groups, size, taps) / np.float32(np.sqrt(size)), "b": weight(out * groups)}
    x, p = normal(2, length, size * groups), doubles(parameters)
    options = dict(stride=stride, dilation=dilation, groups=groups)
    got = run(target, lambda x, v: nn.conv1d(x, v["w"], v["b"], padding=pads, **options), x, parameters)
    check(got, oracle.conv1d(x.astype(np.float64), p["w"], p["b"], pads, **options))


@targets
@examples
@given(windows(keeps_tokens=True), st.integers(1, 17), st.integers(1, 40), st.sampled_from(["blocked", "interleaved"]),
       st.sampled_from(["zero", "renorm", "none"]))
def test_light_and_dynamic_conv(target, window, heads, size, head_map, kind):
    taps, pads, _, dilation, length = window
    if kind == "renorm":
        pads = (pads[0] // dilation * dilation, sum(pads) - pads[0] // dilation * dilation)
    options = dict(dilation=dilation, head_map=head_map, normalize="none" if kind == "none" else "softmax",
                   edge="renorm" if kind == "renorm" else "zero")
    channels = heads * size
    x, light, dynamic = normal(2, length, channels), {"w": normal(heads, taps)}, {"w": weight(heads * taps, channels)}
    got = run(target, lambda x, v: nn.light_conv(x, v["w"], padding=pads, **options), x, light)
    check(got, oracle.light_conv(*wide(x, light["w"]), pads=pads, **options))
    got = run(target, lambda x, v: nn.dynamic_conv(x, v["w"], heads=heads, padding=pads, **options), x, dynamic)
    check(got, oracle.dynamic_conv(*wide(x, dynamic["w"]), heads=heads, pads=pads, **options))


@pytest.mark.parametrize("edge, normalize", [("zero", "softmax"), ("zero", "none"), ("renorm", "softmax")])
@pytest.mark.parametrize("head_map, dilation", [("blocked", 1), ("blocked", 3), ("interleaved", 2)])
def test_taps_that_are_given(edge, normalize, head_map, dilation):
    """What the caller gives stays as it is: taps are left out of a copy."""
    taps = normal(B, T, 3, 5)
    before, options = taps.copy(), dict(edge=edge, normalize=normalize, head_map=head_map, dilation=dilation)
    want = oracle.apply_kernel(*wide(X, taps), pads=zeros_of("same", 5, dilation), **options)
    check(ops.apply_kernel(X, taps, **options), want)
    np.testing.assert_array_equal(taps, before)
    graph = nn.Graph("twice")
    x, given_taps = graph.input("x", C), graph.input("taps", (3, 5))
    for _ in range(2):
        graph.output(nn.apply_kernel(x, given_taps, **options))
    for got in graph.compile({})(X, taps):
        check(got, want)


@pytest.mark.parametrize("heads, taps", [(3, 5), (8, 1), (13, 4)])
@pytest.mark.parametrize("edge", ["zero", "renorm"])
@pytest.mark.parametrize("spanned", [False, True])
def test_taps_that_are_returned(heads, taps, edge, spanned):
    """A softmax that no convolution takes."""
    w, key = weight(heads * taps, C), normal(B, T, C, seed=1) if spanned else None
    got = ops.dynamic_kernel(X, w, span_key=key, heads=heads, normalize="softmax", edge=edge,
                             padding="causal" if edge == "renorm" else None)
    check(got, oracle.dynamic_kernel(*wide(X, w), span_key=wide(key)[0], heads=heads, edge=edge, pads=(taps - 1, 0)))


def test_windows_that_are_far_too_wide():
    for operation, shape in ((ops.depthwise_conv1d, (C, 3)), (ops.conv1d, (4, C, 3))):
        with pytest.raises(ValueError, match=f"^{operation.__name__}: requires `pads` of at most 16777216 tokens, but found "
                                             "4611686018427387904$"):
            operation(X, weight(*shape), padding=(0, 2**62), dilation=2**61)


@targets
@pytest.mark.parametrize("heads", [8, 16, 24])
def test_heads_that_fill_vectors(target, heads):
    x, w = normal(2, 9, heads * 4), weight(heads * 3, heads * 4)
    got = run(target, lambda x, v: nn.dynamic_conv(x, v["w"], heads=heads, padding="causal"), x, {"w": w})
    check(got, oracle.dynamic_conv(*wide(x, w), heads=heads, pads=(2, 0)))


@targets
@pytest.mark.parametrize("aggregate", ["auto", "kernels", "outputs"])
@pytest.mark.parametrize("layout", ["out_in", "in_out"])
def test_kernel_attention_conv(target, aggregate, layout):
    parameters = {"f1": weight(4, C), "b1": weight(4), "f2": weight(3, 4), "b2": weight(3), "k": weight(3, 20, C, 5),
                  "kb": weight(3, 20)}
    options = dict(stride=2, dilation=2, temperature=4.0, aggregate=aggregate)
    want = oracle.kernel_attention_conv(*wide(X, *parameters.values()), pads=(8, 0), **options)
    if layout == "in_out":
        parameters |= {"f1": parameters["f1"].T.copy(), "f2": parameters["f2"].T.copy(),
                       "k": parameters["k"].transpose(0, 3, 2, 1).copy()}
    got = run(target, lambda x, v: nn.kernel_attention_conv(x, v["f1"], v["f2"], v["k"], v["b1"], v["b2"], v["kb"],
                                                            padding="causal", layout=layout, **options), X, parameters)
    check(got, want)


def test_what_kernel_attention_refuses():
    with pytest.raises(ValueError, match=r"^kernels: requires rank 4, but found \[20, 12, 5\]$"):
        ops.kernel_attention_conv(X, weight(4, C), weight(3, 4), weight(20, C, 5))


few = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


@targets
@few
@given(windows(keeps_tokens=True), st.integers(1, 9), st.integers(1, 20), st.integers(1, 20),
       st.sampled_from(["blocked", "interleaved"]), st.booleans())
def test_span_dynamic_conv(target, window, heads, size, width, head_map, renorm):
    taps, pads, _, dilation, length = window
    if renorm:
        pads = (pads[0] // dilation * dilation, sum(pads) - pads[0] // dilation * dilation)
    options = dict(heads=heads, dilation=dilation, head_map=head_map, edge="renorm" if renorm else "zero")
    x, parameters = normal(2, length, width), {"w": weight(heads * taps, width), "v": weight(heads * size, width),
                                               "k": weight(width, width)}

    def build(x, v):
        return nn.span_dynamic_conv(x, nn.dense(x, v["k"]), nn.dense(x, v["v"]), v["w"], padding=pads, **options)

    x64, p = x.astype(np.float64), doubles(parameters)
    want = oracle.span_dynamic_conv(x64, x64 @ p["k"].T, x64 @ p["v"].T, p["w"], pads=pads, **options)
    check(run(target, build, x, parameters), want)


@targets
@few
@given(windows(keeps_tokens=True), st.integers(1, 40), st.integers(1, 40))
def test_separable_conv1d(target, window, channels, out):
    taps, pads, _, dilation, length = window
    x, parameters = normal(2, length, channels), {"d": weight(channels, taps), "p": weight(out, channels), "b": weight(out)}
    got = run(target, lambda x, v: nn.separable_conv1d(x, v["d"], v["p"], v["b"], padding=pads, dilation=dilation), x,
              parameters)
    check(got, oracle.separable_conv1d(*wide(x, *parameters.values()), pads=pads, dilation=dilation))


@targets
@few
@given(windows(), st.integers(1, 24), st.integers(1, 24), st.integers(1, 6), st.integers(1, 9),
       st.sampled_from(["auto", "kernels", "outputs"]), st.sampled_from([0.5, 1.0, 30.0]))
def test_kernel_attention_conv_of_any_size(target, window, channels, out, count, hidden, aggregate, temperature):
    taps, pads, stride, dilation, length = window
    parameters = {"f1": weight(hidden, channels), "f2": weight(count, hidden),
                  "k": weight(count, out, channels, taps) / np.float32(np.sqrt(channels)), "kb": weight(count, out)}
    options = dict(stride=stride, dilation=dilation, temperature=temperature, aggregate=aggregate)
    x, p = normal(2, length, channels), doubles(parameters)
    got = run(target, lambda x, v: nn.kernel_attention_conv(x, v["f1"], v["f2"], v["k"], biases=v["kb"], padding=pads,
                                                            **options), x, parameters)
    check(got, oracle.kernel_attention_conv(x.astype(np.float64), p["f1"], None, p["f2"], None, p["k"], p["kb"], pads,
                                            **options))


@targets
@few
@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 20), st.integers(1, 5),
       st.sampled_from(["sigmoid", "hard_sigmoid"]))
def test_gates(target, length, channels, hidden, branches, gate):
    parameters = {"w1": weight(hidden, channels), "b1": weight(hidden), "w2": weight(channels, hidden),
                  "a": weight(branches, hidden, channels)}
    parameters |= {f"u{m}": weight(channels, 3, seed=m) for m in range(branches)}
    x, p = normal(2, length, channels), doubles(parameters)
    got = run(target, lambda x, v: nn.squeeze_excite(x, v["w1"], v["w2"], v["b1"], gate=gate), x, parameters)
    x64 = x.astype(np.float64)
    check(got, oracle.squeeze_excite(x64, p["w1"], p["b1"], p["w2"], gate=gate))
    made = [oracle.depthwise_conv1d(x64, p[f"u{m}"], pads=(1, 1)) for m in range(branches)]
    got = run(target, lambda x, v: nn.selective_kernel([nn.depthwise_conv1d(x, v[f"u{m}"]) for m in range(branches)],
                                                       v["w1"], v["a"], shift=v["b1"]), x, parameters)
    check(got, oracle.selective_kernel(*made, wz=p["w1"], shift=p["b1"], a=p["a"]))
