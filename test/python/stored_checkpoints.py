"""The archives of test/checkpoints, unpacked once a test run."""

import atexit
import functools
import json
import shutil
import tarfile
import tempfile
from pathlib import Path

# Python 3.11.2, Debian 12's, has no filters yet.
_SAFE = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
ARCHIVES = Path(__file__).resolve().parents[1] / "checkpoints"


def entries(name, key):
    """The list `key` of an archive's manifest, read without unpacking the rest."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        return json.load(archive.extractfile(f"{name}/manifest.json"))[key]


@functools.cache
def unpacked(name):
    """The folder that holds an archive's checkpoints."""
    directory = Path(tempfile.mkdtemp(prefix="convbert-test-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        archive.extractall(directory, **_SAFE)
    return directory / name
