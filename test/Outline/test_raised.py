"""What other front ends spell out, raised and compiled for the CPU: reshapes and all."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import convbert
from convbert import reference_ops as oracle
from convbert.function import Function
from module_harness import TARGETS, isas

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Conversion"))
import step_harness  # noqa: E402

FORMS = [form for name in ("raise", "raise-dynamic")
         for form in (step_harness.ROOT / "test" / "Transforms" / f"{name}.mlir").read_text("utf-8").split("// -----\n")]
#: Those of any batch and length: heads and taps, what the convolution is, and shapes behind batch and tokens.
WINDOWS = {
    "reshaped": (3, 3, dict(pads=(1, 1)), (6,), (9,)),
    "unfold": (2, 3, dict(pads=(4, 0), dilation=2, head_map="interleaved"), (3, 2), (2, 3)),
}


def raised(name, first="tensor"):
    """The form `name`, whose first argument is of the type `first`, behind raising."""
    (form,) = [form for form in FORMS if re.search(rf"func\.func @{name}\(%\w+: {re.escape(first)}", form)]
    return step_harness.opt(form, "func.func(convbert-raise)", "canonicalize")


@isas
@pytest.mark.parametrize("name", WINDOWS)
def test_dynamic_convolution(isa, name):
    heads, taps, options, features, logits = WINDOWS[name]
    function = Function(raised(name), name=name, target=TARGETS[isa])
    assert [item["shape"][2:] for item in function.inputs + function.outputs] == [*map(list, (features, logits, features))]
    for batch, length in [(1, 1), (2, 5), (3, 40)]:
        rng = np.random.default_rng(length)
        u, l = (rng.standard_normal((batch, length, *shape)).astype(np.float32) for shape in (features, logits))
        want = oracle.apply_kernel(u.reshape(batch, length, -1).astype(np.float64),
                                   l.reshape(batch, length, heads, taps).astype(np.float64), normalize="softmax", **options)
        np.testing.assert_allclose(function(u, l), want.reshape(u.shape), rtol=0, atol=2e-6)


#: By file and name: the shape of the weight, the oracle of the convolution, what it is.
CONVOLUTIONS = {
    "turned": ((4, 8, 3), oracle.conv1d, dict(pads=(1, 1))),
    "computed": ((3, 8), oracle.depthwise_conv1d, dict(pads=(1, 0), layout="in_out")),
    "strided": ((3, 8, 4), oracle.conv1d, dict(pads=(1, 1), stride=2, layout="in_out")),
}


@isas
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(isa, name):
    """With the weight of a file."""
    shape, computed, options = CONVOLUTIONS[name]
    kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
    text = raised(name, "tensor<?x?x8xf32>")
    text = re.sub(r", %arg1: tensor<[^>]*>(.*)", rf"\1\n%arg1 = ml_program.global_load_const @w : {kind}", text)
    text = text.replace("module {", f"module {{ ml_program.global private @w(#ml_program.extern : {kind}) : {kind}")
    rng = np.random.default_rng(0)
    w = rng.standard_normal(shape).astype(np.float32)
    function = Function(text, [w], name=name, target=TARGETS[isa])
    for batch, length in [(1, 2), (2, 5), (3, 40)]:
        x = rng.standard_normal((batch, length, 8)).astype(np.float32)
        want = computed(x.astype(np.float64), w.astype(np.float64), **options)
        found = function(x)
        assert found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=0, atol=1e-5)


def test_what_cannot_be_compiled():
    """Tokens in front of the batch would have to be turned."""
    with pytest.raises(convbert.Error, match="^tokens_first: expand_shape: has no CPU kernel$"):
        Function(raised("tokens_first"), name="tokens_first")
