"""f16 and bf16 are storage only: sums, norms and softmaxes are f32, so results are the oracle's, rounded once."""

import numpy as np
import pytest

import step_harness
from step_cases import BLOCKS, Case, STEPS
from step_harness import bf16_from, bf16_to_f32

NAMES = ["dense_in_out", "dense_times", "grouped", "activation_gelu", "activation_mish", "norm_residual", "embeddings",
         "pool_first", "pool_mean", "masked_tokens", "depthwise", "depthwise_causal", "kernel", "kernel_span",
         "apply_softmax", "kernel_renorm", "light", "light_renorm_interleaved", "biased", "pool_masked",
         "scaled_channels", "selected", "scaled_heads", "attention", "attention_wide_query", "depthwise_bias",
         "depthwise_filters", "conv", "conv_groups", "conv_strided", "conv_sequences", "softmax", "weighted_sum",
         "apply_interleaved", "light_raw"]
CASES = [case for case in STEPS + BLOCKS if case.name in NAMES]
#: Blocks of the operator family: what steps hand on is rounded, too.
FAMILY = [case for case in BLOCKS if case.op in (
    "separable_conv1d", "batch_norm", "kernel_attention_conv", "light_conv", "dynamic_conv", "span_dynamic_conv",
    "squeeze_excite", "selective_kernel", "mixed_attention") and len(case.results) == 1]
#: Masked attention of half-precision operands has a bias of f32: the lowest f32 is no finite f16.
MASKED = Case("masked", "self_attention", {"q": "B T 12", "k": "B T 12", "v": "B T 12", "bias": "B T"}, ["B T 12"],
              {"heads": 3, "scale": 1.0}, "q, k, v bias(bias)")
#: Relative spacing of the numbers.
SPACING = {"f16": 2.0**-10, "bf16": 2.0**-7}
ELEMENTS = pytest.mark.parametrize("element", SPACING)


def store(array, element):
    """Float arrays as they are passed: float16, or the bits of bf16."""
    if array.dtype.kind != "f":
        return array
    return array.astype(np.float16) if element == "f16" else bf16_from(array.astype(np.float32))


def load(array):
    return bf16_to_f32(array).astype(np.float64) if array.dtype == np.uint16 else array.astype(np.float64)


def block_text(case, element):
    """A key bias is f32 whatever the elements are."""
    return case.text(element).replace(f"tensor<?x?x{element}>", "tensor<?x?xf32>")


@pytest.fixture(scope="module")
def compiled():
    modules = {}

    def get(element):
        if element not in modules:
            text = "".join(block_text(case, element) for case in {case.name: case for case in CASES + FAMILY}.values())
            masked = MASKED.text(element).replace(f"tensor<?x?x{element}>", "tensor<?x?xf32>")
            modules[element] = step_harness.Module(text + masked)
        return modules[element]

    return get


@ELEMENTS
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rounded_once(case, element, compiled):
    stored = {name: store(array, element) for name, array in case.inputs(3, 7, np.float32).items()}
    exact = case.oracle({name: load(array) if array.dtype.itemsize == 2 else array for name, array in stored.items()})
    found = compiled(element)(case.name, *stored.values())
    np.testing.assert_allclose(load(found), exact[0], rtol=SPACING[element], atol=2e-6)


@ELEMENTS
@pytest.mark.parametrize("case", FAMILY, ids=lambda case: case.name)
def test_blocks(case, element, compiled):
    """Each step rounds what it hands on: the largest gap measured is 0.75 spacings of the largest number."""
    arrays = case.inputs(3, 7, np.float32)
    stored = {name: array if name == "bias" and case.op == "mixed_attention" else store(array, element)
              for name, array in arrays.items()}
    (exact,) = case.oracle({name: load(array) if array.dtype.itemsize == 2 else array for name, array in stored.items()})
    found = load(compiled(element)(case.name, *stored.values()))
    assert np.abs(found - exact).max() < 1.5 * SPACING[element] * max(1, np.abs(exact).max())


@ELEMENTS
def test_masked_softmax(element, compiled):
    """Scores near the limits of f16, some or all keys masked: masked keys count nothing, or all count the same."""
    arrays = MASKED.inputs(2, 8, np.float32)
    arrays["q"] = np.full_like(arrays["q"], 120.0)
    arrays["k"] *= 100.0
    arrays["bias"] = np.where([[True, False] * 4, [False] * 8], 0, np.finfo(np.float32).min).astype(np.float32)
    stored = {name: array if name == "bias" else store(array, element) for name, array in arrays.items()}
    found = load(compiled(element)("masked", *stored.values()))
    exact = MASKED.oracle({name: load(array) for name, array in stored.items()})[0]
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, exact, rtol=SPACING[element], atol=1e-4)
    np.testing.assert_allclose(found[1], load(stored["v"])[1].mean(axis=0)[None].repeat(8, 0), rtol=SPACING[element],
                               atol=1e-4)


@ELEMENTS
def test_kernels_of_large_logits_sum_to_one(element, compiled):
    case = next(case for case in CASES if case.name == "kernel")
    arrays = case.inputs(2, 6, np.float32)
    arrays["q"] *= 20000.0
    found = load(compiled(element)("kernel", *(store(array, element) for array in arrays.values())))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=0, atol=2 * SPACING[element])


#: Queries, span-aware keys and a generator (public issue ConvBert#10) whose product reaches beyond 65504.
QUERY = [[-357.0, -317.5, 367.0, 218.75, -304.0, 147.5, -408.5, 87.625],
         [255.0, 96.625, -266.0, 332.0, 482.5, -486.75, -285.0, -327.25],
         [263.5, -207.25, 457.5, -71.875, -120.6875, -401.75, 51.0625, -218.25],
         [-84.25, -157.375, 468.0, -339.0, 367.0, -257.25, 21.6875, 213.375]]
SPAN_KEY = [[148.25, -208.375, -257.0, 150.0, 249.75, 229.125, 107.9375, 77.5],
            [307.75, 164.875, -71.6875, -224.75, 505.25, 86.75, 281.25, -421.0],
            [-297.25, -154.5, -75.3125, -25.34375, -210.0, 135.5, -13.9140625, 287.5],
            [199.75, 317.5, -20.75, -316.5, -23.515625, 512.5, -31.75, -399.75]]


@ELEMENTS
@pytest.mark.parametrize("route", step_harness.ROUTES)
def test_the_product_with_the_span_key_does_not_overflow(element, route):
    """Kernels of logits in the thousands are one-hot, finite, and those of float64."""
    rng = np.random.default_rng(0)
    weight = store(rng.uniform(-0.03, 0.03, (6, 8)).astype(np.float32), element)
    q, key = (store(np.array([rows], np.float32), element) for rows in (QUERY, SPAN_KEY))
    assert np.abs(load(q) * load(key)).max() > 65504
    shapes = {"q": "B T 8", "span_key": "B T 8", "v": "B T 8", "weight": "6 8"}
    span = Case("span", "span_dynamic_conv", shapes, ["B T 8"], {"heads": 2, "pads": (1, 1)})
    v = store(rng.standard_normal((1, 4, 8)).astype(np.float32), element)
    found = load(step_harness.Module(span.text(element), route)("span", q, key, v, weight))
    exact = span.oracle({"q": load(q), "span_key": load(key), "v": load(v), "weight": load(weight)})[0]
    np.testing.assert_allclose(found, exact, rtol=2 * SPACING[element], atol=1e-3)
