"""What all Python tests share: the built package on the path, and where things are."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("CONVBERT_BUILD_DIR", ROOT / "build"))

# The package as built, ahead of any installed one; child processes find it the same way.
sys.path.insert(0, str(BUILD / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BUILD / "python"), os.environ.get("PYTHONPATH")]))


# Compiled checkpoints of the tests never meet those of the user. They are kept until the compiler is built anew: their
# keys name its build. Tests of the cache itself have caches of their own.
os.environ["XDG_CACHE_HOME"] = str(BUILD / "test-cache")
os.environ["CONVBERT_CACHE_LIMIT"] = "256M"
os.environ.pop("CONVBERT_CACHE", None)


@pytest.fixture(scope="session")
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def build_dir():
    """The build directory under test."""
    return BUILD


@pytest.fixture(scope="session")
def tools(build_dir):
    """The folder of convbert-opt, convbert-import and convbert-compile."""
    return build_dir / "bin"
