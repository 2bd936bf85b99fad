"""The archive of test/cases, unpacked once a test run."""

import atexit
import functools
import json
import shutil
import tarfile
import tempfile
from pathlib import Path

# Python 3.11.2, Debian 12's, has no filters yet.
_SAFE = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
ARCHIVE = Path(__file__).resolve().parents[1] / "cases" / "cases.tar.xz"


@functools.cache
def folder():
    """The folder with a folder for each case."""
    directory = Path(tempfile.mkdtemp(prefix="convbert-test-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(directory, **_SAFE)
    return directory / "cases"


@functools.cache
def all_cases():
    """case.json of every case, by id."""
    return {path.parent.name: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(folder().glob("*/case.json"))}


def rows(key):
    """(id, row) for all rows of one kind: "numeric", "refuse", "relations" or "tokens"."""
    return [(case_id, row) for case_id, case in all_cases().items() for row in case.get(key, [])]
