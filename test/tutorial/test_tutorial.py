"""The tutorial of CONTRIBUTING.md, followed literally in a copy of the tree.

A `diff` block is applied, a block that starts with a file's name is written, an `sh` block is run, and a `text` block is
what the commands before it print, `...` standing for anything.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 1200


def blocks(text):
    """(language, content, number of the block) of the fenced blocks in the part called Tutorial."""
    part = re.search(r"^## Tutorial.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL).group()
    found = re.findall(r"^```(\w+)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    return [(language, content, number) for number, (language, content) in enumerate(found, 1)]


def expects(printed, expected):
    """Whether the lines of `expected` follow one another in `printed`; `...` is any text within a line."""
    lines = [re.escape(line).replace(re.escape("..."), ".*") for line in expected.strip("\n").splitlines()]
    return re.search(r"^" + r"\n(?:.*\n)*?".join(lines) + "$", printed, re.MULTILINE) is not None


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The tree, configured as the build of this tree is."""
    tree = tmp_path_factory.mktemp("tutorial") / "convbert"
    ignored = shutil.ignore_patterns("build", ".venv", ".git", "demo", "*cache*")
    shutil.copytree(ROOT, tree, ignore=ignored, symlinks=True)
    (tree / ".venv").symlink_to(ROOT / ".venv")
    cache = (ROOT / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
    mlir = re.search(r"^MLIR_DIR:\w+=(.*)$", cache, re.MULTILINE).group(1)
    # Nothing here is measured, and half of the time of a compilation is optimisation.
    run(tree, f".venv/bin/cmake --preset default -DMLIR_DIR={mlir} -DCMAKE_CXX_FLAGS_RELEASE='-O0 -DNDEBUG' "
              "-DCONVBERT_BUILD_PYTHON=OFF")
    return tree


def run(tree, script):
    """What the commands print; all of them must succeed."""
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tree, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
    assert result.returncode == 0, f"{script}\n{result.stdout}"
    return result.stdout


def test_the_tutorial(copy):
    printed = ""
    steps = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert {language for language, _, _ in steps} == {"diff", "mlir", "sh", "text"}
    for language, content, number in steps:
        if language == "diff":
            result = subprocess.run(["git", "apply", "-"], input=content, cwd=copy, text=True, capture_output=True)
            assert result.returncode == 0, f"block {number}:\n{result.stderr}"
        elif language == "mlir":
            name, _, text = content.partition("\n")
            (copy / name.removeprefix("// ")).write_text(text, encoding="utf-8")
        elif language == "sh":
            printed = run(copy, content)
        else:
            assert expects(printed, content), f"block {number} is not what is printed:\n{printed}"


@pytest.mark.parametrize("printed, expected, verdict", [
    ("a\nb\nc\n", "a\nc", True),
    ("a 1 b\n", "a ... b", True),
    ("a\nb\n", "b\na", False),
    ("ab\n", "a", False),
])
def test_an_expected_output(printed, expected, verdict):
    assert expects(printed, expected) is verdict
