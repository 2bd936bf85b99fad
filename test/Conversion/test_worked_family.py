"""Worked examples of lightweight and dynamic convolution and of gates, whose answers are ratios of small integers.

Each is computed to 1e-6 as the operation stands, after decomposition, and compiled by each way to linalg.
"""

import numpy as np
import pytest

import step_harness
from convbert import interpreter
from test_worked_numbers import (DEPTHWISE, GENERATOR, LN2, LOGITS, Q, RELEASED, SPAN_KEY, TOKEN_GENERATOR, V, X, case,
                                 depthwise, table)

LN3 = float(np.log(3))
X4, X2, X1 = "B T 4", "B T 2", "B T 1"
#: Logits of two heads: 1/4, 1/2, 1/4 and 3/5, 1/5, 1/5.
LIGHT = [[0, LN2, 0], [LN3, 0, 0]]
RAW = [[1, 2, 1], [3, 1, 1]]
LIGHT_SAME = "1 1/4 2/5 2/5, 5/4 5/4 7/5 6/5, 3/4 2 2/5 1, 1/2 5/4 4/5 6/5"
DYNAMIC_SAME = "3/4 1/4 2/7 3/7, 8/7 5/7 1 3/2, 3/10 13/5 5/7 4/7, 2/5 8/5 3/4 1"
DYNAMIC_CAUSAL = "1/4 0 4/7 2/7, 4/7 1/7 1/2 3/4, 17/10 11/10 8/7 11/7, 1 9/5 1/2 1"
DYNAMIC_RENORM = "3/2 1/2 2/3 1, 8/7 5/7 1 3/2, 3/10 13/5 5/7 4/7, 1/2 2 1 4/3"
SPAN_SAME, SPAN_CAUSAL = "1/2 1/6, 1 4/3, 9/7 15/7, 4/5 2/5", "1/6 0, 1 1/3, 8/7 10/7, 3/10 6/5"
SPAN_RENORM = "3/2 1/5, 1 4/3, 9/7 15/7, 8/9 2"
ONES, SHIFT = [1, 2, -3, 5], [[3], [-7]]


def light(name, pads, heads=2, channels=4, **attributes):
    return case(name, "light_conv", {"x": f"B T {channels}", "weight": f"{heads} {pads[0] + pads[1] + 1}"},
                [f"B T {channels}"], pads=pads, **attributes)


def dynamic(name, pads, **attributes):
    return case(name, "dynamic_conv", {"x": X4, "weight": "4 6"}, [X4], heads=2, pads=pads, layout="in_out",
                **attributes)


def apply(name, heads, channels, pads, **attributes):
    shapes = {"v": f"B T {channels}", "taps": f"B T {heads} 3"}
    return case(name, "apply_kernel", shapes, [f"B T {channels}"], pads=pads, normalize="softmax", **attributes)


def span(name, pads, **attributes):
    shapes = {"q": X2, "span_key": X2, "v": X2, "weight": "2 6"}
    return case(name, "span_dynamic_conv", shapes, [X2], heads=2, pads=pads, layout="in_out", **attributes)


def gate(name, masked=False, **attributes):
    shapes = {"x": X4, "w1": "4 2", "w2": "2 4", **({"mask": "B T"} if masked else {})}
    return case(name, "squeeze_excite", shapes, [X4], "x squeeze(w1) excite(w2)" + " mask(mask)" * masked,
                layout="in_out", **{"gate": "sigmoid", **attributes})


TWO = [[4], [8]]
LATE = [[[0, LN2, 0]]] * 2
W1, W2 = [[1, 0], [0, 0], [0, 1], [0, 0]], np.multiply(LN3, [[1, 0, -1, 0], [0, 0, 0, 1]])
GATED = "3/4 0 1/2 3/4, 3/2 1/2 0 3/4, 0 3/2 1/4 3/2, 3/4 1/2 1/4 0"
MASK = np.array([True, True, False, False])
U1, U2 = [[3, 2], [3, 3], [3, 2], [1, 2]], [[1, 3], [3, 1], [1, 3], [3, 1]]
SELECTED = "7/3 11/5, 3 13/5, 7/3 11/5, 5/3 9/5"
A = np.multiply(LN2, [[[1, 0], [0, 2]], [[0, 0], [0, 0]]])

