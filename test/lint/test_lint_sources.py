"""File lengths, command-line options and CMake files: the real tree, and bad examples."""

import subprocess
import sys

import lint_sources
import pytest


def problems(root):
    return lint_sources.check(root, warn=lambda line: None)[0]


def test_the_tree_is_clean(root):
    found, checked = lint_sources.check(root)
    assert found == []
    assert checked > 0


@pytest.mark.parametrize("name", ["lib/Import/A.h", "lib/Schedules/cpu/a.mlir", "tools/scripts/a.py", "dialect/A.h"])
def test_a_long_file_is_found(tree_of, name):
    (problem,) = problems(tree_of({name: "\n" * 500}))
    assert problem == f"{name}: requires fewer than 500 lines, but found 500; split it"
    assert problems(tree_of({name: "\n" * 499})) == []


def test_a_file_from_300_lines_on_is_warned_of(tree_of):
    warnings = []
    assert lint_sources.check(tree_of({"lib/Import/A.h": "\n" * 300}), warnings.append) == ([], 1)
    assert warnings == ["lib/Import/A.h: warning: 300 lines; aim below 300"]


def test_an_option_outside_a_main_is_found(tree_of):
    option = 'static llvm::cl::opt<bool> flag("flag");\n'
    files = {
        "lib/Import/A.h": option,
        "tools/convbert-opt/Other.h": option,
        "tools/Shared.h": option,
        "tools/convbert-opt/main.cpp": option + "int main(int argc, char **argv) { return 0; }\n",
        "tools/convbert-opt/CMakeLists.txt": "",
        "lib/Import/B.h": "// cl::opt<bool> is for mains only\n",
    }
    assert [problem.split(":")[0] for problem in problems(tree_of(files))] == [
        "lib/Import/A.h",
        "tools/convbert-opt/Other.h",
    ]


def test_sources_without_a_cmake_file_are_found(tree_of):
    (problem,) = problems(tree_of({"lib/Import/A.cpp": ""}))
    assert problem == "lib/Import/A.cpp: requires a CMakeLists.txt in its folder, but found none"


def test_sources_of_another_folder_are_found(tree_of):
    (problem,) = problems(tree_of({"lib/CMakeLists.txt": "add_library(a STATIC\n  Import/A.cpp)\n"}))
    assert problem == "lib/CMakeLists.txt:2: requires sources of its own folder, but found Import/A.cpp"


def test_the_script_fails_on_a_bad_tree(tree_of, root):
    script = [sys.executable, root / "tools/scripts/lint_sources.py", tree_of({"lib/Import/A.cpp": ""})]
    result = subprocess.run(script, capture_output=True, text=True)
    assert result.returncode == 1
    assert "lib/Import/A.cpp: requires a CMakeLists.txt" in result.stdout
