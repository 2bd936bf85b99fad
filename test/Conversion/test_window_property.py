"""Random convolutions, compiled and decomposed, against the oracle in double precision.

A module holds several of them, since compiling costs more than running: widths, taps up to 31, strides, dilations, pads,
groups and layouts at random, then batches and lengths, shorter than the window without its pads too.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import step_harness
from convbert import interpreter
from convbert.reference_ops import depthwise_conv1d
from step_cases import Case

SIZES = st.integers(1, 5)


def shape(layout, *extents):
    """The extents of a weight, output features first, in the order of the layout."""
    return " ".join(map(str, extents if layout == "out_in" else extents[::-1]))


@st.composite
def windows(draw, keeps=False):
    """Attributes of a window and its number of taps; as many tokens out as in if `keeps`."""
    taps, dilation = draw(st.integers(1, 31)), draw(st.integers(1, 4))
    reach = (taps - 1) * dilation
    if keeps:
        low = draw(st.integers(0, reach))
        return taps, {"pads": (low, reach - low), "dilation": dilation}
    pads = (draw(st.integers(0, reach + 2)), draw(st.integers(0, reach + 2)))
    return taps, {"pads": pads, "dilation": dilation, "stride": draw(st.integers(1, 4))}


@st.composite
def convolutions(draw, name):
    layout, bias = draw(st.sampled_from(["out_in", "in_out"])), draw(st.booleans())
    op = draw(st.sampled_from(["conv1d", "depthwise_conv1d", "separable_conv1d", "kernel_attention_conv"]))
    taps, window = draw(windows(keeps=op == "separable_conv1d"))
    groups, width, out = draw(SIZES), draw(SIZES), draw(SIZES)
    attributes = {**window, "layout": layout}
    if op == "conv1d":
        x, result = groups * width, groups * out
        operands = {"weight": shape(layout, result, width, taps)}
        attributes["groups"] = groups
        if draw(st.booleans()):
            operands = {"weight": f"B {operands['weight']}"}
            bias = bias and "B "
    elif op == "depthwise_conv1d":
        x, result = width, width * groups
        operands = {"weight": shape(layout, result, taps)}
    elif op == "separable_conv1d":
        x, result = width, out
        operands = {"depthwise": shape(layout, width, taps), "pointwise": shape(layout, out, width)}
    else:
        x, result, count = width, out, groups
        operands = {"f1": shape(layout, 2, x), "f2": shape(layout, count, 2),
                    "kernels": f"{count} {shape(layout, out, x, taps)}"}
        attributes |= {"temperature": draw(st.sampled_from([0.5, 1.0, 30.0])),
                       "aggregate": draw(st.sampled_from(["auto", "kernels", "outputs"]))}
        if bias:
            operands["biases"] = f"{count} {out}"
        syntax = "x squeeze(f1) excite(f2) kernels(kernels" + ", biases" * bias + ")"
        return Case(name, op, {"x": f"B T {x}", **operands}, [f"B W {result}"], attributes, syntax)
    if bias:
        operands["bias"] = f"{bias if isinstance(bias, str) else ''}{result}"
    tokens = "T" if op == "separable_conv1d" else "W"
    return Case(name, op, {"x": f"B T {x}", **operands}, [f"B {tokens} {result}"], attributes)


MODULES = st.tuples(*(convolutions(f"f{i}") for i in range(12)))


def fits(case, length):
    return case.op == "separable_conv1d" or case.tokens(length) > 0


def shortest(case):
    return next(length for length in range(1, 200) if fits(case, length))


def calls(cases):
    """Each case with operands: the shortest sequences that it takes, and longer ones."""
    for case in cases:
        first = shortest(case)
        for seed, (batch, length) in enumerate([(1, first), (2, first + 1), (3, first + 12)]):
            arrays = case.inputs(batch, length, np.float64, seed)
            (expected,) = case.oracle(arrays)
            yield case, arrays, expected, 1e-12 * max(1, np.abs(expected).max())


@settings(max_examples=6, deadline=None)
@given(MODULES, st.sampled_from(sorted(step_harness.ROUTES)))
def test_compiled(cases, route):
    module = step_harness.Module("".join(case.text("f64") for case in cases), route)
    for case, arrays, expected, atol in calls(cases):
        found = module(case.name, *arrays.values())
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@settings(max_examples=30, deadline=None)
@given(MODULES, st.sampled_from(["canonicalize", step_harness.DECOMPOSE, step_harness.SIMPLIFY]))
def test_rewritten(cases, passes):
    text = step_harness.opt("".join(case.text("f64") for case in cases), passes, generic=True)
    for case, arrays, expected, atol in calls(cases):
        (found,) = interpreter.evaluate(text, case.name, *arrays.values())
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@settings(max_examples=20, deadline=None)
@given(MODULES, st.integers(0, 20))
def test_types_know_the_tokens_of_the_result(cases, more):
    """With a static length, the type of the result is that of the oracle's."""
    text, expected = "", []
    for case in cases:
        length = shortest(case) + more
        extents = {"B": "2", "T": str(length)}
        text += case.text("f32", lambda name, symbol: extents[symbol])
        (found,) = case.oracle(case.inputs(2, length, np.float32))
        expected.append("x".join(map(str, found.shape)))
    step_harness.opt(text)
    for case, size in zip(cases, expected):
        assert f"func.func @{case.name}(" in text and f"-> (tensor<{size}xf32>)" in text


@settings(max_examples=100, deadline=None)
@given(windows(), st.integers(1, 40))
def test_the_oracle_reads_what_the_formula_says(window, length):
    """Output token t of a convolution with one tap set is input token t * stride - low + k * dilation, or zero."""
    taps, attributes = window
    case = Case("f", "depthwise_conv1d", {"x": "B T 1", "weight": f"1 {taps}"}, ["B W 1"], attributes)
    if not fits(case, length):
        return
    x = np.arange(1.0, length + 1)[None, :, None]
    for k in {0, taps // 2, taps - 1}:
        y = depthwise_conv1d(x, np.eye(taps)[k][None], **attributes)
        assert y.shape == (1, case.tokens(length), 1)
        at = np.arange(case.tokens(length)) * attributes["stride"] - attributes["pads"][0] + k * attributes["dilation"]
        np.testing.assert_array_equal(y[0, :, 0], np.where((at >= 0) & (at < length), at + 1, 0))
