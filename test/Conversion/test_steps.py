"""Every step and block operation at every phase, compared with the NumPy oracles.

As a block or step, after decomposition and after fusion the modules are evaluated in NumPy; from linalg on they are
compiled and run, with any batch and length, shorter than the kernels' widths too.
"""

import numpy as np
import pytest

import step_cases
import step_harness
from convbert import interpreter

CASES = step_cases.STEPS + step_cases.BLOCKS
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
ROUTES = pytest.mark.parametrize("route", step_harness.ROUTES)
SHAPES = [(1, 1), (2, 2), (3, 7), (1, 12)]


def wide(arrays):
    """The arrays with float64 for any other float type."""
    return {name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in arrays.items()}


@pytest.fixture(scope="module")
def compiled():
    """compiled(element, route): all cases as one module."""
    modules = {}

    def get(element, route):
        if (element, route) not in modules:
            text = "".join(case.text(element) for case in CASES)
            modules[element, route] = step_harness.Module(text, route)
        return modules[element, route]

    return get


def run(module, case, arrays):
    found = module(case.name, *arrays.values())
    return list(found) if isinstance(found, tuple) else [found]


@pytest.fixture(scope="module", params=["import", "decompose", "simplify"])
def rewritten(request):
    """All cases in generic form after the passes of a phase."""
    passes = {"import": "canonicalize", "decompose": step_harness.DECOMPOSE, "simplify": step_harness.SIMPLIFY}
    text = "".join(case.text("f64") for case in CASES)
    return request.param, step_harness.opt(text, passes[request.param], generic=True)


@EACH_CASE
def test_rewrites_keep_the_result(case, rewritten):
    phase, text = rewritten
    if phase == "import" and case in step_cases.BLOCKS:
        assert f'"convbert.{case.op}"' in text
    for batch, length in SHAPES:
        arrays = case.inputs(batch, length, np.float64)
        expected = case.oracle(arrays)
        found = interpreter.evaluate(text, case.name, *arrays.values())
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(f, e, rtol=0, atol=1e-13 * max(1, np.abs(e).max()))


@ROUTES
@EACH_CASE
def test_double_precision(case, route, compiled):
    for batch, length in SHAPES:
        arrays = case.inputs(batch, length, np.float64)
        for f, e in zip(run(compiled("f64", route), case, arrays), case.oracle(arrays), strict=True):
            assert f.shape == e.shape
            np.testing.assert_allclose(f, e, rtol=0, atol=1e-13 * max(1, np.abs(e).max()))


@ROUTES
@EACH_CASE
def test_single_precision(case, route, compiled):
    for batch, length in SHAPES:
        arrays = case.inputs(batch, length, np.float32)
        found, exact = run(compiled("f32", route), case, arrays), case.oracle(wide(arrays))
        for f, e, rounded in zip(found, exact, case.oracle(arrays), strict=True):
            # What single precision does to NumPy's result, several times over, and a few units of the last place.
            atol = 4 * np.abs(rounded - e).max() + 8 * np.finfo(np.float32).eps * max(1, np.abs(e).max())
            assert f.shape == e.shape
            np.testing.assert_allclose(f, e, rtol=0, atol=atol)


@EACH_CASE
def test_sequences_are_independent(case, compiled):
    """A sequence gives the same bits alone and beside others, whatever these hold."""
    module, arrays = compiled("f32", "steps"), case.inputs(3, 7, np.float32)
    together = run(module, case, arrays)
    batched = [name for name, shape in case.operands.items() if shape.startswith("B")]
    for row in range(3):
        alone = {name: array[row:row + 1] if name in batched else array for name, array in arrays.items()}
        for f, e in zip(run(module, case, alone), together, strict=True):
            np.testing.assert_array_equal(f[0], e[row])
    for name in batched:
        if arrays[name].dtype.kind == "f":
            arrays[name][1] = np.nan
    for f, e in zip(run(module, case, arrays), together, strict=True):
        np.testing.assert_array_equal(f[[0, 2]], e[[0, 2]])


@pytest.mark.parametrize("seed", range(4))
def test_types_may_know_different_extents(seed):
    """Each operand's type says or leaves open what batch and length are."""
    rng = np.random.default_rng(seed)
    known = {}

    def extent(name, symbol):
        # Two operands of one type and a result like the third, or a result like each operand.
        if case.op == "span_dynamic_conv" or case.name.endswith("with_taps"):
            name = "q"
        return known.setdefault((case.name, name, symbol), str(rng.choice(["?", {"B": "3", "T": "7", "S": "15"}[symbol]])))

    text = ""
    for case in CASES:
        text += case.text("f32", extent)
    module = step_harness.Module(text, ["steps", "fused"][seed % 2])
    for case in CASES:
        arrays = case.inputs(3, 7, np.float32)
        for f, e in zip(run(module, case, arrays), case.oracle(wide(arrays)), strict=True):
            np.testing.assert_allclose(f, e, rtol=0, atol=1e-5)


def test_arguments_are_not_written(compiled):
    for case in CASES:
        arrays = case.inputs(2, 5, np.float32)
        kept = {name: array.copy() for name, array in arrays.items()}
        run(compiled("f32", "fused"), case, arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, kept[name], err_msg=f"{case.name} {name}")


ENDS = np.array([-3e38, -1e4, -30, -10, -6, -4, -1e-20, 0, 1e-20, 4, 6, 10, 30, 1e4, 3e38])


@pytest.mark.parametrize("kind", step_cases.ACTIVATIONS)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_ends_of_activations(kind, element, compiled):
    """No NaN and no infinity where the argument has none, and NaN where it is one."""
    dtype = step_harness.DTYPES[element]
    ends = ENDS[abs(ENDS) < 1e30] if kind == "relu2" else ENDS  # whose squares are numbers
    x = np.resize(ends, (1, 3, 7)).astype(dtype)
    case = next(case for case in CASES if case.name == f"activation_{kind}")
    with np.errstate(over="ignore"):
        expected = case.oracle({"x": x.astype(np.float64)})[0]
    expected = np.where(np.isfinite(expected), expected, 0)
    (found,) = run(compiled(element, "steps"), case, {"x": x})
    scale = 1e-6 if element == "f32" else 1e-12
    np.testing.assert_allclose(found, expected, rtol=2 * scale, atol=scale)
    x[0, 1, 3] = np.nan
    (found,) = run(compiled(element, "steps"), case, {"x": x})
    assert np.argwhere(np.isnan(found)).tolist() == [[0, 1, 3]]
