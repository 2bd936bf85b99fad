"""Every RUN line asserts: the real tests, and examples that do not."""

import subprocess
import sys

import lint_tests
import pytest


def test_every_lit_test_asserts(root):
    found, checked = lint_tests.check(root)
    assert found == []
    assert checked > 0


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: convbert-opt %s | FileCheck %s\n",
        "// RUN: convbert-opt %s --convbert-simplify \\\n// RUN:   | FileCheck %s\n",
        "// RUN: convbert-opt %s -split-input-file -verify-diagnostics\n",
        "// RUN: convbert-opt %s --verify-roundtrip\n",
        "// RUN: not convbert-opt %s 2>&1 | FileCheck %s\n",
        "# RUN: env A=1 not convbert-opt %s\n",
        "// RUN: split-file %s %t\n// RUN: convbert-opt %t/a.mlir | FileCheck %s\n",
        "// RUN: rm -rf %t && mkdir -p %t\n// RUN: cmp a b\n",
    ],
)
def test_an_assertion_is_recognised(tree_of, text):
    assert lint_tests.check(tree_of({"test/a.mlir": text})) == ([], 1)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("// RUN: convbert-opt %s\n", "a.mlir:1: requires FileCheck"),
        ("// RUN: convbert-opt %s > %t\n// RUN: FileCheck %s < %t\n", "a.mlir:1: requires FileCheck"),
        ("// RUN: convbert-opt %s | FileCheck %s\n\n// RUN: convbert-opt %s\n", "a.mlir:3: requires FileCheck"),
        ("// RUN: convbert-opt %s \\\n// RUN:   --canonicalize\n", "a.mlir:1: requires FileCheck"),
        ("// RUN: convbert-opt %s --note=not\n", "a.mlir:1: requires FileCheck"),
        ("// RUN: mkdir -p %t\n", "requires a RUN line that asserts something"),
        ("func.func @no_run_line() { return }\n", "requires a RUN line that asserts something"),
    ],
)
def test_a_line_without_an_assertion_is_found(tree_of, text, complaint):
    found, _ = lint_tests.check(tree_of({"test/a.mlir": text}))
    assert any(complaint in problem for problem in found), found


def test_the_script_fails_on_a_bad_test(tree_of, root):
    bad = tree_of({"test/IR/a.mlir": "// RUN: convbert-opt %s\n"})
    script = [sys.executable, root / "tools/scripts/lint_tests.py", bad]
    result = subprocess.run(script, capture_output=True, text=True)
    assert result.returncode == 1
    assert "test/IR/a.mlir:1:" in result.stdout
