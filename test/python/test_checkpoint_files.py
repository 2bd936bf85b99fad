"""What may happen to the files of a checkpoint: one clear line each."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import convbert
from checkpoints import GOLDEN
from convbert import _runtime
from convbert.compiler import compiled
from stored_checkpoints import unpacked

SOURCE = GOLDEN / "spec8_g2"


@pytest.fixture
def directory(tmp_path):
    target = tmp_path / "model"
    shutil.copytree(SOURCE, target)
    return target


def refusal(directory):
    with pytest.raises(convbert.Error) as caught:
        convbert.load(directory)
    message = str(caught.value)
    assert "\n" not in message
    return message


def run_as_nobody(*command):
    """Runs a command that permissions hold for: whoever runs the tests may be root, for whom they do not."""
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **user)


def test_directory_without_permission(tools):
    # Not below pytest's folder, which is closed to others.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        target = Path(folder) / "model"
        shutil.copytree(SOURCE, target)
        try:
            usable = run_as_nobody(tools / "convbert-import", target, "-o", os.devnull).returncode == 0
        except OSError:
            usable = False
        if not usable:
            pytest.skip("the build directory is closed to user 65534, and permissions do not hold for root")
        for closed, mode in ((target, 0o700), (target / "config.json", 0o600), (target / "model.safetensors", 0o000)):
            before = closed.stat().st_mode
            os.chmod(closed, mode if os.getuid() == 0 else 0)
            result = run_as_nobody(tools / "convbert-import", target)
            os.chmod(closed, before)
            assert result.returncode == 1
            assert result.stderr.count("\n") == 1 and "Permission denied" in result.stderr, result.stderr


@pytest.mark.parametrize("name", [".", "config.json", "model.safetensors"])
def test_loop_of_links(directory, name):
    if name == ".":
        directory = directory.parent / "loop"
        directory.symlink_to(directory)
    else:
        (directory / name).unlink()
        (directory / name).symlink_to(directory / name)
    assert "Too many levels of symbolic links" in refusal(directory)


def test_what_is_no_file(directory):
    """A pipe must not be waited for, a device not be read."""
    (directory / "model.safetensors").unlink()
    os.mkfifo(directory / "model.safetensors")
    assert "requires a regular file" in refusal(directory)
    (directory / "config.json").unlink()
    (directory / "config.json").symlink_to("/dev/zero")
    assert "requires a regular file" in refusal(directory)
    assert "found a file" in refusal(SOURCE / "config.json")


def test_links_are_followed(directory):
    """The hub's cache holds links to files of other names."""
    for name in ("config.json", "model.safetensors"):
        shutil.move(directory / name, directory.parent / f"blob-{name}")
        (directory / name).symlink_to(Path("..") / f"blob-{name}")
    ids = np.array([[1, 2, 3]])
    np.testing.assert_array_equal(convbert.load(directory)(ids).last_hidden_state,
                                  convbert.load(SOURCE)(ids).last_hidden_state)


@pytest.mark.parametrize("change", ["other numbers", "shorter", "gone"])
def test_weights_change_before_they_are_mapped(directory, change):
    weights = directory / "model.safetensors"
    with compiled(directory) as description:
        content = bytearray(weights.read_bytes())
        if change == "gone":
            weights.unlink()
        elif change == "shorter":
            weights.write_bytes(content[:-4])
        else:
            content[-1] ^= 1
            weights.write_bytes(content)
            os.utime(weights, ns=(0, 1))
        with pytest.raises(RuntimeError, match="cannot be opened" if change == "gone" else "load the checkpoint again"):
            _runtime.Model(json.dumps(description), 1)


FULL_DISK = """
import resource, signal, sys
# As on a full disk, no file grows; SIGXFSZ would end the process.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
import convbert
try:
    convbert.load(sys.argv[1], cache=sys.argv[2])
except convbert.Error as error:
    print(error)
"""


@pytest.mark.parametrize("name, message", [("bin_good", "phase 'link' failed"),
                                           ("bin_zip_deflated", "its deflated records cannot be unpacked")])
def test_cache_on_a_full_disk(name, message, tmp_path):
    result = subprocess.run([sys.executable, "-c", FULL_DISK, unpacked("bad") / name, tmp_path], capture_output=True,
                            text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert message in result.stdout and str(tmp_path) in result.stdout and result.stdout.count("\n") == 1, result.stdout
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_notes(directory):
    """What was ignored, and whose rule the widths of the heads follow."""
    with compiled(unpacked("formats") / "tf1_g1") as description:
        assert any("optimizer" in note for note in description["notes"])
    with compiled(unpacked("formats") / "fmt_bin_zip") as description:
        assert any("position_ids" in note for note in description["notes"])
    with compiled(directory) as description:
        assert description["notes"] == ["head widths follow the rule of all implementations"]
