"""Malformed and hostile checkpoints: refused at once, in one line that helps."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import convbert
from checkpoints import INPUTS
from convbert import reference
from stored_checkpoints import entries, unpacked

BAD = entries("bad", "entries")


# Started small: a child's peak of memory counts from that of the process that forks it.
MEASURE = """
import json, os, resource, subprocess, sys
result = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([result.returncode, result.stderr.decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""


def run_import(tools, directory, cwd):
    """Returns exit code, messages, seconds of processor time and kilobytes of memory of convbert-import."""
    command = [sys.executable, "-I", "-S", "-c", MEASURE, tools / "convbert-import", directory, "-o", os.devnull]
    return json.loads(subprocess.run(command, cwd=cwd, capture_output=True, check=True, timeout=60).stdout)


@pytest.mark.parametrize("entry", BAD, ids=lambda entry: entry["dir"])
def test_entry(entry, tools, tmp_path):
    directory = unpacked("bad") / entry["dir"]
    code, message, seconds, kilobytes = run_import(tools, directory, tmp_path)
    assert code in (0, 1), message
    assert seconds < 1
    assert kilobytes < 200_000
    assert not os.listdir(tmp_path) and not (directory / "PWNED").exists()
    if entry["outcome"] == "ok":
        assert code == 0, message
    if entry["outcome"] == "error":
        assert code == 1
    if code == 1:
        assert message.count("\n") == 1 and message.startswith("convbert-import: "), message
    if code == 1 or entry["outcome"] == "error_or_warn":
        for alternatives in entry["must_mention"]:
            assert any(part.lower() in message.lower() for part in alternatives), f"{message} lacks {alternatives}"


@pytest.mark.parametrize("name", ["bin_good", "bin_zip_deflated", "bin_zip_dotdot"])
def test_what_is_accepted_is_right(name):
    """The entries that load give what the archive without a fault gives."""
    stored = reference.read_safetensors(unpacked("bad") / "bin_good" / "expected.safetensors")
    out = convbert.load(unpacked("bad") / name)(**{key: stored[key] for key in INPUTS if key in stored})
    np.testing.assert_allclose(out.last_hidden_state, stored["f64.last_hidden_state"], rtol=0, atol=4e-6)
