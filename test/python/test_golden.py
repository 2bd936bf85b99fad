"""Compiled models against the stored outputs of transformers, within the tolerances stored with them.

All cases for this CPU and for AVX2; those of the FEATURES for the other levels below too, whose code runs here.
"""

import itertools

import numpy as np
import pytest

from checkpoints import GOLDEN, golden_inputs, golden_manifest, loaded
from convbert import reference
from convbert.targets import LEVELS, cpu_flags

CASES = pytest.mark.parametrize("case", golden_manifest(), ids=lambda case: case["case"])
#: Checkpoints that differ in what the kernels compute: run with the code of each level below this CPU's, too.
FEATURES = ["base_tiny", "groups2", "odd_heads", "k7", "head_ratio4", "emb_gt_hidden", "electra", "seqcls", "mc"]


def compare(case, name, found):
    stored = reference.read_safetensors(GOLDEN / case["dir"] / case["expected"])["f64." + name]
    assert found.dtype == np.float32
    assert found.shape == stored.shape, name
    np.testing.assert_allclose(found, stored, rtol=0, atol=case["suggested_atol"][name], err_msg=name)


def is_body_of_another_class(case):
    """The stored outputs are those of the bare model, the checkpoint holds a head too."""
    return case["class"] != loaded(GOLDEN / case["dir"]).model_class


@CASES
def test_final_outputs(case):
    model = loaded(GOLDEN / case["dir"])
    if is_body_of_another_class(case):
        out = {"last_hidden_state": model(**golden_inputs(case), output_hidden_states=True).hidden_states[-1]}
    else:
        out = model(**golden_inputs(case))
    names = [name for name in case["suggested_atol"] if "." not in name]
    assert names == list(out.keys())
    for name in names:
        compare(case, name, out[name])


@CASES
def test_hidden_states(case):
    names = [name for name in case["suggested_atol"] if name.startswith("hidden_states.")]
    if not names:  # cases that store the final outputs only
        assert "." not in "".join(case["suggested_atol"])
        return
    model = loaded(GOLDEN / case["dir"])
    out = model(**golden_inputs(case), output_hidden_states=True)
    assert len(out.hidden_states) == len(names) == model.config["num_hidden_layers"] + 1
    for name, found in zip(names, out.hidden_states):
        compare(case, name, found)
    # Asking for more outputs changes none of the others.
    plain = model(**golden_inputs(case))
    for name in plain:
        np.testing.assert_array_equal(plain[name], out[name])


def lower_cases():
    """Pairs of a case and a level: all cases with AVX2, which most CPUs have."""
    levels = [level for level in LEVELS if level.machine == "x86_64" and level.name != "x86-64-v4-bf16"]
    for case, level in itertools.product(golden_manifest(), levels):
        if case["dir"] in FEATURES or level.name == "x86-64-v3":
            skip = pytest.mark.skipif(not cpu_flags() >= set(level.features), reason="not on this CPU")
            yield pytest.param(case, level.name, id=f"{case['case']}-{level.name}", marks=skip)


@pytest.mark.parametrize("case, target", list(lower_cases()))
def test_lower_levels(case, target):
    """Final outputs, with the same bits from one and two threads."""
    if is_body_of_another_class(case):
        pytest.skip("the outputs are those of another class")
    one, two = (loaded(GOLDEN / case["dir"], threads, target)(**golden_inputs(case)) for threads in (1, 2))
    for name in one:
        compare(case, name, one[name])
        np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("case", [case for case in golden_manifest() if case["equals"]], ids=lambda case: case["case"])
def test_equal_cases(case):
    others = {other["case"]: other for other in golden_manifest()}
    other = others[case["equals"]["case"]]
    model = loaded(GOLDEN / case["dir"])
    found, expected = model(**golden_inputs(case)), model(**golden_inputs(other))
    for name in found:
        rows = expected[name]
        if "row" in case["equals"]:
            rows = rows[case["equals"]["row"]:case["equals"]["row"] + 1]
        np.testing.assert_allclose(found[name], rows, rtol=0, atol=2 * case["suggested_atol"][name])
