"""convbert-raise computes what it replaces: stored expanded forms with their numbers, and the forms of its lit test."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import step_harness

RAISE = "func.func(convbert-raise),canonicalize"
STORED = Path(__file__).parent / "Inputs" / "expanded-dynamic-conv"
CASE = json.loads((STORED / "case.json").read_text(encoding="utf-8"))
(ROW,) = CASE["ops"]
#: Without the stored one: its softmax has no lowering of its own.
FORMS = [form for form in (step_harness.ROOT / "test" / "Transforms" / "raise.mlir").read_text("utf-8").split("// -----\n")
         if "linalg.softmax" not in form]


@pytest.mark.parametrize("row", CASE["ir"], ids=lambda row: row["file"])
def test_stored_forms(row):
    text = (STORED / row["file"]).read_text(encoding="utf-8")
    raised = step_harness.opt(text, RAISE)
    if row["raise"].startswith("must not"):
        assert " convbert." not in raised
        return
    assert raised.count(" convbert.") == raised.count(" convbert.apply_kernel") == 1
    assert "linalg." not in raised and "normalize = #convbert.norm<softmax>" in raised
    u, logits = (np.array(ROW["inputs"][name], np.float32) for name in ("u", "logits"))
    want = np.array(ROW["outputs"][row["result"]])
    got = step_harness.Module(raised)(row["function"], u.reshape(1, 4, 2, 2), logits)
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=0, atol=ROW["atol"])


def _with_sizes(text):
    """The form that joins batch, tokens and heads, with their sizes: upstream cannot lower such a reshape without."""
    for name, size in (("b", 2), ("t", 5), ("n", 30)):
        text = re.sub(rf"(output_shape \[.*?)%{name}\b", rf"\g<1>{size}", text)
    text = re.sub(r"tensor\.empty\([^)]*\)", "tensor.empty()", text)
    text = re.sub(r"<(\?[^>]*)>", lambda m: f"<{m[1].replace('?', '2', 1).replace('?', '5')}>" if m[1].count("?") == 2
                  else f"<{m[1].replace('?', '30')}>", text)
    return re.sub(r"(\} :.* to|extract.*:) tensor<2x6x5x1xf32>", r"\1 tensor<2x6x7x1xf32>", text)  # padded


@pytest.mark.parametrize("index", range(len(FORMS)))
def test_forms(index):
    text = FORMS[index]
    text = step_harness.opt(_with_sizes(text) if "@reshaped" in text else text)
    before, after = step_harness.Module(text), step_harness.Module(step_harness.opt(text, RAISE))
    rng = np.random.default_rng(index)
    for name, arguments in re.findall(r"func\.func @(\w+)\(([^)]*)\)", text):
        shapes = [[{"?": 5}.get(n, n) for n in re.findall(r"(\d+|\?)x", kind)] for kind in re.findall(r"tensor<[^>]*>", arguments)]
        arrays = [rng.standard_normal([int(n) for n in shape]).astype(np.float32) for shape in shapes]
        want = before(name, *arrays)
        assert want.any()
        np.testing.assert_allclose(after(name, *arrays), want, rtol=0, atol=2e-6 * np.abs(want).max())
