"""Worked examples with exact answers: four tokens of four channels, logits in multiples of ln 2, so that every result
is a ratio of small integers.  Single precision must give it to 1e-5, as block operations and after fusion.
"""

from fractions import Fraction

import numpy as np
import pytest

import step_harness
from step_cases import Case, mixed

LN2 = float(np.log(2))
X = [[1, 0, 2, 1], [2, 1, 0, 1], [0, 3, 1, 2], [1, 1, 1, 0]]
#: Query, span-aware key, value and key of the examples with two heads of one channel.
Q, SPAN_KEY = [[1, 2], [1, 0], [2, 1], [0, 1]], [[2, 0], [0, 0], [1, 1], [0, 3]]
V, KEY = [[1, 0], [2, 1], [0, 3], [1, 1]], np.multiply(LN2, [[1, 1], [1, 2], [2, 0], [0, 1]])
GENERATOR = np.multiply(LN2, [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]])
DEPTHWISE = [[1, 1, 0, 2], [2, 0, 1, 1], [1, -1, 2, 0]]
POINTWISE = [[1, 0], [0, 1], [1, 1], [-1, 2]]
#: Projections of X to the above; the depthwise weight is [K, C].
WQ, WK = [[0, 0], [0, 0], [0, 1], [1, 0]], np.multiply(LN2, [[0, 1], [0, 0], [0, 0], [1, 0]])
WV, WC = [[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0], [0, 0], [1, 0], [0, 1]]
WD, WP = [[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], [[1, 0], [0, 1], [0, 0], [0, 0]]
WO = [[1, 0], [0, 1], [1, 1], [0, 2]]


def table(text):
    """Rows of numbers and fractions."""
    return np.array([[float(Fraction(number)) for number in row.split()] for row in text.split(",")])


def case(name, op, shapes, results, syntax="", **attributes):
    return Case(name, op, shapes, results, attributes, syntax)


def depthwise(name, taps, pads):
    return case(name, "depthwise_conv1d", {"x": "B T 4", "weight": f"{taps} 4"}, ["B T 4"], pads=pads, layout="in_out")


def span(name, pads):
    shapes = {"q": "B T 2", "span_key": "B T 2", "v": "B T 2", "weight": "2 6"}
    return case(name, "span_dynamic_conv", shapes, ["B T 2"], heads=2, pads=pads, layout="in_out")


def apply(name, heads, channels, pads):
    shapes = {"v": f"B T {channels}", "taps": f"B T {heads} 3"}
    return case(name, "apply_kernel", shapes, [f"B T {channels}"], pads=pads, normalize="softmax")


def attention(name, masked):
    shapes = {"q": "B T 2", "k": "B T 2", "v": "B T 2", **({"bias": "B T"} if masked else {})}
    return case(name, "self_attention", shapes, ["B T 2"], "q, k, v" + " bias(bias)" * masked, heads=2, scale=1.0)


#: Taps of the token-wise generator, in multiples of ln 2.
LOGITS = np.multiply(LN2, [[[1, 0, 0], [2, 0, 1]], [[2, 1, 0], [0, 0, 1]],
                           [[0, 3, 0], [1, 0, 2]], [[1, 1, 0], [1, 0, 0]]])
TOKEN_GENERATOR = np.zeros((4, 6))
TOKEN_GENERATOR[[0, 1, 2, 3], [0, 1, 3, 5]] = LN2
S = "7/9 23/25, 7/9 5/4, 13/25 1, 1 1"
MASKED = np.where([True, True, True, False], 0, np.finfo(np.float32).min)
RELEASED = "1/3 5/6, 1 4/3, 3/7 9/7, 9/10 1/5"
ZEROS = {"bq": 2, "bk": 2, "bv": 2, "bp": 2, "bf": 6, "bc": 2, "bo": 2}


def blocks(**changed):
    """Operands of the whole block, in order."""
    weights = dict(wq=WQ, wk=WK, wv=WV, wd=WD, wp=WP, wf=GENERATOR, wc=WV, wo=WO) | changed
    names = ["wq", "bq", "wk", "bk", "wv", "bv", "wd", "wp", "bp", "wf", "bf", "wc", "bc", "wo", "bo"]
    return [X] + [np.zeros(ZEROS[name]) if name in ZEROS else weights[name] for name in names]


#: Operation, operands (activations without the batch axis), and the answer.
EXAMPLES = [
    (depthwise("depthwise_same", 3, (1, 1)), [X, DEPTHWISE], "4 -1 2 1, 5 -3 2 3, 3 0 3 4, 2 3 1 4"),
    (depthwise("depthwise_causal", 3, (2, 0)), [X, DEPTHWISE], "1 0 4 0, 4 -1 2 1, 5 -3 2 3, 3 0 3 4"),
    (depthwise("depthwise_even", 2, (0, 1)), [X, [[1] * 4, [2] * 4]], "5 2 2 3, 2 7 2 5, 2 5 3 2, 1 1 1 0"),
    (case("pointwise", "dense", {"x": "B T 4", "weight": "4 2"}, ["B T 2"], layout="in_out"), [X, POINTWISE],
     "2 4, 1 3, -1 8, 2 2"),
    (case("separable", "separable_conv1d", {"x": "B T 4", "depthwise": "3 4", "pointwise": "4 2"}, ["B T 2"],
          pads=(1, 1), layout="in_out"), [X, DEPTHWISE, POINTWISE], "5 3, 4 5, 2 11, -1 12"),
    (apply("dynamic_same", 2, 4, (1, 1)), [X, LOGITS],
     "3/4 1/4 2/7 3/7, 8/7 5/7 1 3/2, 3/10 13/5 5/7 4/7, 2/5 8/5 3/4 1"),
    (apply("dynamic_causal", 2, 4, (2, 0)), [X, LOGITS],
     "1/4 0 4/7 2/7, 4/7 1/7 1/2 3/4, 17/10 11/10 8/7 11/7, 1 9/5 1/2 1"),
    (apply("longer_than_the_sequence", 1, 1, (2, 0)), [[[4], [8]], [[[0, LN2, 0]]] * 2], "1, 4"),
    (case("generator", "dynamic_kernel", {"q": "B T 4", "weight": "4 6"}, ["B T 2 3"], heads=2, normalize="softmax",
          layout="in_out"), [X, TOKEN_GENERATOR],
     "1/2 1/4 1/4 4/7 1/7 2/7, 4/7 2/7 1/7 1/4 1/4 1/2, 1/10 4/5 1/10 2/7 1/7 4/7, 2/5 2/5 1/5 1/2 1/4 1/4"),
    (span("span_same", (1, 1)), [Q, SPAN_KEY, V, GENERATOR], "1/2 1/6, 1 4/3, 9/7 15/7, 4/5 2/5"),
    (span("span_causal", (2, 0)), [Q, SPAN_KEY, V, GENERATOR], "1/6 0, 1 1/3, 8/7 10/7, 3/10 6/5"),
    (span("span_released", (1, 1)), [Q, SPAN_KEY, np.array(X)[:, 2:], GENERATOR], RELEASED),
    (attention("attention", False), [Q, KEY, V], S),
    (attention("attention_masked", True), [Q, KEY, V, MASKED], "3/4 19/21, 3/4 4/3, 1/2 1, 1 1"),
    (mixed("block", 4, 2, 2, 1, 3, bias=False, layout="in_out", out=2), blocks(),
     "23/18 263/150, 16/9 59/12, 316/175 46/7, 9/5 13/5"),
    (mixed("block_shared", 4, 2, 2, 1, 3, bias=False, layout="in_out", out=2, shared=True),
     [operand for i, operand in enumerate(blocks()) if i not in (12, 13)], "23/18 263/150, 16/9 59/12, 316/175 46/7, 9/5 13/5"),
    (mixed("block_of_attention", 4, 2, 0, 1, 3, bias=False, layout="in_out", out=2),
     [X, WQ, [0, 0], WK, [0, 0], WV, [0, 0], [[1, 0], [0, 1]], [0, 0]], S),
    (mixed("block_released", 4, 2, 2, 1, 3, bias=False, layout="in_out", out=2), blocks(wc=WC),
     np.hstack([table(S), table(RELEASED)]) @ WO),
    (mixed("block_masked", 4, 2, 2, 1, 3, layout="in_out", out=2), blocks() + [MASKED],
     np.hstack([table("3/4 19/21, 3/4 4/3, 1/2 1, 1 1"), table("1/2 1/6, 1 4/3, 9/7 15/7, 4/5 2/5")]) @ WO),
]


@pytest.fixture(scope="module", params=step_harness.ROUTES)
def module(request):
    return step_harness.Module("".join(example[0].text("f32") for example in EXAMPLES), request.param)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example[0].name)
def test_worked_number(example, module):
    case, operands, answer = example
    arrays = [np.array(operand, np.float32) for operand in operands]
    batched = [array[None] if shape.startswith("B") else array for array, shape in zip(arrays, case.operands.values())]
    expected = table(answer) if isinstance(answer, str) else answer
    found = module(case.name, *batched)[0]
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=0, atol=1e-5)