EXAMPLES = [
    (light("light_same", (1, 1)), [X, LIGHT], LIGHT_SAME),
    (light("light_causal", (2, 0)), [X, LIGHT],
     "1/4 0 2/5 1/5, 1 1/4 2/5 2/5, 5/4 5/4 7/5 6/5, 3/4 2 2/5 1"),
    (light("light_interleaved", (1, 1), head_map="interleaved"), [X, LIGHT],
     "1 1/5 1 2/5, 5/4 4/5 3/4 6/5, 3/4 7/5 3/4 1, 1/2 2 3/4 6/5"),
    (light("light_raw", (1, 1), normalize="none"), [X, RAW], "4 1 2 2, 5 5 7 6, 3 8 2 5, 2 5 4 6"),
    # A constant added to the logits of a head changes nothing; one tap copies.
    (light("light_shifted", (1, 1)), [X, np.add(LIGHT, SHIFT)], LIGHT_SAME),
    (light("light_of_one", (0, 0)), [X, SHIFT], X),
    # A head a channel is a depthwise convolution; two taps, the second for the next token.
    (light("light_of_channels", (1, 1), heads=4, normalize="none"), [X, np.transpose(DEPTHWISE)],
     "4 -1 2 1, 5 -3 2 3, 3 0 3 4, 2 3 1 4"),
    (light("light_even", (0, 1), normalize="none"), [X, [[1, 2], [1, 2]]], "5 2 2 3, 2 7 2 5, 2 5 3 2, 1 1 1 0"),
    # What is left out of the first and the last softmax: 1/4 of head 0; 3/5 or 1/5 of head 1.
    (light("light_renorm", (1, 1), edge="renorm"), [X, LIGHT],
     "4/3 1/3 1 1, 5/4 5/4 7/5 6/5, 3/4 2 2/5 1, 2/3 5/3 1 3/2"),
    (light("light_longer_than_the_sequence", (2, 0), 1, 1), [TWO, [[0, LN2, 0]]], "1, 4"),
    (light("light_longer_renorm", (2, 0), 1, 1, edge="renorm"), [TWO, [[0, LN2, 0]]], "4, 16/3"),
    (dynamic("dynamic_same", (1, 1)), [X, TOKEN_GENERATOR], DYNAMIC_SAME),
    (dynamic("dynamic_causal", (2, 0)), [X, TOKEN_GENERATOR], DYNAMIC_CAUSAL),
    (dynamic("dynamic_renorm", (1, 1), edge="renorm"), [X, TOKEN_GENERATOR], DYNAMIC_RENORM),
    (case("dynamic_of_query", "dynamic_conv",
          {"x": X4, "weight": "4 6", "bias": "6", "query": X4, "channel_bias": "4"}, [X4],
          "x, weight, bias query(query) channel_bias(channel_bias)", heads=2, pads=(1, 1), layout="in_out"),
     [X, TOKEN_GENERATOR, [LN2, LN2, LN2, 5, 5, 5], X, ONES], table(DYNAMIC_SAME) + ONES),
    (apply("apply_same", 2, 4, (1, 1)), [X, LOGITS], DYNAMIC_SAME),
    (apply("apply_renorm", 2, 4, (1, 1), edge="renorm"), [X, LOGITS], DYNAMIC_RENORM),
    (apply("longer_than_the_sequence", 1, 1, (2, 0)), [TWO, LATE], "1, 4"),
    (apply("longer_renorm", 1, 1, (2, 0), edge="renorm"), [TWO, LATE], "4, 16/3"),
    (span("span_same", (1, 1)), [Q, SPAN_KEY, V, GENERATOR], SPAN_SAME),
    (span("span_causal", (2, 0)), [Q, SPAN_KEY, V, GENERATOR], SPAN_CAUSAL),
    (span("span_renorm", (1, 1), edge="renorm"), [Q, SPAN_KEY, V, GENERATOR], SPAN_RENORM),
    # Values of their own, as published, in place of the shared ones.
    (span("span_released", (1, 1)), [Q, SPAN_KEY, np.array(X)[:, 2:], GENERATOR], RELEASED),
    # With a key of ones it is the dynamic convolution of the query; without a generator a box.
    (span("span_box", (1, 1)), [Q, SPAN_KEY, V, np.zeros((2, 6))], "1 1/3, 1 4/3, 1 5/3, 1/3 4/3"),
    (gate("gated"), [X, W1, W2], GATED),
    (gate("gated_masked", True), [X, W1, W2, MASK], np.array(X) * [1 / (1 + 3**-1.5), 1 / 2, 1 / (1 + 3**1.5), 3 / 4]),
    # The excitation is (1, 0, -1, 1) here, so (4/6, 3/6, 2/6, 4/6).
    (gate("gated_hard", gate="hard_sigmoid"), [X, W1, np.divide(W2, LN3)], np.array(X) * [2 / 3, 1 / 2, 1 / 3, 2 / 3]),
    (case("selective", "selective_kernel", {"u0": X2, "u1": X2, "wz": "2 2", "shift": "2", "a": "2 2 2"}, [X2],
          "u0, u1 squeeze(wz) shift(shift) select(a)"), [U1, U2, np.eye(2), [-7 / 2, -13 / 4], A], SELECTED),
    (case("selective_scaled", "selective_kernel",
          {"u0": X2, "u1": X2, "wz": "2 2", "scale": "2", "shift": "2", "a": "2 2 2"}, [X2],
          "u0, u1 squeeze(wz) scale(scale) shift(shift) select(a)"),
     [U1, U2, np.eye(2) / 2, [2, 2], [-7 / 2, -13 / 4], A], SELECTED),
    (case("selective_alike", "selective_kernel", {"u0": X2, "u1": X2, "wz": "2 2", "a": "2 2 2"}, [X2],
          "u0, u1 squeeze(wz) select(a)"), [U1, U1, np.eye(2), A], U1),
    (depthwise("depthwise_for_comparison", 3, (1, 1)), [X, DEPTHWISE], "4 -1 2 1, 5 -3 2 3, 3 0 3 4, 2 3 1 4"),
]
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0].name)


