"""Worked examples of convolutions with exact answers: regular, depthwise, separable, and attention over kernels.

Every number is a ratio of small integers, or comes from the same ratios with a power of two.  As a block, after
decomposition and fused, evaluated in NumPy and compiled, it must come out to 1e-6.
"""

from fractions import Fraction

import numpy as np
import pytest

import step_harness
from convbert import interpreter
from convbert.reference_ops import window_pads
from step_cases import Case

LN2 = float(np.log(2))
X = [[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2], [1, 1, 1, 0]]
#: [K][Ci][Co], and the same in PyTorch's order.
REGULAR = [[[1, 0], [0, 1]], [[1, 1], [0, 2]], [[0, 1], [1, 0]]]
BIAS = [1, -1]
DEPTHWISE = [[1, 1, 0, 2], [2, 0, 1, 1], [1, -1, 2, 0]]
POINTWISE = [[1, 0], [0, 1], [1, 1], [-1, 2]]
#: Two filters of two channels: [K][c][j].
FILTERS = [[[1, 0], [1, 1]], [[2, 1], [0, 1]], [[1, 0], [-1, 0]]]


def table(text):
    """Rows of numbers and fractions."""
    return np.array([[float(Fraction(number)) for number in row.split()] for row in text.split(",")])


def regular(name, pads, answer, layout="in_out", **attributes):
    shape = "3 2 2" if layout == "in_out" else "2 2 3"
    weight = REGULAR if layout == "in_out" else np.transpose(REGULAR)
    case = Case(name, "conv1d", {"x": "B T 2", "weight": shape, "bias": "2"}, ["B W 2"],
                {"pads": pads, "layout": layout, **attributes})
    return case, [np.array(X)[:, :2], weight, BIAS], answer


def depthwise(name, weight, pads, answer, channels=4, **attributes):
    weight = np.reshape(weight, (len(weight), -1))
    shapes = {"x": f"B T {channels}", "weight": f"{weight.shape[0]} {weight.shape[1]}"}
    case = Case(name, "depthwise_conv1d", shapes, [f"B W {weight.shape[1]}"],
                {"pads": pads, "layout": "in_out", **attributes})
    return case, [np.array(X)[:, :channels], weight], answer


def attention(temperature, form, answer):
    name = f"chen_{int(temperature)}_{form}"
    case = Case(name, "kernel_attention_conv",
                {"x": "B T 2", "f1": "2 2", "f2": "2 2", "kernels": "2 3 2 1", "biases": "2 1"}, ["B T 1"],
                {"pads": (1, 1), "temperature": temperature, "aggregate": form, "layout": "in_out"},
                "x squeeze(f1) excite(f2) kernels(kernels, biases)")
    kernels = np.reshape([[[1, 0], [0, 1], [1, 0]], [[0, 1], [2, 0], [0, 1]]], (2, 3, 2, 1))
    return case, [np.array(X)[:, [0, 2]], np.eye(2), LN2 * np.array([[1, 0], [1, 0]]), kernels, [[0], [10]]], answer


FORMS = ("kernels", "outputs", "auto")
EXAMPLES = [
    regular("same", window_pads("same", 3), "3 2, 7 3, 4 7, 2 5"),
    regular("causal", window_pads("causal", 3), "1 0, 3 2, 7 3, 4 7"),
    regular("valid", window_pads("valid", 3), "7 3, 4 7"),
    regular("dilated", window_pads("same", 3, dilation=2), "5 0, 4 4, 2 5, 4 3", dilation=2),
    regular("strided", (1, 1), "3 2, 4 7", stride=2),
    regular("strided_same", window_pads("same", 3, stride=2, length=4), "7 3, 2 5", stride=2),
    regular("torch_layout", (1, 1), "3 2, 7 3, 4 7, 2 5", layout="out_in"),
    depthwise("depthwise_same", DEPTHWISE, window_pads("same", 3), "4 -1 2 1, 5 -3 2 3, 3 0 3 4, 2 3 1 4"),
    depthwise("depthwise_causal", DEPTHWISE, window_pads("causal", 3), "1 0 4 0, 4 -1 2 1, 5 -3 2 3, 3 0 3 4"),
    depthwise("depthwise_valid", DEPTHWISE, window_pads("valid", 3), "5 -3 2 3, 3 0 3 4"),
    depthwise("filters", FILTERS, window_pads("same", 3), "4 1 -1 0, 5 2 -3 1, 3 0 0 4, 2 1 3 4", channels=2),
    depthwise("even", [[1] * 4, [2] * 4], window_pads("same", 2), "5 2 2 3, 2 7 2 5, 2 5 3 2, 1 1 1 0"),
    (Case("pointwise", "conv1d", {"x": "B T 4", "weight": "1 4 2"}, ["B T 2"], {"pads": (0, 0), "layout": "in_out"}),
     [X, [POINTWISE]], "2 4, 1 3, -1 8, 2 2"),
    (Case("separable", "separable_conv1d", {"x": "B T 4", "depthwise": "3 4", "pointwise": "4 2"}, ["B T 2"],
          {"pads": (1, 1), "layout": "in_out"}), [X, DEPTHWISE, POINTWISE], "5 3, 4 5, 2 11, -1 12"),
    *(attention(1.0, form, "28/5, 21/5, 27/5, 17/5") for form in FORMS),
    *(attention(2.0, form, "20/3, 19/3, 19/3, 5") for form in FORMS),
    *(attention(30.0, form, "7.907597, 8.815194, 7.419147, 6.861395") for form in FORMS),
]
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0].name)


def arrays(example, dtype):
    """Operands with a batch of one."""
    case, operands, _ = example
    found = [np.array(operand, dtype) for operand in operands]
    return [array[None] if shape.startswith("B") else array for array, shape in zip(found, case.operands.values())]


def check(example, found):
    expected = table(example[2])
    assert found.shape == (1, *expected.shape)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-6)


def text(element):
    return "".join(example[0].text(element) for example in EXAMPLES)


@pytest.mark.parametrize("passes", ["", step_harness.DECOMPOSE, step_harness.SIMPLIFY], ids=["block", "steps", "fused"])
def test_evaluated(passes):
    module = step_harness.opt(text("f64"), *[passes] * bool(passes), generic=True)
    for example in EXAMPLES:
        (found,) = interpreter.evaluate(module, example[0].name, *arrays(example, np.float64))
        check(example, found)


@pytest.fixture(scope="module", params=step_harness.ROUTES)
def module(request):
    return step_harness.Module(text("f32"), request.param)


@EACH
def test_compiled(example, module):
    check(example, module(example[0].name, *arrays(example, np.float32)))


def test_a_separable_convolution_is_a_regular_one_of_outer_products(module):
    kernel = np.einsum("kc,co->kco", DEPTHWISE, POINTWISE).astype(np.float32)
    text = Case("full", "conv1d", {"x": "B T 4", "weight": "3 4 2"}, ["B T 2"],
                {"pads": (1, 1), "layout": "in_out"}).text("f32")
    x = np.array([X], np.float32)
    found = step_harness.Module(text)("full", x, kernel)
    np.testing.assert_array_equal(found[0], table("5 3, 4 5, 2 11, -1 12"))


def test_a_causal_row_is_the_row_before(module):
    """A convolution of three taps shifts by one token between `same` and `causal`."""
    examples = {example[0].name: example for example in EXAMPLES}
    same, causal = (module(name, *arrays(examples[name], np.float32)) for name in ("same", "causal"))
    np.testing.assert_array_equal(causal[:, 1:], same[:, :-1])
