"""The demo's answers are the stored ones, unpadded and padded."""

import json
import subprocess
import sys

import numpy as np
import pytest

from checkpoints import DEMO, loaded
from convbert import reference

# See demo/run_demo.py.
TOLERANCE = 2e-5


def test_run_demo(root):
    result = subprocess.run([sys.executable, root / "demo" / "run_demo.py"], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "FAILED" not in result.stdout
    assert "400 of 400 held-out sentences named right" in result.stdout
    assert result.stdout.endswith("all answers equal the stored ones\n")


def test_the_demo_fails_on_a_deviation(root, tmp_path):
    """A copy of the demo with one stored logit changed."""
    for path in (root / "demo").iterdir():
        if path.name != "expected.json":
            (tmp_path / path.name).symlink_to(path)
    rows = json.loads((root / "demo" / "expected.json").read_text(encoding="utf-8"))
    rows[3]["logits"][5] += 1e-4
    (tmp_path / "expected.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "run_demo.py").unlink()
    (tmp_path / "run_demo.py").write_bytes((root / "demo" / "run_demo.py").read_bytes())
    result = subprocess.run([sys.executable, tmp_path / "run_demo.py"], capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "FAILED  logits of 20 sentences" in result.stdout


@pytest.mark.parametrize("threads", [1, 2])
def test_stored_logits(threads):
    model = loaded(DEMO / "langid", threads)
    rows = json.loads((DEMO / "expected.json").read_text(encoding="utf-8"))
    for row in rows:
        np.testing.assert_allclose(model([row["input_ids"]]).logits[0], row["logits"], rtol=0, atol=TOLERANCE)


def test_padded_batch_equals_the_reference():
    """All stored sentences in one padded batch, where the padding is seen by the convolutions."""
    rows = json.loads((DEMO / "expected.json").read_text(encoding="utf-8"))[:6]
    length = max(len(row["input_ids"]) for row in rows)
    ids = np.zeros((len(rows), length), np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, :len(row["input_ids"])] = row["input_ids"]
        mask[i, :len(row["input_ids"])] = 1
    out = loaded(DEMO / "langid")(ids, attention_mask=mask, output_hidden_states=True)
    config, tensors = reference.load_checkpoint(DEMO / "langid")
    arguments = {"input_ids": ids, "attention_mask": mask}
    expected = reference.forward(config, tensors, arguments, "ConvBertForSequenceClassification")
    single = reference.forward(config, tensors, arguments, "ConvBertForSequenceClassification", np.float32)
    found = {"logits": out.logits, **{f"hidden_states.{i}": x for i, x in enumerate(out.hidden_states)}}
    for name, array in found.items():
        limit = max(4 * float(np.abs(single[name] - expected[name]).max()), 1e-6)
        np.testing.assert_allclose(array, expected[name], rtol=0, atol=limit, err_msg=name)