def arrays(example, dtype):
    case, operands, _ = example
    found = [np.array(operand, bool if np.asarray(operand).dtype == bool else dtype) for operand in operands]
    return [array[None] if shape.startswith("B") else array for array, shape in zip(found, case.operands.values())]


def check(found, example):
    answer = example[2]
    expected = table(answer) if isinstance(answer, str) else np.asarray(answer, np.float64)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-6)


@pytest.fixture(scope="module", params=["import", "decompose", "simplify"])
def text(request):
    passes = {"import": "cse", "decompose": step_harness.DECOMPOSE, "simplify": step_harness.SIMPLIFY}[request.param]
    module = "".join(example[0].text("f64") for example in EXAMPLES)
    return step_harness.opt(module, passes, generic=True)


@EACH
def test_worked_number_of_operations(example, text):
    (found,) = interpreter.evaluate(text, example[0].name, *arrays(example, np.float64))
    check(found, example)


@pytest.fixture(scope="module", params=step_harness.ROUTES)
def modules(request):
    return {element: step_harness.Module("".join(example[0].text(element) for example in EXAMPLES), request.param)
            for element in ("f32", "f64")}


@EACH
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_worked_number_compiled(example, element, modules):
    check(modules[element](example[0].name, *arrays(example, step_harness.DTYPES[element])), example)


def test_softmax_of_parameters(modules):
    text = """
func.func @taps(%w: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %y = convbert.normalize_taps %w : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}
"""
    found = step_harness.Module(text)("taps", np.array(LIGHT))
    np.testing.assert_allclose(found, [[1 / 4, 1 / 2, 1 / 4], [3 / 5, 1 / 5, 1 / 5]], rtol=0, atol=1e-15)


def test_the_mean_of_no_token_is_zero(modules):
    """A sequence that is all padding is gated by the biases alone, and never NaN."""
    example = next(example for example in EXAMPLES if example[0].name == "gated_masked")
    x, w1, w2, _ = arrays(example, np.float64)
    found = modules["f64"]("gated_masked", x, w1, w2, np.zeros((1, 4), bool))
    np.testing.assert_allclose(found, x / 2, rtol=0, atol=1e-15)


def test_a_large_logit_that_is_left_out_leaves_the_others_alone(modules):
    """exp(-1000) is zero beside exp(0): the greatest of the taps that are there is taken off, not of all."""
    weight = np.array([[1000.0, 0.0, 0.0], [0.0, 0.0, 1000.0]])
    x = np.ones((1, 4, 4))
    np.testing.assert_allclose(modules["f64"]("light_renorm", x, weight), x, rtol=0, atol=1e-15)
