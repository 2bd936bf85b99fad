"""The NumPy reference gives the stored outputs of transformers in float64; everything else is compared with it."""

import numpy as np
import pytest

from checkpoints import GOLDEN, golden_inputs, golden_manifest
from convbert import reference


@pytest.mark.parametrize("case", golden_manifest(), ids=lambda case: case["case"])
def test_reference_equals_stored(case):
    config, tensors = reference.load_checkpoint(GOLDEN / case["dir"])
    stored = reference.read_safetensors(GOLDEN / case["dir"] / case["expected"])
    out = reference.forward(config, tensors, golden_inputs(case), case["class"])
    assert case["suggested_atol"]
    for name in case["suggested_atol"]:
        np.testing.assert_allclose(out[name], stored["f64." + name], rtol=0, atol=1e-12, err_msg=name)
