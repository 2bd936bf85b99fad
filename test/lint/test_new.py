"""The generator, in a copy of the tree: what it writes is well-formed, sorted, and passes the lint scripts."""

import re
import shutil
import subprocess
import sys

import lint_sources
import lint_tests
import new
import pytest


@pytest.fixture
def copy(root, tmp_path):
    """The folders that the generator looks at and writes into."""
    for folder in ("dialect", "lib/Transforms"):
        shutil.copytree(root / folder, tmp_path / folder)
    (tmp_path / "test").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def tblgen(root):
    """Runs mlir-tblgen, found as the build found it."""
    cache = (root / "build" / "CMakeCache.txt").read_text(encoding="utf-8")
    prefix = re.search(r"^MLIR_DIR:\w+=(.*)/lib/cmake/mlir/?$", cache, re.MULTILINE).group(1)

    def run(copy, file, generator):
        command = [f"{prefix}/bin/mlir-tblgen", f"-I{prefix}/include", f"-I{copy}", generator, copy / file]
        result = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


def generate(copy, *arguments):
    return new.main(["--root", str(copy), *arguments])


@pytest.mark.parametrize("theme, file", [("nn", "NN"), ("conv", "Conv"), ("attention", "Attention")])
def test_an_op_is_well_formed(copy, tblgen, theme, file):
    assert generate(copy, "op", "gated_mix", "--theme", theme) == 0
    assert 'Op<"gated_mix"' in (copy / f"dialect/IR/ConvBERT{file}Ops.td").read_text(encoding="utf-8")
    assert "class GatedMixOp" in tblgen(copy, "dialect/IR/ConvBERT.td", "-gen-op-decls")
    assert "## convbert.gated_mix" in (copy / "dialect/Spec.md").read_text(encoding="utf-8")
    tests = sorted(path.name for path in (copy / "test/Dialect/ConvBERT").iterdir())
    assert tests == ["gated_mix-canonicalize.mlir", "gated_mix-invalid.mlir", "gated_mix.mlir"]


def test_a_new_op_keeps_the_rules_of_the_specification(root, copy):
    """The labels that the generator writes are those that the test of the specification compares."""
    shutil.copytree(root / "test/Dialect", copy / "test/Dialect")
    shutil.copytree(root / "test/unittests/Dialect", copy / "test/unittests/Dialect")
    assert generate(copy, "op", "gated_mix", "--theme", "nn") == 0
    spec = (copy / "dialect/Spec.md").read_text(encoding="utf-8")
    assert spec.index("## convbert.gated_mix") < spec.index("# Block operations")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", copy]
    result = subprocess.run([*command, copy / "test/Dialect/test_spec.py"], cwd=copy, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_a_pass_is_well_formed(copy, tblgen):
    assert generate(copy, "pass", "merge-heads") == 0
    assert "MergeHeadsPassBase" in tblgen(copy, "lib/Transforms/Passes.td", "-gen-pass-decls")
    cmake = (copy / "lib/Transforms/CMakeLists.txt").read_text(encoding="utf-8")
    sources = re.findall(r"^  (\w+\.cpp)$", cmake, re.MULTILINE)
    assert "MergeHeads.cpp" in sources
    assert sources == sorted(sources, key=str.lower)
    first = (copy / "lib/Transforms/MergeHeads.cpp").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("//===- MergeHeads.cpp - ") and first.endswith("===//")


def test_what_is_written_passes_the_lint_scripts(copy):
    generate(copy, "op", "gated_mix", "--theme", "nn")
    generate(copy, "pass", "merge-heads")
    assert lint_tests.check(copy) == ([], 4)
    assert lint_sources.check(copy, warn=lambda line: None)[0] == []


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["op", "dense", "--theme", "nn"], "requires a new name, but found convbert.dense"),
        (["op", "GatedMix", "--theme", "nn"], "requires a name in snake_case"),
        (["pass", "decompose"], "requires a new name, but found convbert-decompose"),
        (["pass", "convbert-decompose"], "requires a new name, but found convbert-decompose"),
        (["pass", "Merge_Heads"], "requires a name in kebab-case"),
    ],
)
def test_a_bad_name_is_refused_and_changes_nothing(copy, capsys, arguments, complaint):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert generate(copy, *arguments) == 1
    assert complaint in capsys.readouterr().err
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_an_existing_file_is_not_overwritten(copy, capsys):
    (copy / "lib/Transforms/MergeHeads.cpp").write_text("mine", encoding="utf-8")
    assert generate(copy, "pass", "merge-heads") == 1
    assert "found lib/Transforms/MergeHeads.cpp" in capsys.readouterr().err
    assert "merge-heads" not in (copy / "lib/Transforms/Passes.td").read_text(encoding="utf-8")
