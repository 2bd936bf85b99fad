"""The include arrows between the rooms, in the real tree and on bad examples."""

import subprocess
import sys

import check_includes
import pytest


def problems(root):
    return check_includes.check(root)[0]


def test_the_tree_keeps_the_arrows(root):
    found, checked = check_includes.check(root)
    assert found == []
    assert checked > 0


def test_every_room_of_the_tree_is_known(root):
    for folder in [*(root / "dialect").iterdir(), *(root / "lib").iterdir()]:
        if folder.is_dir():
            assert f"{folder.parent.name}/{folder.name}" in check_includes.MAY_INCLUDE


@pytest.mark.parametrize(
    "name, include, complaint",
    [
        ("lib/Runtime/A.cpp", '#include "llvm/ADT/StringRef.h"', "no include of LLVM or MLIR in lib/Runtime"),
        ("lib/Runtime/A.cpp", "#include <mlir/IR/Builders.h>", "no include of LLVM or MLIR in lib/Runtime"),
        ("lib/Runtime/A.cpp", '#include "lib/CAPI/convbert-c.h"', "lib/Runtime to include only lib/Runtime"),
        ("dialect/IR/A.h", '#include "lib/Transforms/Passes.h"', "dialect/IR to include only dialect/IR"),
        ("dialect/IR/A.td", 'include "dialect/TransformOps/B.td"', "dialect/IR to include only dialect/IR"),
        ("lib/Transforms/A.cpp", '#include "lib/Pipelines/Pipelines.h"', "lib/Transforms to include only"),
        ("lib/Import/A.cpp", '#include "lib/Transforms/Passes.h"', "lib/Import to include only"),
        ("lib/Target/CPU/A.cpp", '# include "lib/CAPI/convbert-c.h"', "lib/Target to include only"),
        ("python/convbert/a.cpp", '#include "mlir/IR/Builders.h"', "no include of LLVM or MLIR in python"),
        ("lib/Nowhere/A.cpp", "", "requires a room"),
        ("lib/Import/A.cpp", '#include "B.h"', "relative to the repository root, but found B.h"),
    ],
)
def test_a_bad_include_is_found(tree_of, name, include, complaint):
    root = tree_of({name: f"{include}\n", "lib/Import/B.h": ""})
    (problem,) = problems(root)
    assert problem.startswith(name)
    assert complaint in problem


@pytest.mark.parametrize(
    "name, include",
    [
        ("lib/Outline/A.cpp", '#include "dialect/IR/ConvBERTOps.h"'),
        ("lib/CAPI/A.cpp", '#include "lib/Runtime/Model.h"'),
        ("lib/CAPI/A.cpp", '#include "lib/Transforms/Passes.h"'),
        ("python/convbert/a.cpp", '#include "lib/Runtime/convbert-rt.h"'),
        ("lib/Runtime/A.cpp", "#include <nlohmann/json.hpp>"),
        ("dialect/IR/A.td", 'include "mlir/IR/OpBase.td"'),
    ],
)
def test_a_good_include_passes(tree_of, name, include):
    assert problems(tree_of({name: f"{include}\n"})) == []


def test_the_script_fails_on_a_bad_tree(tree_of, root):
    bad = tree_of({"lib/Runtime/A.cpp": '#include "llvm/ADT/StringRef.h"\n'})
    script = [sys.executable, root / "tools/scripts/check_includes.py", bad]
    result = subprocess.run(script, capture_output=True, text=True)
    assert result.returncode == 1
    assert "lib/Runtime/A.cpp:1:" in result.stdout
    assert "1 checked, 1 problem" in result.stdout


def test_an_empty_tree_is_a_failure(tmp_path, root):
    script = [sys.executable, root / "tools/scripts/check_includes.py", tmp_path]
    result = subprocess.run(script, capture_output=True, text=True)
    assert result.returncode == 1
    assert "nothing to check" in result.stdout
