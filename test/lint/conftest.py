"""Lint scripts are imported from tools/scripts; bad examples are written into a temporary tree."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "scripts"))


@pytest.fixture
def tree_of(tmp_path):
    """Writes {name: text} under a temporary root and returns the root."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
