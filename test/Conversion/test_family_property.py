"""Random lightweight and dynamic convolutions and gates against the oracles: any width, heads, taps, pads, dilation.

An example is a module of several operations, compiled once and called with several batches and lengths.
"""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import step_harness
from convbert import interpreter
from step_cases import Case


@st.composite
def windows(draw, taps):
    dilation = draw(st.sampled_from([1, 1, 1, 2, 3, 7]))
    reach = (taps - 1) * dilation
    edge = draw(st.sampled_from(["zero", "renorm"]))
    low = draw(st.integers(0, taps - 1)) * dilation if edge == "renorm" else draw(st.integers(0, reach))
    return {"pads": (low, reach - low), "dilation": dilation, "edge": edge,
            "head_map": draw(st.sampled_from(["blocked", "interleaved"]))}


@st.composite
def convolutions(draw, name):
    heads, size, taps = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 31))
    channels, window = heads * size, draw(windows(taps))
    normalize = "softmax" if window["edge"] == "renorm" else draw(st.sampled_from(["softmax", "none"]))
    x, layout = f"B T {channels}", draw(st.sampled_from(["out_in", "in_out"]))

    def weight(rows, columns):
        return f"{rows} {columns}" if layout == "out_in" else f"{columns} {rows}"

    kind = draw(st.sampled_from(["light", "dynamic", "span", "apply"]))
    biased = draw(st.booleans())
    if kind == "light":
        operands = {"x": x, "weight": f"{heads} {taps}", **({"bias": f"{channels}"} if biased else {})}
        return Case(name, "light_conv", operands, [x], {**window, "normalize": normalize})
    if kind == "apply":
        operands = {"v": x, "taps": f"B T {heads} {taps}"}
        return Case(name, "apply_kernel", operands, [x], {**window, "normalize": normalize})
    features = heads * taps
    bias = {"bias": f"{features}"} if biased else {}
    if kind == "span":
        width = draw(st.integers(1, 6))
        operands = {"q": f"B T {width}", "span_key": f"B T {width}", "v": x, "weight": weight(features, width), **bias}
        return Case(name, "span_dynamic_conv", operands, [x], {**window, "heads": heads, "layout": layout})
    width = draw(st.one_of(st.none(), st.integers(1, 6)))
    query = {} if width is None else {"query": f"B T {width}"}
    channel_bias = {"channel_bias": f"{channels}"} if draw(st.booleans()) else {}
    operands = {"x": x, "weight": weight(features, width or channels), **bias, **query, **channel_bias}
    syntax = "x, weight" + ", bias" * biased + " query(query)" * bool(query) + " channel_bias(channel_bias)" * bool(
        channel_bias)
    return Case(name, "dynamic_conv", operands, [x],
                {**window, "heads": heads, "normalize": normalize, "layout": layout}, syntax)


@st.composite
def gates(draw, name):
    channels, hidden = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    x, layout = f"B T {channels}", draw(st.sampled_from(["out_in", "in_out"]))

    def weight(rows, columns):
        return f"{rows} {columns}" if layout == "out_in" else f"{columns} {rows}"

    first, second, third = (draw(st.booleans()) for _ in range(3))
    if draw(st.booleans()):
        operands = {"x": x, "w1": weight(hidden, channels), **({"b1": f"{hidden}"} if first else {}),
                    "w2": weight(channels, hidden), **({"b2": f"{channels}"} if second else {}),
                    **({"mask": "B T"} if third else {})}
        syntax = ("x squeeze(w1" + ", b1" * first + ") excite(w2" + ", b2" * second + ")" + " mask(mask)" * third)
        return Case(name, "squeeze_excite", operands, [x],
                    {"gate": draw(st.sampled_from(["sigmoid", "hard_sigmoid"])), "layout": layout}, syntax)
    branches = [f"u{m}" for m in range(draw(st.integers(2, 4)))]
    operands = {**dict.fromkeys(branches, x), "wz": weight(hidden, channels),
                **({"scale": f"{hidden}"} if first else {}), **({"shift": f"{hidden}"} if second else {}),
                "a": f"{len(branches)} {hidden} {channels}"}
    syntax = (", ".join(branches) + " squeeze(wz)" + " scale(scale)" * first + " shift(shift)" * second + " select(a)")
    return Case(name, "selective_kernel", operands, [x], {"layout": layout}, syntax)


@st.composite
def modules(draw):
    return [draw(convolutions(f"f{i}")) for i in range(10)] + [draw(gates(f"g{i}")) for i in range(5)]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(modules(), st.sampled_from(list(step_harness.ROUTES)), st.integers(0, 99))
def test_random_operations(cases, route, seed):
    text = "".join(case.text("f64") for case in cases)
    module = step_harness.Module(text, route)
    decomposed = step_harness.opt(text, step_harness.DECOMPOSE, generic=True)
    for case in cases:
        for batch, length in [(1, 1), (2, 5), (1, 40)]:
            arrays = case.inputs(batch, length, np.float64, seed)
            (expected,) = case.oracle(arrays)
            atol = 1e-13 * max(1, np.abs(expected).max())
            np.testing.assert_allclose(module(case.name, *arrays.values()), expected, rtol=0, atol=atol)
            (found,) = interpreter.evaluate(decomposed, case.name, *arrays.values())
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
