"""The tables that say what is read from where name a test in each row, and the tests are there."""

import fnmatch
import re

import pytest

from checkpoints import ROOT, golden_manifest
from stored_checkpoints import entries


def existing():
    """Names that a row may call a test: stored checkpoints, functions and files of tests."""
    names = {case["dir"] for case in golden_manifest()}
    for archive in ("formats", "models"):
        names |= {case["dir"] for case in entries(archive, "cases")}
    names |= {entry["dir"] for entry in entries("bad", "entries")}
    for path in (ROOT / "test").rglob("*"):
        if path.suffix == ".py":
            names.add(path.name)
            names |= set(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        elif path.suffix == ".cpp":
            names.add(path.name)
            names |= {".".join(test) for test in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)",
                                                           path.read_text(encoding="utf-8"), re.MULTILINE)}
        elif path.suffix in (".test", ".mlir"):
            names.add(path.name)
    return names


def rows(document):
    """(document, first cell, last cell) of the tables whose last column is called test."""
    found, inside = [], False
    for line in (ROOT / document).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[-1] == "test":
            inside = True
        elif inside and set(line) - set("|- "):
            found.append((document, cells[0], cells[-1]))
    return found


ROWS = rows("README.md") + rows("docs/checkpoints.md")


def test_there_are_tables():
    assert len(rows("README.md")) > 10 and len(rows("docs/checkpoints.md")) > 20


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_row(row):
    names = re.findall("`([^`]+)`", row[2])
    assert names, "the row names no test"
    for name in names:
        assert fnmatch.filter(existing(), name), name
