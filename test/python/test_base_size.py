"""A model of base size with random weights: loads, compiles and runs within the limits of time and memory."""

import json
import subprocess
import sys

import numpy as np
import pytest

from checkpoints import BASE, write_random
from convbert import reference
from test_checkpoint_refusals import run_import

CHILD = """
import json, sys
import numpy as np
import convbert
model = convbert.load(sys.argv[1], cache=False)
ids = np.random.default_rng(0).integers(0, 30522, (1, 128))
short = model(ids[:, :12]).last_hidden_state
model(ids)
model(np.tile(ids, (4, 1)))
np.save(sys.argv[2], short)
peak = [int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(json.dumps({"peak": peak, **model.timings}))
"""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    directory = tmp_path_factory.mktemp("base")
    weights = write_random(directory, BASE)
    yield directory
    weights.unlink()


def test_limits_and_numbers(checkpoint, tmp_path):
    child = subprocess.run([sys.executable, "-c", CHILD, checkpoint, tmp_path / "short.npy"], capture_output=True,
                           text=True, check=False)
    assert child.returncode == 0, child.stderr
    facts = json.loads(child.stdout)
    assert facts["compile_ms"] < 10_000
    size = (checkpoint / "model.safetensors").stat().st_size
    assert facts["peak"] <= 1.5 * size + 300e6, f"{facts['peak'] / size:.2f} times the file"

    ids = np.random.default_rng(0).integers(0, 30522, (1, 128))[:, :12]
    config, tensors = reference.load_checkpoint(checkpoint)
    exact = reference.forward(config, tensors, {"input_ids": ids})["last_hidden_state"]
    single = reference.forward(config, tensors, {"input_ids": ids}, dtype=np.float32)["last_hidden_state"]
    # As for the stored cases: four times the error of another float32 computation.
    np.testing.assert_allclose(np.load(tmp_path / "short.npy"), exact, rtol=0, atol=4 * np.abs(single - exact).max())


def test_import_is_quick_and_makes_no_copy(checkpoint, tools, tmp_path):
    """In processor time, which other programs do not change; the numbers are read in pieces."""
    code, message, seconds, kilobytes = run_import(tools, checkpoint, tmp_path)
    assert code == 0, message
    assert seconds < 1
    assert kilobytes * 1024 < (checkpoint / "model.safetensors").stat().st_size / 4


def test_imported_module_is_small(checkpoint, tools, tmp_path):
    output = tmp_path / "base.mlir"
    subprocess.run([tools / "convbert-import", checkpoint, "-o", output], check=True)
    text = output.read_text(encoding="utf-8")
    assert "convbert." in text
    assert len(text.encode()) < 200_000
