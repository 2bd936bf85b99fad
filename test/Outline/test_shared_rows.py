"""Products whose panels leave threads idle: threads share the rows, and the bits are those of one thread."""

import numpy as np
import pytest

import convbert.nn as nn
from convbert.function import Function
from convbert.targets import cpu_flags

FLAGS = cpu_flags()
TARGETS = ["x86-64-v2", "x86-64-v3"] + ["x86-64-v4"] * ("avx512f" in FLAGS)
RNG = np.random.default_rng(0)


def compiled(inputs, features, multiplied=False, **options):
    """x W^T + b, perhaps times a second operand, for several teams; and the parameters."""
    graph = nn.Graph("rows")
    w, b = graph.parameter("w", [features, inputs]), graph.parameter("b", [features])
    operands = [graph.input("x", inputs)] + ([graph.input("m", features)] if multiplied else [])
    graph.output(nn.dense(operands[0], w, b, *operands[1:]))
    weights = {"w": RNG.standard_normal((features, inputs), np.float32) / np.float32(inputs) ** 0.5,
               "b": RNG.standard_normal(features, np.float32)}
    parameters = [weights[name] for name in graph.parameters]
    return [Function(str(graph), parameters, threads=threads, **options) for threads in (1, 2, 3, 5, 16)], weights


def check(functions, weights, shape, multiplied, tolerance):
    x = RNG.standard_normal(shape, np.float32)
    want = x.astype(np.float64) @ weights["w"].T.astype(np.float64) + weights["b"]
    m = [RNG.standard_normal(want.shape, np.float32)] if multiplied else []
    want = want * m[0] if multiplied else want
    one, *others = (function(x, *m) for function in functions)
    for other in others:
        assert other.tobytes() == one.tobytes(), f"other bits with more threads for {shape}"
    assert np.abs(one - want).max() <= tolerance * max(1, np.abs(want).max())


# One panel alone, a narrow one, an odd number of them on every instruction set, and one with a rest.
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("features", [5, 24, 48, 144, 240, 250])
@pytest.mark.parametrize("multiplied", [False, True], ids=["alone", "times"])
def test_any_number_of_panels(target, features, multiplied):
    functions, weights = compiled(72, features, multiplied, target=target)
    for shape in ((1, 1, 72), (1, 63, 72), (1, 64, 72), (3, 65, 72), (2, 301, 72)):
        check(functions, weights, shape, multiplied, 1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_slices_of_the_depth(target):
    functions, weights = compiled(6000, 144, target=target)
    for shape in ((1, 130, 6000), (2, 67, 6000)):
        check(functions, weights, shape, False, 1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("multiplied", [False, True], ids=["alone", "times"])
def test_each_thread_widens_its_own_panel(target, multiplied):
    functions, weights = compiled(200, 144, multiplied, target=target, weights="bf16")
    check(functions, weights, (2, 150, 200), multiplied, 2e-2)


@pytest.mark.skipif("avx512_bf16" not in FLAGS, reason="no AVX512_BF16 here")
@pytest.mark.parametrize("multiplied", [False, True], ids=["alone", "times"])
def test_pairs(multiplied):
    functions, weights = compiled(200, 144, multiplied, dtype="bfloat16")
    check(functions, weights, (2, 150, 200), multiplied, 3e-2)
