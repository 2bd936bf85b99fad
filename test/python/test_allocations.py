"""A call neither allocates nor starts threads once its shape has been seen."""

import json
import subprocess

import pytest

from checkpoints import DEMO, GOLDEN
from convbert.compiler import compiled


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("directory, outputs", [(GOLDEN / "base_tiny", ("hidden_states",)), (GOLDEN / "groups2", ()),
                                                (GOLDEN / "odd_heads", ("attentions", "conv_kernels")),
                                                (DEMO / "langid", ()), (DEMO / "mlm", ())],
                         ids=["base_tiny", "groups2", "odd_heads", "langid", "mlm"])
def test_no_allocation(directory, outputs, threads, build_dir, tmp_path):
    with compiled(directory, extras=outputs) as description:
        (tmp_path / "description.json").write_text(json.dumps(description), encoding="utf-8")
        result = subprocess.run([build_dir / "test/bin/convbert-count-allocations", tmp_path / "description.json",
                                 str(threads), "1x1", "1x16", "3x9", "2x13"], capture_output=True, text=True,
                                check=False)
    assert result.returncode == 0, result.stderr
    words = result.stdout.split()
    assert words[:2] == ["allocations", "0"]
    assert int(words[5]) > 0  # the counter does count
    # One thread never enters OpenMP; two make one more, once (libomp may keep one of its own beside it).
    assert int(words[3]) == 0 if threads == 1 else 1 <= int(words[3]) <= 2
