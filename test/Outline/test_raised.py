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

FORMS = (step_harness.ROOT / "test" / "Transforms" / "raise.mlir").read_text(encoding="utf-8").split("// -----\n")
#: Those of any batch and length: heads and taps, what the convolution is, and shapes behind batch and tokens.
WINDOWS = {
    "reshaped": (3, 3, dict(pads=(1, 1)), (6,), (9,)),
    "unfold": (2, 3, dict(pads=(4, 0), dilation=2, head_map="interleaved"), (3, 2), (2, 3)),
}


def raised(name):
    (form,) = [form for form in FORMS if re.search(rf"func\.func @{name}\(", form)]
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


def test_what_cannot_be_compiled():
    """Tokens in front of the batch would have to be turned."""
    with pytest.raises(convbert.Error, match="^tokens_first: expand_shape: has no CPU kernel$"):
        Function(raised("tokens_first"), name="tokens_first")
